#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "hyphos/inspect.hpp"
#include "hyphos/policy.hpp"
#include "transport/crew.hpp"

namespace hyphos::graph {

/// The thread pool of a process.
///
/// Its threads are members of one oneTBB arena, so that parallel algorithms and flow graphs that a
/// callback runs share one pool and one limit. The queue in front of them is ours: work starts
/// first come first served within a priority, one sleeping thread is woken for one piece of work,
/// and a thread without work sleeps at once. (oneTBB's own workers are woken all together and then
/// look for more work for some 150 us, which at the rates of a robot costs more than the
/// callbacks.)
class Executor final : public transport::Crew {
 public:
  using Work = std::function<void()>;

  /// `threads` >= 1: how many callbacks may run at once. With `one_by_one` only one does, in the
  /// order in which work came; `threads` is then what parallel algorithms in it may use.
  explicit Executor(int threads, bool one_by_one = false);
  /// Runs what is queued, then ends the threads. Work of its own may do it.
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Runs `work` on a thread of the pool. Allocates nothing in the steady state if `work` captures
  /// at most two pointers; makes one system call if a thread has to be woken.
  void enqueue(Priority priority, Work work);
  /// Its threads run callbacks only in the place of threads of the pool that are idle.
  void serve(std::function<Turn(int)> turn) override;
  [[nodiscard]] bool has_brought() const override;
  void hand_on() override;
  /// Waits until no work is queued or running, whoever brought it. Not from work of its own.
  void wait_idle();
  /// True on a thread that is running work of this executor.
  [[nodiscard]] bool on_worker() const;

  /// An exception has left a callback; `what` says whose.
  void callback_failed(std::string what);
  /// How many have, and what the first was.
  [[nodiscard]] CallbackErrors callback_errors() const;

  /// While it lives, the calling thread is waiting for something that other work of the pool may
  /// have to bring about: another thread takes its place, so that the pool cannot starve itself.
  /// Nothing on a thread that is not of the pool. False: kMaxWaiting threads wait already; whoever
  /// waits nevertheless may wait for ever. Makes a thread if none is parked.
  class Waiting;
  static constexpr int kMaxWaiting = 64;

  /// While it lives, the calling thread does something that may take long, or waits: what its turn
  /// has brought, and what it brings meanwhile, is for other threads. Costs two looks at a variable
  /// of the thread where no turn is taken.
  class Occupied;

 private:
  struct State;
  struct Worker;
  struct Server;

  std::shared_ptr<State> state_;
  std::vector<std::thread> threads_;
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

class Executor::Occupied {
 public:
  explicit Occupied(Executor& executor);
  ~Occupied();
  Occupied(const Occupied&) = delete;
  Occupied& operator=(const Occupied&) = delete;

 private:
  Server* const turn_;
};

}  // namespace hyphos::graph
