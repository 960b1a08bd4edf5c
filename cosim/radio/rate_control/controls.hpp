#pragma once

#include <memory>

#include "cosim/radio/rate_control.hpp"

/// The rate controls, one file each.
namespace hyphos::cosim::make {

[[nodiscard]] std::unique_ptr<RateControl> fixed_rate(const RateControlOptions& options);
[[nodiscard]] std::unique_ptr<RateControl> minstrel(const RateControlOptions& options);

}  // namespace hyphos::cosim::make
