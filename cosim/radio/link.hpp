#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "cosim/core/geometry.hpp"
#include "cosim/core/packet.hpp"

namespace hyphos::cosim {

/// The antenna of one end of a link.
struct End {
  NodeId node = 0;
  Vec3 place;  ///< of the antenna, m
};

/// A pair of antennas. `low` has the lower node number, so both directions of a pair are the same
/// link, bit by bit.
struct Link {
  End low;
  End high;

  [[nodiscard]] static Link between(const End& a, const End& b) {
    return a.node <= b.node ? Link{a, b} : Link{b, a};
  }
  /// m, in three dimensions. At least 1, the reference distance of the path loss models.
  [[nodiscard]] double distance() const { return std::max(1.0, length(high.place - low.place)); }
  /// m, in the horizontal plane.
  [[nodiscard]] double ground_distance() const {
    return std::hypot(high.place.x - low.place.x, high.place.y - low.place.y);
  }
  [[nodiscard]] double lower_m() const { return std::min(low.place.z, high.place.z); }
  [[nodiscard]] double upper_m() const { return std::max(low.place.z, high.place.z); }
};

inline constexpr double kSpeedOfLight = 299'792'458;  // m/s

/// The loss of free space (Friis 1946) between isotropic antennas.
[[nodiscard]] inline double free_space_db(double distance_m, double frequency_hz) {
  return 20 * std::log10(4 * std::numbers::pi * distance_m * frequency_hz / kSpeedOfLight);
}

}  // namespace hyphos::cosim
