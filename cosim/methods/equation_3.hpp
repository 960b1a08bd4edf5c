#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "cosim/core/method.hpp"

namespace hyphos::cosim {

/// V_p - V_s of a pair: the speed of the publisher minus that of the subscriber, in m/s.
inline double speed_difference(const Situation& situation, const Pair& pair) {
  return length(situation.poses[pair.from].velocity) - length(situation.poses[pair.to].velocity);
}

/// Equation 3 of Dey et al.: w + (V_p - V_s) / 1000, with the quotient in units of `unit_ns`. The
/// result has no lower bound.
inline Duration equation_3(Duration w, double difference, std::int64_t unit_ns) {
  return w + Duration{std::llround(difference / 1000 * static_cast<double>(unit_ns))};
}

/// t of Algorithm 1, which advances by windows of any length: rounded down to a physics step, and
/// by at least one step.
class ListingTime {
 public:
  explicit ListingTime(const Step& step) : step_(step) {}

  Window advance(const Situation& situation, Duration by) {
    target_ = std::max(target_, situation.now) + by;
    const std::int64_t end = step_.index_at_or_before(target_);
    return {std::max(end, situation.index + 1), false};
  }

 private:
  Step step_;
  Time target_;
};

}  // namespace hyphos::cosim
