#pragma once

#include <cstddef>
#include <cstdint>

#include "base/thread_annotations.hpp"
#include "hyphos/policy.hpp"

namespace hyphos::graph {

/// The accounts of one queue whose items run in tasks of an executor: serial (one at a time) or
/// concurrent. The owner has the queue and the mutex, and calls every function under that mutex.
/// Cost: some additions and comparisons, inline.
///
/// Invariants, under the mutex of the owner:
///  (1) If the owner calls needs_task() after each change and starts a task for each true, then a
///      queue with items has a task that is enqueued. A serial one may instead have a thread that
///      runs an item and will call needs_task() after it. So no item is ever forgotten, and no
///      item of a concurrent queue waits for the end of another one.
///  (2) Serial: at most one item runs, if the owner begins items only in drain(), or while
///      may_run() is true.
class Strand {
 public:
  /// `share`: items that one task runs.
  explicit Strand(Mode mode, int share = kFairShare)
      : serial_(mode == Mode::serial), share_(share) {}

  /// Returns true if one more task must be enqueued for a queue of `waiting` items, and counts it.
  [[nodiscard]] bool needs_task(std::size_t waiting) {
    const bool enough = tasks_ > 0 || !may_run();
    if (waiting == 0 || enough) return false;
    ++tasks_;
    return true;
  }

  /// The body of a task. `run_one` takes one item, unlocks the mutex, runs the item between begin()
  /// and end(), and locks the mutex again. It returns false if there was no item. The analysis does
  /// not know that mutex here.
  template <typename RunOne>
  void drain(const RunOne& run_one) HYPHOS_NO_THREAD_SAFETY_ANALYSIS {
    // From here on `running_` accounts for this task. The next items of a concurrent queue need
    // another task, so this one must not count in `tasks_`.
    --tasks_;
    if (!may_run()) return;
    for (int i = 0; i < share_ && run_one(); ++i) {
    }
  }

  void begin() { ++running_; }
  void end() { --running_; }

  /// True if an item may begin now.
  [[nodiscard]] bool may_run() const { return !serial_ || running_ == 0; }
  [[nodiscard]] bool running() const { return running_ > 0; }
  /// True if no item runs, and no task will look at the queue.
  [[nodiscard]] bool idle() const { return running_ == 0 && tasks_ == 0; }

  // A task yields after this many items, so that one busy queue cannot occupy a worker.
  static constexpr int kFairShare = 32;

 private:
  const bool serial_;
  const int share_;
  std::uint32_t tasks_ = 0;    // enqueued, not yet started
  std::uint32_t running_ = 0;  // items
};

}  // namespace hyphos::graph
