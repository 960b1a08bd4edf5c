#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cosim/core/geometry.hpp"
#include "cosim/core/terrain.hpp"
#include "cosim/world/mesh_file.hpp"
#include "hyphos/result.hpp"
#include "hyphos/time.hpp"

namespace hyphos::cosim {

enum class RobotKind { ugv, uav };

/// How Hyphos moves a robot of a user's model.
enum class Drive {
  none,    ///< it does not: physics alone moves the robot
  wheels,  ///< velocity actuators of wheels on two sides
  rotors,  ///< motors whose thrust points along the z axis of the robot
};

/// A robot from a file in MuJoCo's format or in URDF.
struct RobotModel {
  std::string file{};    ///< empty: the built-in robot of its kind
  std::string folder{};  ///< the files that `file` names must be here or below
  Drive drive = Drive::none;
  std::vector<std::string> left{};  ///< actuators or joints of wheels, by name
  std::vector<std::string> right{};
  double wheel_radius = 0;            ///< m
  double track = 0;                   ///< m, between the sides
  double torque = 20;                 ///< N m at most, of the wheel of a joint without actuator
  std::vector<std::string> rotors{};  ///< actuators, by name

  bool operator==(const RobotModel&) const = default;
};

/// A robot that moves from waypoint to waypoint with its own wheels or rotors.
struct MujocoRobot {
  RobotKind kind = RobotKind::ugv;
  Vec3 start{};      ///< m. A UGV ignores z and starts on the ground
  double yaw = 0;    ///< rad
  double speed = 1;  ///< m/s, the set point of its controller
  bool loop = false;
  std::vector<Vec3> waypoints{};
  std::string name{};  ///< for errors
  RobotModel model{};
};

/// The options of the MuJoCo adapter: robots in the order of their numbers, and the boxes of the
/// world's Scene, on flat ground at z = 0.
struct MujocoOptions {
  Duration step = Duration::from_ms(1);
  std::vector<MujocoRobot> robots{};
  std::vector<Box> boxes{};
  std::vector<std::optional<Color>> colors{};  ///< of the first boxes, in pictures
  std::optional<TerrainOptions> terrain{};
  std::vector<Mesh> meshes{};
};

/// Writes the options as the text that the adapter reads: "ugv x y z yaw speed" or "uav …",
/// followed by "waypoint x y z", "loop 1", "name", "model FILE" and its drive; "box …", perhaps
/// followed by "color r g b"; "step_us 1000"; and the settings of cosim/world/settings.hpp.
[[nodiscard]] std::string to_text(const MujocoOptions& options);
/// Errors: invalid_config, with the option's name as `where`.
[[nodiscard]] Result<MujocoOptions> mujoco_options(std::string_view text);

}  // namespace hyphos::cosim
