#pragma once

#include <atomic>
#include <cstdint>

#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"

namespace hyphos {

/// A mutex for critical sections of some tens of nanoseconds: the queues and lists of the data
/// path.
///
/// Locking and unlocking cost one inlined instruction each. At the message rates of a robot, the
/// processor's caches go cold between two messages. Every page that a message touches then costs a
/// fifth of a microsecond, and std::mutex touches three more pages, in another library. A thread
/// that finds the mutex locked polls it a few times before it sleeps. The reason: sleeping and
/// waking cost a hundred times more than the critical section. Not recursive, not fair. MutexLock
/// and BriefLock hold it.
///
/// Source: U. Drepper, "Futexes Are Tricky" (2011), mutex 2.
class HYPHOS_CAPABILITY("mutex") BriefMutex {
 public:
  BriefMutex() = default;
  BriefMutex(const BriefMutex&) = delete;
  BriefMutex& operator=(const BriefMutex&) = delete;

  void lock() noexcept HYPHOS_ACQUIRE() {
    if (!try_lock()) lock_slowly();
  }
  [[nodiscard]] bool try_lock() noexcept HYPHOS_TRY_ACQUIRE() {
    std::uint32_t state = kFree;
    return state_.compare_exchange_strong(state, kTaken, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }
  void unlock() noexcept HYPHOS_RELEASE() {
    if (state_.exchange(kFree, std::memory_order_release) == kWaitedFor) wake_one();
  }
  /// Convinces the analysis, and does nothing: the caller holds the mutex.
  void assert_held() const noexcept HYPHOS_ASSERT_CAPABILITY(this) {}

 private:
  enum State : std::uint32_t { kFree, kTaken, kWaitedFor };

  void lock_slowly() noexcept HYPHOS_ACQUIRE();
  void wake_one() noexcept;

  std::atomic<std::uint32_t> state_{kFree};
};

using BriefLock = UniqueLock<BriefMutex>;

/// A condition variable for state guarded by a BriefMutex. notify_all() without waiters costs two
/// loads and no call. A thread changes the state under the mutex, and calls notify_all() before or
/// after it unlocks the mutex. A predicate that reads guarded members is a lambda with
/// HYPHOS_REQUIRES(mutex).
class BriefCondition {
 public:
  BriefCondition() = default;
  BriefCondition(const BriefCondition&) = delete;
  BriefCondition& operator=(const BriefCondition&) = delete;

  /// Sleeps until notified. Spurious wake-ups are possible.
  void wait(BriefLock& lock) noexcept HYPHOS_REQUIRES(lock) { (void)wait_until(lock, 0); }
  /// Returns false if `deadline_ns` (CLOCK_MONOTONIC, 0: none) has passed.
  [[nodiscard]] bool wait_until(BriefLock& lock, std::int64_t deadline_ns) noexcept
      HYPHOS_REQUIRES(lock);
  template <typename Ready>
  void wait(BriefLock& lock, Ready ready) HYPHOS_REQUIRES(lock) HYPHOS_NO_THREAD_SAFETY_ANALYSIS {
    while (!ready()) wait(lock);
  }
  void notify_all() noexcept {
    if (waiters_.load(std::memory_order_seq_cst) != 0) wake_all();
  }

 private:
  void wake_all() noexcept;

  // A waiter counts itself and reads the epoch under the mutex. A thread that changes the state
  // afterwards therefore sees the waiter counted. Its increment of the epoch ends the waiter's
  // sleep, because the futex sleeps only on the epoch that the waiter read.
  std::atomic<std::uint32_t> waiters_{0};
  std::atomic<std::uint32_t> epoch_{0};
};

}  // namespace hyphos
