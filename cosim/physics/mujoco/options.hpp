#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cosim/core/geometry.hpp"
#include "hyphos/result.hpp"
#include "hyphos/time.hpp"

namespace hyphos::cosim {

enum class RobotKind { ugv, uav };

/// A robot that goes from waypoint to waypoint with its own wheels or rotors.
struct MujocoRobot {
  RobotKind kind = RobotKind::ugv;
  Vec3 start{};      ///< m; a UGV starts on the ground, whatever z
  double yaw = 0;    ///< rad
  double speed = 1;  ///< m/s, asked of its controller
  bool loop = false;
  std::vector<Vec3> waypoints{};
};

/// What the MuJoCo adapter is told: robots in the order of their numbers, and the boxes of the
/// world's Scene, on flat ground at z = 0.
struct MujocoOptions {
  Duration step = Duration::from_ms(1);
  std::vector<MujocoRobot> robots{};
  std::vector<Box> boxes{};
};

/// As the adapter's options: "ugv x y z yaw speed", "uav …", then that robot's "waypoint x y z" and
/// "loop 1"; "box …"; "step_us 1000".
[[nodiscard]] std::string to_text(const MujocoOptions& options);
/// Errors: invalid_config, with the option's name as `where`.
[[nodiscard]] Result<MujocoOptions> mujoco_options(std::string_view text);

}  // namespace hyphos::cosim
