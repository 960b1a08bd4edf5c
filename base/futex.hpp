#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <ctime>

/// The futex calls of Linux on a word. Each is one system call, inline. Needs no library, so that
/// programs that do not link Hyphos can use it, too.
namespace hyphos::futex {

/// The sleepers of a word. Both sides must name the same scope, because the kernel keeps two
/// separate queues. `process`: threads of one process. It is cheaper, because the kernel compares
/// addresses. `shared`: also other processes that map the word. The kernel then looks up its page.
enum class Scope : int { process = FUTEX_PRIVATE_FLAG, shared = 0 };

inline constexpr std::uint32_t kEverybody = FUTEX_BITSET_MATCH_ANY;

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

namespace detail {

inline long call(const std::atomic<std::uint32_t>& word, int operation, Scope scope,
                 std::uint32_t value, const timespec* time, std::uint32_t mask) noexcept {
  return ::syscall(SYS_futex, &word, operation | static_cast<int>(scope), value, time, nullptr,
                   mask);
}

inline timespec to_timespec(std::int64_t ns) noexcept {
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  return {ns / kNsPerSecond, ns % kNsPerSecond};
}

}  // namespace detail

/// Sleeps while `word` is `expected`, until woken. May return early without a reason.
inline void wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                 Scope scope) noexcept {
  detail::call(word, FUTEX_WAIT, scope, expected, nullptr, 0);
}

/// The same for at most `timeout_ns`.
inline void wait_for(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                     std::int64_t timeout_ns, Scope scope) noexcept {
  const timespec time = detail::to_timespec(timeout_ns);
  detail::call(word, FUTEX_WAIT, scope, expected, &time, 0);
}

/// The same until `deadline_ns` (CLOCK_MONOTONIC, 0: no deadline). Returns false if it has passed.
/// `as`: the bit mask of the sleeper, for wake_masked().
inline bool wait_until(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::int64_t deadline_ns, Scope scope,
                       std::uint32_t as = kEverybody) noexcept {
  // FUTEX_WAIT_BITSET takes an instant of CLOCK_MONOTONIC, FUTEX_WAIT a duration.
  const timespec until = detail::to_timespec(deadline_ns);
  const long slept = detail::call(word, FUTEX_WAIT_BITSET, scope, expected,
                                  deadline_ns == 0 ? nullptr : &until, as);
  return slept == 0 || errno != ETIMEDOUT;
}

/// Wakes at most `sleepers` threads.
inline void wake(const std::atomic<std::uint32_t>& word, int sleepers, Scope scope) noexcept {
  detail::call(word, FUTEX_WAKE, scope, static_cast<std::uint32_t>(sleepers), nullptr, 0);
}
inline void wake_all(const std::atomic<std::uint32_t>& word, Scope scope) noexcept {
  wake(word, INT_MAX, scope);
}

/// Wakes all sleepers whose mask shares a bit with `whom`.
inline void wake_masked(const std::atomic<std::uint32_t>& word, std::uint32_t whom,
                        Scope scope) noexcept {
  detail::call(word, FUTEX_WAKE_BITSET, scope, INT_MAX, nullptr, whom);
}

}  // namespace hyphos::futex
