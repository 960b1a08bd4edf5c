#pragma once

#include "cosim/core/geometry.hpp"

namespace hyphos::cosim {

enum class Pattern { isotropic, dipole };

/// The antenna of a robot. It is mounted above the origin of the robot and tilts with it.
struct Antenna {
  double height_m = 0;  ///< above the origin of the robot, along its z axis
  double gain_dbi = 0;  ///< of isotropic: in all directions. Of dipole: added to the pattern
  Pattern pattern = Pattern::isotropic;
  bool given = false;  ///< by the scenario

  [[nodiscard]] Vec3 place(const Pose& robot) const {
    return height_m == 0 ? robot.position : raised(robot);
  }
  /// The gain towards another point, in dBi. A dipole has half a wavelength and stands along the z
  /// axis of the robot: 2.15 dBi at its side (Balanis, Antenna Theory, 4.6). Its nulls are cut at
  /// -20 dBi, since bodies and ground fill them.
  [[nodiscard]] double towards(const Pose& robot, const Vec3& target) const {
    return pattern == Pattern::isotropic ? gain_dbi : dipole_towards(robot, target);
  }
  [[nodiscard]] double most_dbi() const;

  [[nodiscard]] Vec3 raised(const Pose& robot) const;
  [[nodiscard]] double dipole_towards(const Pose& robot, const Vec3& target) const;
};

}  // namespace hyphos::cosim
