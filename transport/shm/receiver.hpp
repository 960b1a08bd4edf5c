#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/call_gate.hpp"
#include "base/mutex.hpp"
#include "transport/shm/parts.hpp"
#include "transport/shm/ports.hpp"

namespace hyphos::transport::shm_detail {

/// The output for the receiver's notices: the directory, or a test.
class ReceiverEvents {
 public:
  /// The sender of some ring has left, and all its messages were taken: see finished(). Called by
  /// the polling thread.
  virtual void ring_finished() = 0;

 protected:
  ~ReceiverEvents() = default;
};

/// The subscribing half of the shared-memory transport.
///
/// It polls the rings from other processes to this one and delivers their messages. It makes no
/// decision about rings: the directory adds rings and takes them out of service.
///
/// Threads: one of its own until a receive pool takes over. No lock is held during calls into the
/// graph.
class Receiver {
 public:
  Receiver(Ports& ports, ReceiverEvents& events) : ports_(ports), events_(events) {}

  /// Before Ports::start().
  void use(std::shared_ptr<shm::Participant> self) { self_ = std::move(self); }
  void start();
  /// The polls go to threads of the caller. Once, after start().
  [[nodiscard]] PollFunction receive_by_polling();
  /// Ends all polls. After Ports::begin_stop() and the end of the directory's thread.
  void stop();
  /// In a forked child, which does not have the thread.
  void abandon_thread() { leak(receiver_); }

  /// See Transport. Any thread.
  void on_space(PortId id);

  // For the directory, one thread at a time.
  void add(std::uint32_t index, const std::shared_ptr<RxRing>& ring);
  /// Begins to take messages of an added ring, after its peer was reported. Any thread.
  void open(std::uint32_t index, const std::shared_ptr<RxRing>& ring);
  /// Takes a ring out of service while the receiving thread may visit it. Null if there is none.
  std::shared_ptr<RxRing> take_out(std::uint32_t index);
  [[nodiscard]] std::vector<std::pair<std::uint32_t, std::shared_ptr<RxRing>>> take_out(
      const Port& port);
  /// The peer has died. Its messages are still read.
  void lose(const Peer& peer);
  /// The same for its rings from publications that are not among `publications`.
  void lose(const Peer& peer, const std::unordered_set<std::uint64_t>& publications);
  [[nodiscard]] bool has_rings_of(const Peer& peer) const;
  [[nodiscard]] std::vector<std::uint32_t> finished() const;
  /// The rings with a reply that differs from RxRing::reported, and those whose sender left without
  /// a report.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, std::shared_ptr<RxRing>>> replied() const;
  /// Faults in the pages of the peer's pool from segment `first` on, so that the receiving thread
  /// does not. Returns the number of segments that the next call may skip.
  [[nodiscard]] std::uint32_t populate(const Peer& peer, std::uint32_t first);
  /// Segment, H8: in our pool and in those of `alive`, from which `dead` may have relayed messages
  /// to us.
  void settle_forwarder(std::uint64_t dead, const std::vector<std::shared_ptr<Peer>>& alive);
  /// Nothing more arrives from the memory of the dead peer.
  void abandon(std::uint64_t dead) { segments_.abandon(dead); }

 private:
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
  std::shared_ptr<RxRing> retire(std::uint32_t index) HYPHOS_REQUIRES(mutex_);

  Ports& ports_;
  ReceiverEvents& events_;
  std::shared_ptr<shm::Participant> self_;

  mutable Mutex mutex_;
  /// 64 for each ready word in use.
  std::vector<std::shared_ptr<RxRing>> rings_ HYPHOS_GUARDED_BY(mutex_);
  /// Until the receiving thread frees them.
  std::vector<std::shared_ptr<RxRing>> retired_ HYPHOS_GUARDED_BY(mutex_);
  Sparse<std::atomic<RxRing*>> by_index_{shm::kMaxRings};  ///< open rings, for the receiving thread
  std::atomic<std::uint32_t> words_{0};  ///< ready words that have ever had a ring
  std::atomic<bool> rings_retired_{false};
  shm::Segments segments_;

  // The state that one poll leaves to the next. See poll().
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

  std::thread receiver_;  ///< until a receive pool takes over
};

}  // namespace hyphos::transport::shm_detail
