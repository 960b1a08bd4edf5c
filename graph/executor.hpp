#pragma once

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <array>
#include <memory>

#include "hyphos/policy.hpp"

namespace hyphos::graph {

/// The thread pool of a process: one oneTBB arena per priority, all of the same size. oneTBB gives
/// its workers to the highest arena that has work, and puts them to sleep when none has.
class Executor {
 public:
  /// `threads` >= 1: how many callbacks may run at once.
  explicit Executor(int threads);

  /// Runs `work` on a worker, first come first served within a priority. Allocates nothing from the
  /// heap in the steady state (oneTBB pools its tasks).
  template <typename F>
  void enqueue(Priority priority, F work) {
    arenas_[static_cast<std::size_t>(priority)]->enqueue([this, work = std::move(work)] {
      const Scope scope(this);
      work();
    });
  }
  /// True on a thread that is running work of this executor.
  [[nodiscard]] bool on_worker() const { return current_ == this; }
  [[nodiscard]] int threads() const { return threads_; }

 private:
  struct Scope {
    explicit Scope(const Executor* executor) : outer(std::exchange(current_, executor)) {}
    ~Scope() { current_ = outer; }
    const Executor* outer;
  };
  static thread_local const Executor* current_;

  int threads_;
  tbb::global_control workers_;
  std::array<std::unique_ptr<tbb::task_arena>, 3> arenas_;
};

}  // namespace hyphos::graph
