#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

#include "lab/common/clock.hpp"

namespace hyphos::lab {

// Bare futex calls on a word that may be in memory shared between processes.
inline long futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::int64_t timeout_ns = -1) {
  const timespec ts = to_timespec(timeout_ns < 0 ? 0 : timeout_ns);
  return syscall(SYS_futex, &word, FUTEX_WAIT, expected, timeout_ns < 0 ? nullptr : &ts, nullptr,
                 0);
}

inline long futex_wake(std::atomic<std::uint32_t>& word, int waiters = INT_MAX) {
  return syscall(SYS_futex, &word, FUTEX_WAKE, waiters, nullptr, nullptr, 0);
}

}  // namespace hyphos::lab
