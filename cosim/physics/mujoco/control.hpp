#pragma once

#include <array>
#include <span>

#include "cosim/physics/mujoco/options.hpp"

namespace hyphos::cosim {

/// The state of a robot that its controller reads.
struct BodyState {
  Vec3 position;
  Vec3 velocity;                   ///< m/s, in the world
  std::array<double, 9> rotation;  ///< body to world, by rows
  Vec3 turn;                       ///< rad/s, in the body
};

/// A body axis in the world frame: 0 forward, 1 left, 2 up.
[[nodiscard]] Vec3 axis(const BodyState& state, std::size_t which);
/// The heading in rad about z, seen from above.
[[nodiscard]] double heading(const BodyState& state);
/// Wraps an angle to the shorter rotation.
[[nodiscard]] double wrapped(double angle);

/// Wheel speeds (rad/s) for a forward speed in m/s and a turn in rad/s of a UGV, with typical wheel
/// grip.
[[nodiscard]] std::array<double, 4> wheels(double ahead, double turn);
/// Thrusts (N) that give a UAV this acceleration (m/s², within its limits), and turn its nose by
/// `off` with `rate`.
[[nodiscard]] std::array<double, 4> rotors(const BodyState& state, const Vec3& acceleration,
                                           double off, double rate);
inline constexpr double kVelocityGain = 2;  // 1/s, of a UAV

/// The current waypoint of a robot. Advances `next` when the robot is near its waypoint.
[[nodiscard]] Vec3 target(const MujocoRobot& robot, const BodyState& state, std::uint32_t& next);

/// Wheel speeds (rad/s) that turn a UGV towards `goal` and drive it there.
[[nodiscard]] std::array<double, 4> drive(const MujocoRobot& robot, const BodyState& state,
                                          const Vec3& goal);
/// Thrusts (N) that fly a UAV to `goal`, by velocity, then attitude. The UAV keeps its yaw.
[[nodiscard]] std::array<double, 4> fly(const MujocoRobot& robot, const BodyState& state,
                                        const Vec3& goal);

}  // namespace hyphos::cosim
