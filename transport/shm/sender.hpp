#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "transport/shm/parts.hpp"
#include "transport/shm/ports.hpp"

namespace hyphos::transport::shm_detail {

/// The publishing half of the shared-memory transport, without a thread of its own.
///
/// It writes messages into the pool and pushes them to the rings of each port. It makes no decision
/// about rings: the directory adds and removes them.
///
/// Lock order: Port::latch > TxRing::producer > Peer's and pool's own. Port::latch >
/// Port::rings_mutex. No lock is held during calls into the graph.
class Sender {
 public:
  explicit Sender(Ports& ports) : ports_(ports) {}

  /// Before Ports::start().
  void use(std::shared_ptr<shm::Participant> self) { self_ = std::move(self); }

  // See Transport. Any thread.
  SendReport send(PortId id, const Envelope& message);
  [[nodiscard]] bool has_room(PortId id, std::size_t size);
  [[nodiscard]] std::uint64_t largest() const {
    return self_ != nullptr ? self_->pool().largest() : ~std::uint64_t{0};
  }
  [[nodiscard]] WritableBuffer loan(PortId id, std::size_t size);

  // For the directory, one thread at a time.
  /// The ring first receives the cached messages of a latched channel.
  void add_ring(Port& port, std::shared_ptr<TxRing> added);
  struct Removed {
    TxRings rings;
    std::uint64_t lost = 0;  ///< messages that their receivers did not take
  };
  /// Their receivers take no more messages.
  [[nodiscard]] Removed remove_rings(Port& port, const std::function<bool(const TxRing&)>& which);
  /// Removes all rings of a port that this process closes. The receivers may take the rest.
  [[nodiscard]] TxRings leave_rings(Port& port);
  /// Forgets such rings that are empty now, or whose receiver is dead.
  void review_left();
  /// Leaves the files of this process to the receivers that have not taken the rest.
  void leave();

  /// Waits until the receivers of reliable channels have taken all messages, at most until
  /// `deadline_ns`.
  void flush(std::int64_t deadline_ns);
  /// Ends every wait for room or memory. After Ports::begin_stop().
  void give_up();

 private:
  struct Sending;
  enum class Pushed { yes, full, gone, no_memory, no_holder, too_large };
  enum class As { live, replay, notice };

  [[nodiscard]] bool prepare(const Envelope& message, bool wait, std::int64_t deadline_ns,
                             Prepared& out);
  [[nodiscard]] shm::OwnedSlot* take_slot(std::size_t size, bool wait, std::int64_t deadline_ns);
  [[nodiscard]] bool add_holds(Peer& peer, const Prepared& message);
  void release_holds(Peer& peer, const shm::Descriptor& message);

  [[nodiscard]] Pushed push(TxRing& ring, const Prepared& message, As as, bool drop_oldest,
                            std::uint64_t& overflowed);
  [[nodiscard]] Pushed push_blocking(TxRing& ring, const Prepared& message,
                                     std::int64_t deadline_ns);
  [[nodiscard]] bool is_stopped_tool(const TxRing& ring) const;
  void push_to_all(Sending& now, const TxRings& rings, bool drop_oldest);
  void push_to_waiting(Sending& now, const TxRings& rings);
  void send_notice(Port& port, const Envelope& notice);
  static void wake(const TxRing& ring);

  static void note(Sending& now, Pushed result, TxRing& ring);
  static void settle(Sending& now, Port& port);
  [[nodiscard]] bool can_fit(const Envelope& message) const;
  void explain(Sending& now, Port& port, const Envelope& message);
  static void log_too_many(Port& port);

  Ports& ports_;
  std::shared_ptr<shm::Participant> self_;
  TxRings left_;  ///< of closed ports, with messages that their receivers had not taken
};

}  // namespace hyphos::transport::shm_detail
