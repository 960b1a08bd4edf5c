#pragma once

#include <compare>
#include <cstdint>
#include <limits>

#include "hyphos/export.hpp"

namespace hyphos {

/// A span of time in nanoseconds. An integer, so that sums are exact and compare equal.
struct Duration {
  std::int64_t ns = 0;

  [[nodiscard]] static constexpr Duration from_us(std::int64_t us) { return {us * 1'000}; }
  [[nodiscard]] static constexpr Duration from_ms(std::int64_t ms) { return {ms * 1'000'000}; }
  [[nodiscard]] static constexpr Duration from_seconds(double s) {
    return {static_cast<std::int64_t>(s * 1e9)};
  }
  [[nodiscard]] constexpr double seconds() const { return static_cast<double>(ns) * 1e-9; }
  [[nodiscard]] constexpr double ms() const { return static_cast<double>(ns) * 1e-6; }
  [[nodiscard]] constexpr double us() const { return static_cast<double>(ns) * 1e-3; }

  constexpr auto operator<=>(const Duration&) const = default;
};

/// A point in time in nanoseconds. The documentation of each use names its clock.
struct Time {
  std::int64_t ns = 0;

  constexpr auto operator<=>(const Time&) const = default;
};

constexpr Duration operator+(Duration a, Duration b) { return {a.ns + b.ns}; }
constexpr Duration operator-(Duration a, Duration b) { return {a.ns - b.ns}; }
constexpr Duration operator*(Duration a, std::int64_t k) { return {a.ns * k}; }
/// Saturates, so that a very long timeout ends in the distant future and not in the past.
constexpr Time operator+(Time t, Duration d) {
  using Limits = std::numeric_limits<std::int64_t>;
  if (d.ns > 0 && t.ns > Limits::max() - d.ns) return {Limits::max()};
  if (d.ns < 0 && t.ns < Limits::min() - d.ns) return {Limits::min()};
  return {t.ns + d.ns};
}
constexpr Time operator-(Time t, Duration d) { return {t.ns - d.ns}; }
constexpr Duration operator-(Time a, Time b) { return {a.ns - b.ns}; }

/// CLOCK_MONOTONIC, the clock of every stamp. It is the same for all processes of one machine and
/// never jumps. On another machine it is meaningless until a transport has converted it. Cost: ~25
/// ns.
[[nodiscard]] HYPHOS_EXPORT Time monotonic_now();

/// CLOCK_REALTIME: nanoseconds since 1970 UTC. Jumps when the clock is set.
[[nodiscard]] HYPHOS_EXPORT Time wall_now();

}  // namespace hyphos
