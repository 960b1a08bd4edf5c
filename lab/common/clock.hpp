#pragma once

#include <sys/prctl.h>
#include <time.h>

#include <cerrno>
#include <cstdint>

namespace hyphos::lab {

// CLOCK_MONOTONIC in nanoseconds. All processes and network namespaces of one host share this
// clock, so stamps from different processes may be subtracted.
inline std::int64_t now_ns() {
  timespec ts{};
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return ts.tv_sec * 1'000'000'000LL + ts.tv_nsec;
}

inline timespec to_timespec(std::int64_t ns) {
  return {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
}

// Sleeps until an absolute time, so that a late wake-up does not shift later messages (open loop).
inline void sleep_until(std::int64_t deadline_ns) {
  const timespec ts = to_timespec(deadline_ns);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, nullptr) == EINTR) {
  }
}

/// Computes for this time on the CPU, like a callback, without sleeping.
inline void compute(std::int64_t ns) {
  if (ns <= 0) return;
  const std::int64_t until = now_ns() + ns;
  while (now_ns() < until) {
  }
}

// The default timer slack would add 50 us to every tick of the schedule.
inline void use_precise_timers() { prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); }

}  // namespace hyphos::lab
