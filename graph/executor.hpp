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
/// Its threads are members of one oneTBB arena, so that callbacks, parallel algorithms and flow
/// graphs share one pool and one limit. The work queue in front of them is ours. Within a priority,
/// work starts in the order of arrival. One sleeping thread is woken for one piece of work, and a
/// thread without work sleeps immediately. The reason: oneTBB wakes all its workers together, and
/// they then search for more work for some 150 us. At the message rates of a robot that costs more
/// than the callbacks.
class Executor final {
 public:
  using Work = std::function<void()>;

  /// `threads` >= 1: the number of callbacks that may run at once. With `one_by_one` only one
  /// callback runs, in the order of arrival. `threads` then limits only parallel algorithms inside
  /// callbacks.
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
  /// Starts two threads that call `poll`. They run ready work only in place of idle threads of the
  /// pool. Returns at once. The polls must end before the executor is destroyed.
  void serve(transport::PollFunction poll);
  /// Waits until no work is queued or running. Must not be called by work of this pool.
  void wait_idle();
  /// True on a thread that is running work of this executor.
  [[nodiscard]] bool on_worker() const;

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
  /// thread if none is parked. It has no effect on threads outside the pool. It converts to false
  /// if kMaxWaiting threads wait already. A thread that waits nevertheless may then wait for ever.
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
