#pragma once

#include <span>
#include <vector>

#include "cosim/core/simulator.hpp"

namespace hyphos::cosim {

/// The distances of rays from a robot, for physics that cannot cast rays: against the boxes, the
/// ground z = 0 and the other robots, which are upright cylinders of 0.6 m and radius `body_m` (0:
/// not seen). Infinity: nothing within the range. A ray that begins inside a box measures 0. Cost:
/// some nanoseconds for each ray and box.
[[nodiscard]] std::vector<double> cast_rays(const Scene& scene, std::span<const Pose> poses,
                                            NodeId robot, const Rays& rays, double body_m);

}  // namespace hyphos::cosim
