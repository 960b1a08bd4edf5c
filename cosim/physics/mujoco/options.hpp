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

/// A robot that moves from waypoint to waypoint with its own wheels or rotors.
struct MujocoRobot {
  RobotKind kind = RobotKind::ugv;
  Vec3 start{};      ///< m. A UGV ignores z and starts on the ground
  double yaw = 0;    ///< rad
  double speed = 1;  ///< m/s, the set point of its controller
  bool loop = false;
  std::vector<Vec3> waypoints{};
};

/// The options of the MuJoCo adapter: robots in the order of their numbers, and the boxes of the
/// world's Scene, on flat ground at z = 0.
struct MujocoOptions {
  Duration step = Duration::from_ms(1);
  std::vector<MujocoRobot> robots{};
  std::vector<Box> boxes{};
};

/// Writes the options as the text that the adapter reads: "ugv x y z yaw speed" or "uav …",
/// followed by "waypoint x y z" and "loop 1" of that robot; "box …"; "step_us 1000".
[[nodiscard]] std::string to_text(const MujocoOptions& options);
/// Errors: invalid_config, with the option's name as `where`.
[[nodiscard]] Result<MujocoOptions> mujoco_options(std::string_view text);

}  // namespace hyphos::cosim
