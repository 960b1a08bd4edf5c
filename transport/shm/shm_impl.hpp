#pragma once

#include <array>
#include <functional>
#include <map>
#include <shared_mutex>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "transport/shm/parts.hpp"
#include "transport/shm/shm.hpp"

namespace hyphos::transport::shm_detail {

inline constexpr std::string_view kName = "shm";

/// The transport. Lock order: control_mutex_ > Port::latch > TxRing::producer > Peer's and pool's
/// own. The other locks are never nested. No lock is held during calls into the graph, except that
/// `events_` run one after another.
class Shm final : public ShmTransport {
 public:
  explicit Shm(ShmConfig config) : ShmTransport(kName), config_(std::move(config)) {}
  ~Shm() override { stop(0); }

  Result<void> start() override;
  PollFunction receive_by_polling() override;
  void stop(std::int64_t linger_ms) override;
  Result<PortId> open(const ChannelSpec& spec, ReceiveSink* sink, SendEvents* send_events) override;
  void close(PortId port) override;
  SendReport send(PortId port, const Envelope& message) override;
  bool has_room(PortId port, std::size_t size) override;
  std::uint64_t largest(PortId) const override {
    return self_ != nullptr ? self_->pool().largest() : ~std::uint64_t{0};
  }
  WritableBuffer loan(PortId port, std::size_t size) override;
  void on_space(PortId port) override;
  std::vector<PeerStatus> peers() const override;
  std::uint64_t participant_id() const override;

 private:
  // shm.cpp
  [[nodiscard]] Port* find(PortId id) const {
    return id - 1 < ports_by_id_.size() ? ports_by_id_[id - 1].load(std::memory_order_seq_cst)
                                        : nullptr;
  }
  void free_retired();
  Result<void> announce(const std::shared_ptr<Port>& port);
  void withdraw(const std::shared_ptr<Port>& port);
  void detach(const std::shared_ptr<Port>& port);
  void flush(std::int64_t linger_ms);

  // shm_send.cpp
  [[nodiscard]] bool prepare(const Envelope& message, bool wait, std::int64_t deadline_ns,
                             Prepared& out);
  [[nodiscard]] shm::OwnedSlot* take_slot(std::size_t size, bool wait, std::int64_t deadline_ns);
  enum class Pushed { yes, full, gone, no_memory, no_holder, too_large };
  enum class As { live, replay, notice };
  [[nodiscard]] Pushed push(TxRing& ring, const Prepared& message, As as, bool drop_oldest,
                            std::uint64_t& overflowed);
  void send_notice(Port& port, const Envelope& notice);
  struct Sending;
  void note(Sending& now, Pushed result, TxRing& ring);
  [[nodiscard]] bool can_fit(const Envelope& message) const;
  void explain(Sending& now, Port& port, const Envelope& message);
  static void log_too_many(Port& port);
  void push_to_all(Sending& now, const TxRings& rings, bool drop_oldest);
  void push_to_waiting(Sending& now, const TxRings& rings);
  void settle(Sending& now, Port& port);
  [[nodiscard]] bool add_holds(Peer& peer, const Prepared& message);
  void release_holds(Peer& peer, const shm::Descriptor& message);
  [[nodiscard]] Pushed push_blocking(TxRing& ring, const Prepared& message,
                                     std::int64_t deadline_ns);
  static void wake(const TxRing& ring);

  // shm_receive.cpp
  [[nodiscard]] Poll poll(int thread, ReadyList* ready);
  [[nodiscard]] bool go_round(ReadyList* ready);
  [[nodiscard]] std::uint32_t fall_asleep(std::uint32_t named);
  void end_polls();
  // The result of a visit. `more`: the ring needs another visit soon. `waits`: it waits for room
  // behind the receive sink. `took_and_waits`: the same, after some of its messages were delivered.
  enum class Visit { done, more, waits, took_and_waits };
  [[nodiscard]] Visit visit(std::uint32_t index, ReadyList* ready);
  [[nodiscard]] bool deliver(RxRing& ring, Envelope& message, ReadyList* ready);
  [[nodiscard]] std::optional<Drop> resolve(RxRing& ring, const shm::Descriptor& message,
                                            Envelope& out);
  // Our hold of a segment of the sender or of a third participant. Null if it is not available.
  [[nodiscard]] std::shared_ptr<const shm::SegmentHold> segment_hold(RxRing& ring,
                                                                     std::uint32_t number);
  [[nodiscard]] std::shared_ptr<const shm::SegmentHold> relayed_hold(RxRing& ring,
                                                                     std::uint64_t owner,
                                                                     std::uint32_t number);
  [[nodiscard]] std::optional<Drop> take_external(RxRing& ring, const shm::Part& part, Buffer& out);
  void mark_ready(std::uint32_t index);
  [[nodiscard]] std::shared_ptr<RxRing> take_out(std::uint32_t index);

