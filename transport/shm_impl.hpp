#pragma once

#include <array>
#include <functional>
#include <map>
#include <shared_mutex>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "transport/shm.hpp"
#include "transport/shm_parts.hpp"

namespace hyphos::transport::shm_detail {

inline constexpr std::string_view kName = "shm";

/// The transport. Locks, in the order in which they may be taken together:
/// control_mutex_ > Port::latch > TxLane::producer > Peer's and pool's own; the others alone.
/// No lock is held while the graph is called, except that `events_` run one after another.
class Shm final : public ShmTransport {
 public:
  explicit Shm(ShmConfig config) : ShmTransport(kName), config_(std::move(config)) {}
  ~Shm() override { stop(0); }

  Result<void> start() override;
  void receive_with(Crew& crew) override;
  void stop(std::int64_t linger_ms) override;
  Result<PortId> open(const ChannelSpec& spec, Inlet* inlet, Outlet* outlet) override;
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
  [[nodiscard]] Pushed push(TxLane& lane, const Prepared& message, As as, bool drop_oldest,
                            std::uint64_t& overflowed);
  void send_notice(Port& port, const Envelope& notice);
  struct Sending;
  void note(Sending& now, Pushed result, TxLane& lane);
  [[nodiscard]] bool can_fit(const Envelope& message) const;
  void explain(Sending& now, Port& port, const Envelope& message);
  static void say_too_many(Port& port);
  void push_to_all(Sending& now, const TxLanes& lanes, bool drop_oldest);
  void push_to_waiting(Sending& now, const TxLanes& lanes);
  void settle(Sending& now, Port& port);
  [[nodiscard]] bool add_holds(Peer& peer, const Prepared& message);
  void release_holds(Peer& peer, const shm::Descriptor& message);
  [[nodiscard]] Pushed push_blocking(TxLane& lane, const Prepared& message,
                                     std::int64_t deadline_ns);
  static void wake(const TxLane& lane);

  // shm_receive.cpp
  [[nodiscard]] Crew::Turn turn(int thread);
  [[nodiscard]] bool go_round();
  [[nodiscard]] std::uint32_t fall_asleep(std::uint32_t named);
  void end_turns();
  // What came of it: the lane wants another one soon, or waits for room behind the inlet, in the
  // second case after some of its messages found it.
  enum class Visit { done, more, waits, took_and_waits };
  [[nodiscard]] Visit visit(std::uint32_t index);
  [[nodiscard]] bool hand_over(RxLane& lane, Envelope& message);
  [[nodiscard]] std::optional<Drop> resolve(RxLane& lane, const shm::Descriptor& message,
                                            Envelope& out);
  // What we hold of the sender's, or a third one's, segment; null if it cannot be had.
  [[nodiscard]] std::shared_ptr<const shm::Lease> lease(RxLane& lane, std::uint32_t number);
  [[nodiscard]] std::shared_ptr<const shm::Lease> forwarded_lease(RxLane& lane, std::uint64_t owner,
                                                                  std::uint32_t number);
  [[nodiscard]] std::optional<Drop> take_external(RxLane& lane, const shm::Part& part, Buffer& out);
  void kick(std::uint32_t index);
  [[nodiscard]] std::shared_ptr<RxLane> take_out(std::uint32_t index);

  // shm_control.cpp, shm_connect.cpp
  void control_loop();
  void poke(bool tell_others);
  void refresh();
  void meet(std::uint64_t id);
  void cannot_meet(const Error& why);
  void reconcile(const std::shared_ptr<Peer>& peer);
  void match_publications(const std::shared_ptr<Peer>& peer,
                          const std::vector<shm::EndpointRecord>& endpoints);
  void match_publication(const std::shared_ptr<Peer>& peer, const std::shared_ptr<Port>& port,
                         const shm::EndpointRecord& theirs);
  void match_lanes(const std::shared_ptr<Peer>& peer,
                   const std::vector<shm::EndpointRecord>& endpoints,
                   const std::vector<shm::LaneRecord>& lanes);
  void refuse(const std::shared_ptr<Port>& port, const Peer& peer,
              const shm::EndpointRecord& theirs);
  void make_rx_lane(const std::shared_ptr<Peer>& peer, const std::shared_ptr<Port>& port,
                    const shm::EndpointRecord& theirs);
  /// A publication that we have no queue for.
  struct Refusal {
    std::uint64_t peer = 0;
    std::uint64_t port = 0;
    std::uint64_t publication = 0;
    auto operator<=>(const Refusal&) const = default;
  };
  [[nodiscard]] std::optional<std::uint32_t> take_lane(std::uint32_t limit);
  void free_lane(std::uint32_t index);
  void refuse_lane(const std::shared_ptr<Peer>& peer, const std::shared_ptr<Port>& port,
                   std::uint64_t publication, std::uint64_t reason, Error error);
  void free_refusals(const std::function<bool(const Refusal&)>& which);
  void look_for_refusals();
  void finish_rx_lane(std::uint32_t index);
  void make_tx_lane(const std::shared_ptr<Peer>& peer, const shm::LaneRecord& record);
  [[nodiscard]] bool has_place_for(const Peer& peer);
  void refuse_receiver(const std::shared_ptr<Peer>& peer, const std::shared_ptr<Port>& port,
                       const shm::LaneRecord& record);
  void leave(const TxLane& lane);
  void drop_tx_lanes(const std::shared_ptr<Port>& port,
                     const std::function<bool(const TxLane&)>& which);
  void bury(const std::shared_ptr<Peer>& peer);
  void forget(const std::shared_ptr<Peer>& peer);
  void settle_forwarder(std::uint64_t dead);
  void bury_files(std::uint64_t id);
  void clean_graves();
  void announce_listeners(const std::shared_ptr<Port>& port);
  void run_events(std::unique_lock<std::mutex>& control_lock);
  void set_timer(int timer, std::int64_t in_ms, bool repeat);

