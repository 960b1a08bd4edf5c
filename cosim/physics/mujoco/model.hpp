#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cosim/physics/mujoco/options.hpp"
#include "cosim/physics/mujoco/user_model.hpp"

namespace hyphos::cosim {

/// A vehicle with about the size and weight of a Clearpath Husky: 50 kg, four driven wheels, skid
/// steering.
struct Ugv {
  static constexpr double kWheelRadius = 0.165;       // m
  static constexpr double kWheelBase = 0.512;         // m, between the axles
  static constexpr double kTrack = 0.545;             // m, between left and right
  static constexpr double kTurnTrack = 1.6 * kTrack;  // effective track with skidding
  static constexpr double kMostTorque = 40;           // N m, of a wheel
  static constexpr double kMostSpeed = 3;             // m/s and rad/s, when it is steered
  static constexpr double kMostTurn = 2;
  static constexpr double kReach = 0.6;  // m: largest distance of a point from the position
};

/// A quadrotor of 1.5 kg with its rotors at the corners of a square.
struct Uav {
  static constexpr double kMass = 1.5;                                   // kg
  static constexpr std::array<double, 3> kInertia{0.015, 0.015, 0.025};  // kg m²
  static constexpr double kArm = 0.17;                                   // m, along x and y each
  static constexpr double kMostThrust = 10;                              // N, of a rotor
  static constexpr double kMostSpeed = 15;                               // m/s, when it is steered
  static constexpr double kMostTurn = 3;                                 // rad/s
  static constexpr double kReach = 0.3;                                  // m, as for a UGV
  static constexpr double kDrag = 0.02;  // N m of yaw for each N of thrust
  /// Signs of rotor i along x and y. Their product is its direction of rotation.
  static constexpr std::array<std::array<double, 2>, 4> kRotors{
      {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}}};
};

/// The numbers of robots of each kind: UGVs, UAVs, then each of the user's models.
using RobotCounts = std::vector<std::uint32_t>;
inline constexpr std::size_t kOwnKinds = 2;

/// The fixed parts of a world: the boxes and meshes of the options, and the ground.
struct Ground {
  const MujocoOptions* options = nullptr;
  const Terrain* terrain = nullptr;  ///< null: flat at z = 0
  bool drawn = false;                ///< for pictures: a sun and a camera, and no contacts
};

/// The world and the given numbers of robots in MuJoCo's XML format, in the order of their kinds.
/// Robot i is the i-th free joint. The four actuators of a built-in robot are wheels left front,
/// left rear, right front, right rear (rad/s), or rotors (N).
[[nodiscard]] std::string mjcf(const Ground& ground, std::span<const UserModel> models,
                               const RobotCounts& counts);
inline constexpr const char* kTerrainName = "hyphos_terrain";

}  // namespace hyphos::cosim
