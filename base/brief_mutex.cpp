#include "base/brief_mutex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>

namespace hyphos {
namespace {

constexpr int kLooks = 40;
constexpr int kPausesPerLook = 8;
constexpr std::int64_t kNsPerSecond = 1'000'000'000;

void pause_briefly() noexcept {
  for (int i = 0; i < kPausesPerLook; ++i) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
}

void sleep_while(std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

}  // namespace

void BriefMutex::lock_slowly() noexcept {
  for (int look = 0; look < kLooks; ++look) {
    if (state_.load(std::memory_order_relaxed) == kFree && try_lock()) return;
    pause_briefly();
  }
  while (state_.exchange(kWaitedFor, std::memory_order_acquire) != kFree) {
    sleep_while(state_, kWaitedFor);
  }
}

void BriefMutex::wake_one() noexcept {
  ::syscall(SYS_futex, &state_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

bool BriefCondition::wait_until(BriefLock& lock, std::int64_t deadline_ns) noexcept {
  waiters_.fetch_add(1, std::memory_order_seq_cst);
  const std::uint32_t seen = epoch_.load(std::memory_order_seq_cst);
  lock.unlock();
  const timespec until{deadline_ns / kNsPerSecond, deadline_ns % kNsPerSecond};
  // FUTEX_WAIT_BITSET takes an instant of CLOCK_MONOTONIC, FUTEX_WAIT a duration.
  const long slept =
      ::syscall(SYS_futex, &epoch_, FUTEX_WAIT_BITSET_PRIVATE, seen,
                deadline_ns == 0 ? nullptr : &until, nullptr, FUTEX_BITSET_MATCH_ANY);
  const bool in_time = slept == 0 || errno != ETIMEDOUT;
  lock.lock();
  waiters_.fetch_sub(1, std::memory_order_seq_cst);
  return in_time;
}

void BriefCondition::wake_all() noexcept {
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  ::syscall(SYS_futex, &epoch_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace hyphos