  const ShmConfig config_;
  std::shared_ptr<shm::Participant> self_;
  Gate senders_;  ///< closed by stop(); whoever is inside may use what find() gave
  std::atomic<bool> stopping_{false};
  std::atomic<bool> started_{false};

  mutable std::shared_mutex ports_mutex_;
  std::vector<std::shared_ptr<Port>> ports_;
  std::vector<std::shared_ptr<Port>> retired_ports_;  ///< until no sender can be using them
  Sparse<std::atomic<Port*>> ports_by_id_{shm::kMaxEndpoints};

  // Under control_mutex_.
  mutable std::mutex control_mutex_;
  std::uint64_t next_serial_ = 1;
  std::uint64_t local_version_ = 0;
  std::map<std::uint64_t, std::shared_ptr<Peer>> peers_;
  std::unordered_set<std::uint64_t> ignored_;     ///< files that are not ours to read
  std::map<std::uint64_t, std::int64_t> graves_;  ///< dead participants, and when seen
  std::vector<bool> endpoint_used_;               ///< as far as any was
  std::unordered_map<std::uint64_t, std::shared_ptr<Port>> announced_;   ///< by serial
  std::unordered_multimap<std::uint64_t, std::shared_ptr<Port>> named_;  ///< the same by channel
  std::map<Refusal, std::uint32_t> rx_known_;         ///< our queues: the index of each
  std::map<Refusal, std::uint32_t> refusals_;         ///< refusals in our table: the index of each
  std::vector<bool> lane_used_;                       ///< by either, as far as any was
  std::map<std::uint64_t, std::uint32_t> receivers_;  ///< peers that receive: their queues
  bool receivers_refused_ = false;                    ///< some receivers wait for a place
  std::vector<std::function<void()>> events_;         ///< calls into the graph, made unlocked
  bool polling_ = false;
  log::OncePerSecond meet_log_;

  mutable std::mutex rx_mutex_;
  std::vector<std::shared_ptr<RxLane>> rx_lanes_;       ///< 64 for each word in use
  std::vector<std::shared_ptr<RxLane>> retired_lanes_;  ///< until the receiving thread frees them
  Sparse<std::atomic<RxLane*>> rx_by_index_{shm::kMaxLanes};  ///< for that thread
  std::atomic<std::uint32_t> rx_words_{0};  ///< ready words that have ever had a lane
  std::atomic<bool> lanes_retired_{false};
  shm::Segments segments_;

  // Receiving: what one turn leaves to the next. See turn().
  std::shared_ptr<Gate> turns_ = std::make_shared<Gate>();  ///< around each
  Crew* crew_ = nullptr;                                    ///< set before its first turn
  std::atomic<bool> turns_end_{false};
  std::atomic<bool> active_{false};
  std::atomic<std::uint32_t> standing_by_{0};
  bool apart_ = false;             ///< the message taken last came long after the one before
  std::int64_t last_arrived_ = 0;  ///< in ns
  std::array<std::uint64_t, shm::kMaxLanes / 64> due_{};
  std::array<std::uint64_t, shm::kMaxLanes / 64> leftover_{};
  std::vector<std::uint32_t> waiting_;  ///< in their order; may name lanes that are gone
  std::vector<std::uint32_t> called_;
  std::vector<std::uint32_t> behind_;  ///< those that took some

  shm::Fd epoll_;
  shm::Fd wake_fd_;
  shm::Fd grave_timer_;
  shm::Fd poll_timer_;
  std::atomic<bool> tell_others_{false};
  std::thread receiver_;  ///< until a crew receives
  std::thread controller_;
};

}  // namespace hyphos::transport::shm_detail
