#pragma once

#include <array>
#include <span>

#include "cosim/physics/mujoco/options.hpp"

namespace hyphos::cosim {

/// What a controller sees of its robot.
struct BodyState {
  Vec3 position;
  Vec3 velocity;                   ///< m/s, in the world
  std::array<double, 9> rotation;  ///< body to world, by rows
  Vec3 turn;                       ///< rad/s, in the body
};

/// A direction of the body in the world: 0 ahead, 1 left, 2 up.
[[nodiscard]] Vec3 axis(const BodyState& state, std::size_t which);
/// rad about z: where it looks, seen from above.
[[nodiscard]] double heading(const BodyState& state);
/// An angle by the shorter way round.
[[nodiscard]] double wrapped(double angle);

/// Wheel speeds (rad/s) that drive a UGV on with so many m/s and rad/s, if they hold as they do as
/// a rule.
[[nodiscard]] std::array<double, 4> wheels(double ahead, double turn);
/// Thrusts (N) that give a UAV this acceleration (m/s², as far as it can), and turn its nose by
/// `off` with `rate`.
[[nodiscard]] std::array<double, 4> rotors(const BodyState& state, const Vec3& acceleration,
                                           double off, double rate);
inline constexpr double kVelocityGain = 2;  // 1/s, of a UAV

/// The waypoint that a robot goes to, and whether it is the last. Goes on to the next when the
/// robot is near.
[[nodiscard]] Vec3 target(const MujocoRobot& robot, const BodyState& state, std::uint32_t& next);

/// Wheel speeds (rad/s) that turn a UGV towards `goal` and drive it there.
[[nodiscard]] std::array<double, 4> drive(const MujocoRobot& robot, const BodyState& state,
                                          const Vec3& goal);
/// Thrusts (N) that fly a UAV there, by velocity, then attitude; it keeps its yaw.
[[nodiscard]] std::array<double, 4> fly(const MujocoRobot& robot, const BodyState& state,
                                        const Vec3& goal);

}  // namespace hyphos::cosim
