#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "graph/failure.hpp"
#include "hyphos/inspect.hpp"
#include "hyphos/policy.hpp"
#include "transport/ready_list.hpp"

namespace hyphos::graph {

/// The thread pool of a process.
///
/// Each thread has a oneTBB arena. The parallel algorithms and flow graphs of its callbacks run
/// there. A worker of oneTBB takes the place of an idle thread of the pool while it is in an arena,
/// so callbacks and algorithms share one limit: at most `threads` threads are at work.
///
/// The work queues are ours, one for each place. Work of a higher priority starts first. Within a
/// priority, work that is added by one thread starts in the order of arrival, unless idle threads
/// take it. A pool of one thread starts all work in that order. One sleeping thread is woken for
/// one piece of work, and a thread without work sleeps immediately, except under load: if it rests
/// more often than each 50 us, it looks for work for 3 us. The reason: oneTBB wakes all its workers
/// together, and they then search for more work for some 150 us. At the message rates of a robot
/// that costs more than the callbacks. docs/explanation/thread_pool.md explains the pool.
class Executor final {
 public:
  using Work = std::function<void()>;

  /// `threads` >= 1: the number of threads that may be at work at once, in callbacks and in their
  /// parallel algorithms. With `one_by_one` only one callback runs, in the order of arrival. The
  /// other `threads` - 1 are for parallel algorithms.
  explicit Executor(int threads, bool one_by_one = false);
  /// Runs the queued work, then ends the threads. Work of the pool itself may call it.
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Runs `work` on a thread of the pool. In the steady state it allocates nothing if `work`
  /// captures at most two pointers. Makes one system call if a thread must be woken.
  /// `ready`: the list of the calling thread, if it polls for this pool. The list keeps the work if
  /// it is empty and a thread of the pool is idle, and then no thread is woken.
  void enqueue(Priority priority, Work work, transport::ReadyList* ready = nullptr);
  /// The same for work of the pool that ends soon: wakes no thread, because the calling thread
  /// looks at the queues next.
  void enqueue_last(Priority priority, Work work);
  /// Starts two threads that call `poll`. They run ready work only in place of idle threads of the
  /// pool. Returns at once. The polls must end before the executor is destroyed.
  void serve(transport::PollFunction poll);
  /// Waits until no work is queued or running. Must not be called by work of this pool.
  void wait_idle();
  /// True on a thread that is running work of this executor.
  [[nodiscard]] bool on_worker() const;
  /// True if only one callback runs at a time.
  [[nodiscard]] bool one_by_one() const;

  /// The process ends from now on. Callbacks that still run find their node disconnected.
  void begin_ending() { ending_.store(true, std::memory_order_relaxed); }
  /// True if the failure of a callback only results from the end of the process. Such a failure is
  /// neither logged nor counted.
  [[nodiscard]] bool is_normal_end(const Failure& failure) const {
    return failure.disconnected && ending_.load(std::memory_order_relaxed);
  }
  /// Records that a callback threw an exception. `what` names the callback.
  void callback_failed(std::string what);
  /// The number of such exceptions, and the first one.
  [[nodiscard]] CallbackErrors callback_errors() const;

  /// While this object lives, the calling thread waits for something that other work of the pool
  /// may have to do. Another thread replaces it, so that the pool cannot starve itself. It makes a
  /// thread if none is parked. When the wait ends, the waiting thread continues at once, and until
  /// the next callback ends one thread more is at work: if it had to wait for a place, a callback
  /// that holds a mutex could starve the pool. It has no effect on threads outside the pool. It
  /// converts to false if kMaxWaiting threads wait already. A thread that waits nevertheless may
  /// then wait for ever.
  class Waiting;
  static constexpr int kMaxWaiting = 64;

 private:
  struct State;
  struct Worker;
  class Ready;

  std::shared_ptr<State> state_;
  std::vector<std::thread> threads_;
  std::atomic<bool> ending_{false};
};

class Executor::Waiting {
 public:
  explicit Waiting(Executor& executor);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  explicit operator bool() const { return !refused_; }

 private:
  std::shared_ptr<State> state_;  // null: not a thread of the pool, or refused
  bool refused_ = false;
};

}  // namespace hyphos::graph
