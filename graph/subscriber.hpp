#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/brief_mutex.hpp"
#include "base/fork.hpp"
#include "base/log.hpp"
#include "graph/executor.hpp"
#include "graph/group.hpp"
#include "graph/strand.hpp"
#include "hyphos/subscription.hpp"
#include "trace/record.hpp"

namespace hyphos::graph {

class Channel;

/// The argument of a callback: the decoded value, the Envelope, or the Block, which is then neither
/// encoded nor decoded for the callback.
enum class View : std::uint8_t { value, envelope, block };

/// One subscription: a bounded queue in front of one callback.
///
/// Invariants, all under `mutex_`:
///  (1) `count_` - `replays_` <= depth, except that remote `block` deliveries may exceed it by one
///      per sender. `replays_` <= kMostReplays.
///  (2) If the queue is not empty and the subscription is open, one of these holds: a drain task is
///      enqueued, a thread is draining (both: see Strand (1)), or `ready` was called for a polled
///      subscription (`told_`). So no message is ever forgotten.
///  (3) Serial: at most one callback runs: see Strand (2). No callback runs under a lock.
///  (4) A repeated latched value is accepted only if it is newer than all accepted messages of its
///      publisher: `newest_`. So a repeated value arrives once and in order. The latched values of
///      this process are in the queue before any later message: preload().
class Subscriber final : public detail::SubscriptionCore,
                         public std::enable_shared_from_this<Subscriber> {
 public:
  enum class Push : std::uint8_t { accepted, dropped_newest, dropped_oldest, timeout, closed };
  struct Options {
    Mode mode = Mode::serial;
    bool network = true;  // also receives messages from other processes
    Policy policy;
    std::string node;
    View view = View::value;
    std::function<void()> ready;   // if set, the callback runs in poll() only, and this notifies
    std::shared_ptr<Group> group;  // if set, the mode is serial
  };

  /// `type` is null unless the view is `value`. It must live as long as the program.
  Subscriber(std::shared_ptr<Channel> channel, const TypeSupport* type, Options options,
             detail::Callback callback, Executor& executor, std::unique_ptr<trace::Endpoint> trace);

  /// From a publisher in this process. Blocks only under `block`. A pool thread runs waiting
  /// callbacks of this subscription instead of blocking, so that the pool cannot starve itself.
  Push push_local(detail::Delivery delivery) HYPHOS_EXCLUDES(mutex_);
  /// From a transport. Never blocks: the caller checks has_room() first.
  /// `ready` gets the task that is due: see ReceiveSink::deliver().
  Push push_remote(detail::Delivery delivery, transport::ReadyList* ready) HYPHOS_EXCLUDES(mutex_);
  [[nodiscard]] bool has_room();

  /// Puts latched values into the queue of a new subscription. Its callback runs from joined() on.
  /// For an inline subscription, other threads queue their messages until joined() has run these.
  void preload(const std::vector<detail::BlockRef>& kept) HYPHOS_EXCLUDES(mutex_);
  void joined() HYPHOS_EXCLUDES(mutex_);
  /// The body of a task of the thread pool.
  void drain_task() HYPHOS_EXCLUDES(mutex_);

  /// For a subscription with Options::ready, see Subscription::poll().
  std::uint32_t poll(std::uint32_t most) HYPHOS_EXCLUDES(mutex_) override;
  void close() HYPHOS_EXCLUDES(mutex_) override;
  void count_unmatched(Unmatched why, std::uint64_t count) override {
    trace_->unmatched(why, count);
  }
  /// True if it is closed and no callback runs or will run. The owner may then destroy it.
  [[nodiscard]] bool ended();
  /// Sets a notification for a subscription closed in its own callback, where close() cannot wait.
  /// `tell` is called once, when the subscription has ended, in the thread of the callback and
  /// without a lock. The owner sets it before the callback can run.
  void when_ended(std::function<void()> tell);
  [[nodiscard]] const std::string& channel() const override;
  [[nodiscard]] std::uint32_t publishers() const override;

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] trace::Endpoint& trace() { return *trace_; }
  /// The message whose callback is running in this thread.
  [[nodiscard]] static trace::Cause cause_here();
  /// A crash::Locate for that callback.
  static std::size_t locate(char* text, std::size_t size);

  /// Maximum number of latched values beyond the depth of the queue, and of known publishers.
  static constexpr std::size_t kMostReplays = 1024;

