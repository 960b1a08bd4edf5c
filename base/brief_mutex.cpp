#include "base/brief_mutex.hpp"

#include "base/futex.hpp"

namespace hyphos {
namespace {

constexpr int kLooks = 40;
constexpr int kPausesPerLook = 8;

void pause_briefly() noexcept {
  for (int i = 0; i < kPausesPerLook; ++i) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
}

}  // namespace

void BriefMutex::lock_slowly() noexcept {
  for (int look = 0; look < kLooks; ++look) {
    if (state_.load(std::memory_order_relaxed) == kFree && try_lock()) return;
    pause_briefly();
  }
  while (state_.exchange(kWaitedFor, std::memory_order_acquire) != kFree) {
    futex::wait(state_, kWaitedFor, futex::Scope::process);
  }
}

void BriefMutex::wake_one() noexcept { futex::wake(state_, 1, futex::Scope::process); }

bool BriefCondition::wait_until(BriefLock& lock, std::int64_t deadline_ns) noexcept {
  waiters_.fetch_add(1, std::memory_order_seq_cst);
  const std::uint32_t seen = epoch_.load(std::memory_order_seq_cst);
  lock.unlock();
  const bool in_time = futex::wait_until(epoch_, seen, deadline_ns, futex::Scope::process);
  lock.lock();
  waiters_.fetch_sub(1, std::memory_order_seq_cst);
  return in_time;
}

void BriefCondition::wake_all() noexcept {
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  futex::wake_all(epoch_, futex::Scope::process);
}

}  // namespace hyphos
