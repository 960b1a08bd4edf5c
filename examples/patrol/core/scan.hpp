#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pose.hpp"

namespace patrol {

// One sweep of a planar laser, treated as taken at one instant. A range is no return if it is not
// finite, not above 0, or not in [range_min, range_max). All angles and limits are numbers, but
// range_max may be infinite.
struct Scan {
  std::int64_t stamp_ns = 0;
  double angle_min = 0.0;        // rad, of the first beam in the frame of the laser
  double angle_increment = 0.0;  // rad between beams, positive counter-clockwise
  double range_min = 0.0;        // m
  double range_max = 0.0;        // m
  Pose2 mount;                   // of the laser on the robot
  std::vector<float> ranges;     // m

  [[nodiscard]] double angle(std::size_t beam) const {
    return angle_min + angle_increment * static_cast<double>(beam);
  }
  [[nodiscard]] bool valid(std::size_t beam) const {
    const double r = ranges[beam];
    return std::isfinite(r) && r > 0 && r >= range_min && r < range_max;
  }
};

}  // namespace patrol
