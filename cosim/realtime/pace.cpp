#include "cosim/realtime/pace.hpp"

#include <algorithm>
#include <cmath>

namespace hyphos::cosim {
namespace {

// Packets of 1,500 bytes then wait for at most 0.12 s each, so that a higher rate takes effect
// soon.
constexpr double kLeast = 12'500;
constexpr double kGrowth = 1.5;
constexpr double kChange = 0.1;  // smaller changes are not worth a call of the kernel

}  // namespace

std::optional<double> Pace::update(Duration passed, std::uint32_t held) {
  const double measured = left_ / std::max(passed.seconds(), 1e-3);
  left_ = 0;
  const double full = static_cast<double>(held) / queue_;
  double rate = full < 0.25 ? std::max(rate_, measured) * kGrowth : measured * (1.25 - full / 2);
  rate = std::min(std::max(rate, std::min(kLeast, nominal_)), nominal_);
  const bool nominal_again = rate == nominal_ && rate_ != nominal_;
  if (std::abs(rate - rate_) < kChange * rate_ && !nominal_again) return std::nullopt;
  rate_ = rate;
  return rate;
}

}  // namespace hyphos::cosim
