#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace hyphos {

/// A mutex for what is held for some tens of nanoseconds: the queues and lists of the data path.
///
/// Taking and leaving it is one instruction each, in line. At the rates of a robot every page that
/// a message touches costs a fifth of a microsecond, because between two messages the processor
/// forgets it; std::mutex touches three more, in another library. Who finds it taken looks again a
/// few times before it sleeps, because a sleep and the wake-up cost a hundred times what the holder
/// needs. Not recursive, not fair. Lockable: for std::lock_guard and std::unique_lock.
///
/// Source: U. Drepper, "Futexes Are Tricky" (2011), mutex 2.
class BriefMutex {
 public:
  BriefMutex() = default;
  BriefMutex(const BriefMutex&) = delete;
  BriefMutex& operator=(const BriefMutex&) = delete;

  void lock() noexcept {
    if (!try_lock()) lock_slowly();
  }
  [[nodiscard]] bool try_lock() noexcept {
    std::uint32_t state = kFree;
    return state_.compare_exchange_strong(state, kTaken, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }
  void unlock() noexcept {
    if (state_.exchange(kFree, std::memory_order_release) == kWaitedFor) wake_one();
  }

 private:
  enum State : std::uint32_t { kFree, kTaken, kWaitedFor };

  void lock_slowly() noexcept;
  void wake_one() noexcept;

  std::atomic<std::uint32_t> state_{kFree};
};

using BriefLock = std::unique_lock<BriefMutex>;

/// Lets threads wait for something that a BriefMutex guards. Telling nobody costs two loads and no
/// call. Whoever changes what is waited for does so under the mutex, and tells before or after he
/// leaves it.
class BriefCondition {
 public:
  BriefCondition() = default;
  BriefCondition(const BriefCondition&) = delete;
  BriefCondition& operator=(const BriefCondition&) = delete;

  /// Sleeps until told, or without cause. `lock` is held at the call and at its return.
  void wait(BriefLock& lock) noexcept { (void)wait_until(lock, 0); }
  /// False if `deadline_ns` (CLOCK_MONOTONIC; 0: none) has passed.
  [[nodiscard]] bool wait_until(BriefLock& lock, std::int64_t deadline_ns) noexcept;
  template <typename Ready>
  void wait(BriefLock& lock, Ready ready) {
    while (!ready()) wait(lock);
  }
  void notify_all() noexcept {
    if (waiters_.load(std::memory_order_seq_cst) != 0) wake_all();
  }

 private:
  void wake_all() noexcept;

  // A waiter counts itself and reads the epoch under the mutex. So who changes something afterwards
  // sees it counted, and the epoch that it then increments differs from the one it sleeps on.
  std::atomic<std::uint32_t> waiters_{0};
  std::atomic<std::uint32_t> epoch_{0};
};

}  // namespace hyphos
