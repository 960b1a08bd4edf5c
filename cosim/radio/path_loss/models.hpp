#pragma once

#include <array>
#include <memory>

#include "cosim/radio/path_loss.hpp"

/// The path loss models, one file each.
namespace hyphos::cosim::make {

[[nodiscard]] std::unique_ptr<PathLoss> log_distance(const PathLossOptions& options);
[[nodiscard]] std::unique_ptr<PathLoss> free_space(const PathLossOptions& options);
[[nodiscard]] std::unique_ptr<PathLoss> two_ray(const PathLossOptions& options);
[[nodiscard]] std::unique_ptr<PathLoss> air_to_ground(const PathLossOptions& options);
[[nodiscard]] std::unique_ptr<PathLoss> elevation(const PathLossOptions& options);

inline constexpr std::array<std::string_view, 3> kAirToGroundEnvironments{"urban_micro",
                                                                          "urban_macro", "rural"};
inline constexpr std::array<std::string_view, 4> kElevationEnvironments{"suburban", "urban",
                                                                        "dense_urban", "highrise"};

}  // namespace hyphos::cosim::make
