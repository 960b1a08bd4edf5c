#pragma once

#include <mutex>

namespace hyphos::graph {

/// Locks a mutex that is only ever held for some tens of nanoseconds: looks a few times before it
/// goes to sleep, because a sleep and the wake-up cost a hundred times what the holder needs.
[[nodiscard]] inline std::unique_lock<std::mutex> lock_briefly(std::mutex& mutex) {
  constexpr int kLooks = 40;
  constexpr int kPausesPerLook = 8;
  for (int look = 0; look < kLooks; ++look) {
    if (mutex.try_lock()) return {mutex, std::adopt_lock};
    for (int i = 0; i < kPausesPerLook; ++i) {
#if defined(__x86_64__) || defined(__i386__)
      __builtin_ia32_pause();
#elif defined(__aarch64__)
      asm volatile("yield");
#endif
    }
  }
  return std::unique_lock(mutex);
}

}  // namespace hyphos::graph
