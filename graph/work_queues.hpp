#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/brief_mutex.hpp"
#include "hyphos/policy.hpp"

namespace hyphos::graph {

/// Whether work is new, and counts in WorkQueues::pushed(). Otherwise it was counted before.
enum class Fresh : bool { no, yes };

/// The queued work of a thread pool: one queue for each place, by priority. A queue keeps its
/// memory.
///
/// Order: the work of one queue starts in the order of arrival, within a priority. Work of a higher
/// priority in any queue comes first. A thread takes work of its own queue first, and then of the
/// others (it steals). In one of kOthersFirst turns it looks at the others first, so that a busy
/// queue delays no other one for ever.
///
/// Cost: a thread takes the mutex of its own queue, and of another one only if that has work. The
/// counts are written under the mutex and read without it.
class WorkQueues {
 public:
  using Work = std::function<void()>;
  static constexpr unsigned kOthersFirst = 16;

  explicit WorkQueues(int count) : queues_(static_cast<std::size_t>(count)) {}

  /// The count is visible to every thread that looks after this call, in the order of seq_cst.
  void push(std::size_t to, Priority priority, Work&& work, Fresh fresh);
  /// Returns the next work for the thread of queue `own`, or nothing. `turn`: counts its calls.
  [[nodiscard]] Work take(std::size_t own, unsigned turn);
  [[nodiscard]] bool any() const;
  [[nodiscard]] std::size_t size() const { return queues_.size(); }
  /// The number of fresh pieces of work so far. Those that happened before this call are included.
  [[nodiscard]] std::uint64_t pushed() const;
  /// How often the mutex of this queue was locked so far. For tests and for the model of contention
  /// in docs/explanation/thread_pool.md.
  [[nodiscard]] std::uint64_t locked(std::size_t queue);

 private:
  static constexpr std::size_t kLevels = 3;
  static constexpr std::size_t kHigh = static_cast<std::size_t>(Priority::high);

  class Ring {
   public:
    void push(Work&& work);
    [[nodiscard]] Work pop();
    [[nodiscard]] std::uint32_t count() const { return count_; }

   private:
    void grow();
    std::vector<Work> slots_;  // their number is a power of two
    std::uint32_t head_ = 0;
    std::uint32_t count_ = 0;
  };
  struct alignas(64) Queue {
    BriefMutex mutex;
    std::array<std::atomic<std::uint32_t>, kLevels> counts{};  // of `rings`
    std::atomic<std::uint64_t> pushed{0};
    std::array<Ring, kLevels> rings HYPHOS_GUARDED_BY(mutex);
    std::uint64_t locked HYPHOS_GUARDED_BY(mutex) = 0;
  };

  [[nodiscard]] Work take_of(std::size_t level, std::size_t first);
  [[nodiscard]] Work pop(Queue& queue, std::size_t level);

  std::vector<Queue> queues_;
  alignas(64) std::atomic<std::uint32_t> high_{0};  // work of high priority in all queues
};

}  // namespace hyphos::graph
