#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "base/brief_mutex.hpp"
#include "graph/executor.hpp"
#include "hyphos/subscription.hpp"

namespace hyphos::graph {

class Subscriber;

/// A callback group: at most one callback of its serial subscriptions runs at a time. The
/// subscriptions take turns in the order in which their messages became due, one message each.
///
/// Invariants, under `mutex_`:
///  (1) If a subscription waits, a turn is enqueued, or the group is held and release() follows.
///  (2) Each subscription waits at most once, because its Strand has at most one task.
///  (3) While a turn is enqueued, a subscription waits. It keeps the group alive, so the turn may
///      refer to it.
///  (4) An enqueued turn does not hold the group. So a publisher of the pool that is blocked can
///      run callbacks, even if every other thread of the pool is blocked as well.
class Group final : public detail::GroupCore, public std::enable_shared_from_this<Group> {
 public:
  explicit Group(Executor& executor) : executor_(executor) {}

  /// Runs Subscriber::drain_task() in a turn of its own. `ready`: see Executor::enqueue().
  void request(std::shared_ptr<Subscriber> who, Priority priority, transport::ReadyList* ready)
      HYPHOS_EXCLUDES(mutex_);
  /// For a caller that runs a callback outside of a turn. If true, release() must follow.
  [[nodiscard]] bool try_hold() HYPHOS_EXCLUDES(mutex_);
  void release() HYPHOS_EXCLUDES(mutex_);
  /// True if this thread is in a turn, or between try_hold() and release().
  [[nodiscard]] bool held_here() const { return holder_.load() == std::this_thread::get_id(); }
  [[nodiscard]] const Executor& executor() const { return executor_; }

 private:
  struct Waiting {
    std::shared_ptr<Subscriber> who;
    Priority priority;
  };
  void turn() HYPHOS_EXCLUDES(mutex_);

  Executor& executor_;
  BriefMutex mutex_;
  std::vector<Waiting> waiting_ HYPHOS_GUARDED_BY(mutex_);
  bool enqueued_ HYPHOS_GUARDED_BY(mutex_) = false;
  bool held_ HYPHOS_GUARDED_BY(mutex_) = false;
  std::atomic<std::thread::id> holder_{};
};

}  // namespace hyphos::graph
