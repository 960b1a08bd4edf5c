#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "transport/shm/control_events.hpp"
#include "transport/shm/endpoint_table.hpp"
#include "transport/shm/receiver.hpp"
#include "transport/shm/ring_table.hpp"
#include "transport/shm/sender.hpp"
#include "transport/shm/shm.hpp"

namespace hyphos::transport::shm_detail {

/// Determines which rings exist, from our endpoints, a peer's endpoints and its rings. It announces
/// our endpoints and rings, and gives the rings to the sender and the receiver.
///
/// Not thread-safe: the directory calls it under its mutex. It makes no calls into the graph: the
/// directory takes them with take_calls(), and makes them without a lock.
class Matcher {
 public:
  Matcher(const ShmConfig& config, Sender& sender, Receiver& receiver, ControlEvents& events)
      : config_(config), sender_(sender), receiver_(receiver), events_(events) {}

  void use(std::shared_ptr<shm::Participant> self) { self_ = std::move(self); }
  [[nodiscard]] Result<void> announce(const std::shared_ptr<Port>& port);
  /// After this, the port gets no new peers, and has no rings to them.
  void withdraw(const std::shared_ptr<Port>& port);
  /// Removes the rings of a port whose gate is closed. Returns the number of lost messages.
  [[nodiscard]] std::uint64_t remove_rx_rings(const Port& port);

  /// Changes when the result of match() may change without a change of the peer.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  /// Returns true if the peer has a new ring to us.
  [[nodiscard]] bool match(const std::shared_ptr<Peer>& peer,
                           const std::vector<shm::EndpointRecord>& endpoints,
                           const std::vector<shm::RingRecord>& rings);
  /// Removes the rings whose senders have left, and reports the replies of senders.
  void review_rx_rings();
  /// The peer receives nothing more from the port.
  void drop_receiver(const std::shared_ptr<Port>& port, const Peer& peer);
  void forget(std::uint64_t peer);

  /// The calls into the graph that are due, in order.
  [[nodiscard]] std::vector<std::function<void()>> take_calls() {
    return std::exchange(calls_, {});
  }

 private:
  [[nodiscard]] bool match_publications(const std::shared_ptr<Peer>& peer,
                                        const std::vector<shm::EndpointRecord>& endpoints);
  [[nodiscard]] bool match_publication(const std::shared_ptr<Peer>& peer,
                                       const std::shared_ptr<Port>& port,
                                       const shm::EndpointRecord& theirs);
  void match_rings(const std::shared_ptr<Peer>& peer,
                   const std::vector<shm::EndpointRecord>& endpoints,
                   const std::vector<shm::RingRecord>& rings);
  void refuse(const std::shared_ptr<Port>& port, const Peer& peer,
              const shm::EndpointRecord& theirs);

  // Rings from peers.
  [[nodiscard]] bool make_rx_ring(const std::shared_ptr<Peer>& peer,
                                  const std::shared_ptr<Port>& port,
                                  const shm::EndpointRecord& theirs);
  void refuse_ring(const std::shared_ptr<Peer>& peer, const std::shared_ptr<Port>& port,
                   std::uint64_t publication, std::uint64_t reason, Error error);
  void finish_rx_ring(std::uint32_t index);
  void report_reply(std::uint32_t index, const std::shared_ptr<RxRing>& ring);
  void report_peer(const RxRing& ring, bool present);
  void free_ring(const RxRing& ring, std::uint32_t index);

  // Rings to peers.
  void make_tx_ring(const std::shared_ptr<Peer>& peer, const shm::RingRecord& record, bool tool);
  void reply_attached(std::uint64_t peer);
  void drop_tx_rings(const std::shared_ptr<Port>& port,
                     const std::function<bool(const TxRing&)>& which);
  [[nodiscard]] bool has_place_for(const Peer& peer);
  void free_place(const TxRing& ring);
  void refuse_receiver(const std::shared_ptr<Peer>& peer, const std::shared_ptr<Port>& port,
                       const shm::RingRecord& record);
  void announce_listeners(const std::shared_ptr<Port>& port);

  [[nodiscard]] bool is_first_report(const Port& port, std::uint64_t peer, std::uint64_t serial);
  void match_again();

  const ShmConfig& config_;
  Sender& sender_;
  Receiver& receiver_;
  ControlEvents& events_;
  std::shared_ptr<shm::Participant> self_;
  std::uint64_t next_serial_ = 1;
  std::uint64_t version_ = 0;
  EndpointTable endpoints_;
  RingTable rings_;
  std::map<std::uint64_t, std::uint32_t> receivers_;  ///< number of rings per peer
  bool receivers_refused_ = false;                    ///< some receivers wait for room
  TxRings attached_;                                  ///< since the last reply_attached()
  /// The refusals that were reported: by port, the peer and the serial of its record.
  std::map<std::uint64_t, std::set<std::pair<std::uint64_t, std::uint64_t>>> reported_;
  std::vector<std::function<void()>> calls_;
};

}  // namespace hyphos::transport::shm_detail