  // shm_control.cpp, shm_connect.cpp
  void control_loop();
  void signal_control(bool notify_peers);
  void refresh();
  void connect(std::uint64_t id);
  void log_cannot_connect(const Error& why);
  void reconcile(const std::shared_ptr<Peer>& peer);
  void match_publications(const std::shared_ptr<Peer>& peer,
                          const std::vector<shm::EndpointRecord>& endpoints);
  void match_publication(const std::shared_ptr<Peer>& peer, const std::shared_ptr<Port>& port,
                         const shm::EndpointRecord& theirs);
  void match_rings(const std::shared_ptr<Peer>& peer,
                   const std::vector<shm::EndpointRecord>& endpoints,
                   const std::vector<shm::RingRecord>& rings);
  void refuse(const std::shared_ptr<Port>& port, const Peer& peer,
              const shm::EndpointRecord& theirs);
  void make_rx_ring(const std::shared_ptr<Peer>& peer, const std::shared_ptr<Port>& port,
                    const shm::EndpointRecord& theirs);
  /// A publication for which this process has no ring.
  struct Refusal {
    std::uint64_t peer = 0;
    std::uint64_t port = 0;
    std::uint64_t publication = 0;
    auto operator<=>(const Refusal&) const = default;
  };
  [[nodiscard]] std::optional<std::uint32_t> take_ring(std::uint32_t limit);
  void free_ring(std::uint32_t index);
  void refuse_ring(const std::shared_ptr<Peer>& peer, const std::shared_ptr<Port>& port,
                   std::uint64_t publication, std::uint64_t reason, Error error);
  void free_refusals(const std::function<bool(const Refusal&)>& which);
  void look_for_refusals();
  void finish_rx_ring(std::uint32_t index);
  void make_tx_ring(const std::shared_ptr<Peer>& peer, const shm::RingRecord& record);
  [[nodiscard]] bool has_place_for(const Peer& peer);
  void refuse_receiver(const std::shared_ptr<Peer>& peer, const std::shared_ptr<Port>& port,
                       const shm::RingRecord& record);
  void leave(const TxRing& ring);
  void drop_tx_rings(const std::shared_ptr<Port>& port,
                     const std::function<bool(const TxRing&)>& which);
  void reap(const std::shared_ptr<Peer>& peer);
  void forget(const std::shared_ptr<Peer>& peer);
  void settle_forwarder(std::uint64_t dead);
  void remove_files(std::uint64_t id);
  void clean_tombstones();
  void announce_listeners(const std::shared_ptr<Port>& port);
  void run_events(std::unique_lock<std::mutex>& control_lock);
  void set_timer(int timer, std::int64_t in_ms, bool repeat);

  const ShmConfig config_;
  std::shared_ptr<shm::Participant> self_;
  CallGate senders_;  ///< closed by stop(). Inside, pointers from find() are valid
  std::atomic<bool> stopping_{false};
  std::atomic<bool> started_{false};

  mutable std::shared_mutex ports_mutex_;
  std::vector<std::shared_ptr<Port>> ports_;
  std::vector<std::shared_ptr<Port>> retired_ports_;  ///< until no sender can use them
  Sparse<std::atomic<Port*>> ports_by_id_{shm::kMaxEndpoints};

  // Under control_mutex_.
  mutable std::mutex control_mutex_;
  std::uint64_t next_serial_ = 1;
  std::uint64_t local_version_ = 0;
  std::map<std::uint64_t, std::shared_ptr<Peer>> peers_;
  std::unordered_set<std::uint64_t> ignored_;  ///< files that are not ours to read
  std::map<std::uint64_t, std::int64_t>
      tombstones_;                   ///< dead participants, with their removal time
  std::vector<bool> endpoint_used_;  ///< up to the highest index ever used
  std::unordered_map<std::uint64_t, std::shared_ptr<Port>> announced_;   ///< by serial
  std::unordered_multimap<std::uint64_t, std::shared_ptr<Port>> named_;  ///< the same, by channel
  std::map<Refusal, std::uint32_t> rx_known_;         ///< the index of each of our rings
  std::map<Refusal, std::uint32_t> refusals_;         ///< the index of each refusal in our table
  std::vector<bool> ring_used_;                       ///< by a ring or by a refusal
  std::map<std::uint64_t, std::uint32_t> receivers_;  ///< number of rings per peer
  bool receivers_refused_ = false;                    ///< some receivers wait for room
  std::vector<std::function<void()>> events_;         ///< calls into the graph, made unlocked
  bool polling_ = false;
  log::OncePerSecond connect_log_;

  mutable std::mutex rx_mutex_;
  std::vector<std::shared_ptr<RxRing>> rx_rings_;       ///< 64 for each ready word in use
  std::vector<std::shared_ptr<RxRing>> retired_rings_;  ///< until the receiving thread frees them
  Sparse<std::atomic<RxRing*>> rx_by_index_{shm::kMaxRings};  ///< for the receiving thread
  std::atomic<std::uint32_t> rx_words_{0};  ///< ready words that have ever had a ring
  std::atomic<bool> rings_retired_{false};
  shm::Segments segments_;

  // Receiving: the state that one poll leaves to the next. See poll().
  std::shared_ptr<CallGate> polls_ = std::make_shared<CallGate>();  ///< around each poll
  std::atomic<bool> polls_end_{false};
  std::atomic<bool> active_{false};
  std::atomic<std::uint32_t> standing_by_{0};
  bool apart_ = false;             ///< the latest message came long after the previous one
  std::int64_t last_arrived_ = 0;  ///< in ns
  std::array<std::uint64_t, shm::kMaxRings / 64> due_{};
  std::array<std::uint64_t, shm::kMaxRings / 64> leftover_{};
  std::vector<std::uint32_t> waiting_;  ///< in arrival order. May name rings that are gone
  std::vector<std::uint32_t> called_;
  std::vector<std::uint32_t> behind_;  ///< rings that took some messages, then waited

  UniqueFd epoll_;
  UniqueFd wake_fd_;
  UniqueFd tombstone_timer_;
  UniqueFd poll_timer_;
  std::atomic<bool> notify_peers_{false};
  std::thread receiver_;  ///< until a receive pool takes over
  std::thread controller_;
};

}  // namespace hyphos::transport::shm_detail
