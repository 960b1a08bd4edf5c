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
/// The acceleration of a UAV (m/s², within its limits), and the turn of its nose by `off` rad with
/// `rate` rad/s.
struct Flight {
  Vec3 acceleration;
  double off = 0;
  double rate = 0;
};
/// Thrust (N) along its z axis, and torques (N m) about its axes.
using Effort = std::array<double, 4>;

/// The effort of a UAV of this mass (kg) and inertia (kg m²) for a flight.
[[nodiscard]] Effort effort(const BodyState& state, const Flight& flight, double mass,
                            const std::array<double, 3>& inertia);
/// Thrusts (N) of the rotors of the built-in UAV.
[[nodiscard]] std::array<double, 4> rotors(const BodyState& state, const Flight& flight);
inline constexpr double kVelocityGain = 2;  // 1/s, of a UAV

/// The current waypoint of a robot. Advances `next` when the robot is near its waypoint.
[[nodiscard]] Vec3 target(const MujocoRobot& robot, const BodyState& state, std::uint32_t& next);

/// Wheel speeds (rad/s) that turn a UGV towards `goal` and drive it there.
[[nodiscard]] std::array<double, 4> drive(const MujocoRobot& robot, const BodyState& state,
                                          const Vec3& goal);
/// The flight of a UAV to `goal`. It keeps its yaw.
[[nodiscard]] Flight fly(const MujocoRobot& robot, const BodyState& state, const Vec3& goal);

/// While a UGV stands, its wheels get at most this set point (m/s): a push of 200 N. With full
/// torque the wheels would climb a wall in front of it.
inline constexpr double kMostPull = 0.07;

}  // namespace hyphos::cosim