 private:
  Push push(detail::Delivery delivery, BriefLock& lock, transport::ReadyList* ready)
      HYPHOS_REQUIRES(mutex_, lock);
  /// Without a task. `oldest` receives a message that made room.
  Push append(detail::Delivery&& delivery, detail::Delivery& oldest) HYPHOS_REQUIRES(mutex_);
  Push run_inline(detail::Delivery delivery, transport::ReadyList* ready) HYPHOS_EXCLUDES(mutex_);
  /// Nothing if joined() has ended, so that the callback can run at once.
  std::optional<Push> push_joining(detail::Delivery& delivery) HYPHOS_EXCLUDES(mutex_);
  bool wait_until_joined(BriefLock& lock) HYPHOS_REQUIRES(mutex_, lock);
  /// For latched channels. Returns false for a repeated value that was accepted before.
  bool note_latched(const detail::Delivery& delivery) HYPHOS_REQUIRES(mutex_);
  /// The queue is full: makes room for one more message, or returns the reason for dropping it.
  /// `oldest` receives the removed message.
  Push make_room(const detail::Delivery& delivery, detail::Delivery& oldest)
      HYPHOS_REQUIRES(mutex_);
  void grow() HYPHOS_REQUIRES(mutex_);
  detail::Delivery take_oldest_live() HYPHOS_REQUIRES(mutex_);
  bool wait_for_room(BriefLock& lock) HYPHOS_REQUIRES(mutex_, lock);
  void schedule(BriefLock& lock, transport::ReadyList* ready, bool last = false)
      HYPHOS_REQUIRES(mutex_, lock);
  /// Takes one message and runs its callback without the lock. Returns false if the queue was
  /// empty. `now`: the present time if the caller has just read it, or 0. On return, the time at
  /// which the callback ended.
  bool run_one(BriefLock& lock, std::int64_t& now) HYPHOS_REQUIRES(mutex_, lock);
  /// Returns the time at the end of the callback, or 0 if it was not read.
  std::int64_t run(detail::Delivery& delivery, std::int64_t now);
  [[nodiscard]] bool is_expired(const detail::Delivery& delivery, std::int64_t now) const;
  void call(const detail::Delivery& delivery, const void* value);
  void failed(const Failure& failure);
  detail::Delivery pop() HYPHOS_REQUIRES(mutex_);
  /// The caller must keep the object alive.
  void tell_if_ended(BriefLock& lock) HYPHOS_REQUIRES(mutex_, lock);
  void enqueue_task(transport::ReadyList* ready) HYPHOS_EXCLUDES(mutex_);
  void record_times(const detail::Delivery& delivery, const Stamps& stamps, std::int64_t dequeued,
                    std::int64_t end, trace::Writers writers);

  const ForkMark mark_;
  const std::shared_ptr<Channel> channel_;
  const TypeSupport* const type_;
  const Options options_;
  const detail::Callback callback_;
  Executor& executor_;
  const std::unique_ptr<trace::Endpoint> trace_;
  log::OncePerSecond errors_;
  const bool concurrent_;  // and callbacks run on the pool

  // Held by a thread that records the times of a concurrent callback. Cheaper than one atomic
  // operation for each of a dozen numbers.
  BriefMutex timings_mutex_;
  BriefMutex mutex_;
  BriefCondition changed_;  // notified when room appears, or a callback or a task ends
  std::vector<detail::Delivery> ring_ HYPHOS_GUARDED_BY(mutex_);
  std::size_t head_ HYPHOS_GUARDED_BY(mutex_) = 0;
  std::size_t count_ HYPHOS_GUARDED_BY(mutex_) = 0;
  std::size_t replays_ HYPHOS_GUARDED_BY(mutex_) = 0;  // repeated latched values among count_
  /// The newest sequence number of each publisher of a latched channel. The most recent publisher
  /// is last.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> newest_ HYPHOS_GUARDED_BY(mutex_);
  Strand strand_ HYPHOS_GUARDED_BY(mutex_);
  // An inline subscription queues messages: see preload(). Changed under mutex_.
  std::atomic<bool> joining_{false};
  std::thread::id joining_thread_ HYPHOS_GUARDED_BY(mutex_);
  // Options::ready was called, and poll() was not called since.
  bool told_ HYPHOS_GUARDED_BY(mutex_) = false;
  bool closed_ HYPHOS_GUARDED_BY(mutex_) = false;
  // Closed in its own callback, and tell_ended_ not yet called.
  bool closed_inside_ HYPHOS_GUARDED_BY(mutex_) = false;
  std::function<void()> tell_ended_ HYPHOS_GUARDED_BY(mutex_);
};

}  // namespace hyphos::graph
