#include "cosim/physics/mujoco/control.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "cosim/physics/mujoco/model.hpp"

namespace hyphos::cosim {
namespace {

constexpr double kGravity = 9.81;
constexpr double kNear = 0.3;            // m: a waypoint this close is reached
constexpr double kMostAcceleration = 4;  // m/s², of a UAV

Vec3 at_most(const Vec3& v, double most) {
  const double size = length(v);
  return size > most ? v * (most / size) : v;
}

}  // namespace

Vec3 axis(const BodyState& state, std::size_t which) {
  const auto& r = state.rotation;
  return {r[which], r[3 + which], r[6 + which]};
}

double heading(const BodyState& state) {
  const Vec3 ahead = axis(state, 0);
  return std::atan2(ahead.y, ahead.x);
}

double wrapped(double angle) { return std::remainder(angle, 2 * std::numbers::pi); }

Vec3 target(const MujocoRobot& robot, const BodyState& state, std::uint32_t& next) {
  if (robot.waypoints.empty()) return robot.start;
  Vec3 way = robot.waypoints[next] - state.position;
  if (robot.kind == RobotKind::ugv) way.z = 0;
  if (length(way) < kNear) {
    const bool last = next + 1 == robot.waypoints.size();
    if (!last) {
      ++next;
    } else if (robot.loop) {
      next = 0;
    }
  }
  return robot.waypoints[next];
}

std::array<double, 4> drive(const MujocoRobot& robot, const BodyState& state, const Vec3& goal) {
  const Vec3 way = goal - state.position;
  const double distance = std::hypot(way.x, way.y);
  if (distance < kNear) return {};
  const double error = wrapped(std::atan2(way.y, way.x) - heading(state));
  const double wanted = std::min(robot.speed, distance) * std::max(0.0, std::cos(error));
  const double now = dot(state.velocity, axis(state, 0));
  const double speed = std::min(wanted, std::max(0.0, now) + kMostPull + std::abs(now));
  return wheels(speed, std::clamp(2 * error, -1.5, 1.5));
}

std::array<double, 4> wheels(double ahead, double turn) {
  const double aside = turn * Ugv::kTurnTrack / 2;
  const double left = (ahead - aside) / Ugv::kWheelRadius;
  const double right = (ahead + aside) / Ugv::kWheelRadius;
  return {left, left, right, right};
}

Flight fly(const MujocoRobot& robot, const BodyState& state, const Vec3& goal) {
  const Vec3 velocity = at_most(goal - state.position, robot.speed);
  return {(velocity - state.velocity) * kVelocityGain, wrapped(robot.yaw - heading(state)), 0};
}

Effort effort(const BodyState& state, const Flight& flight, double mass,
              const std::array<double, 3>& inertia) {
  const Vec3 push = at_most(flight.acceleration, kMostAcceleration) + Vec3{0, 0, kGravity};
  const Vec3 up = axis(state, 2);
  const double thrust = mass * dot(push, up);
  // Turns the rotor axis into the direction of the thrust, and the nose to its target heading.
  const Vec3 tilt = cross(up, push * (1 / length(push)));
  const auto about = [&](std::size_t i, double error, double turn, double kp, double kd) {
    return inertia[i] * (kp * error - kd * turn);
  };
  const double tx = about(0, dot(tilt, axis(state, 0)), state.turn.x, 100, 18);
  const double ty = about(1, dot(tilt, axis(state, 1)), state.turn.y, 100, 18);
  const double tz = about(2, flight.off, state.turn.z - flight.rate, 4, 4);
  return {thrust, tx, ty, tz};
}

std::array<double, 4> rotors(const BodyState& state, const Flight& flight) {
  const auto [thrust, tx, ty, tz] = effort(state, flight, Uav::kMass, Uav::kInertia);
  std::array<double, 4> thrusts{};
  for (std::size_t i = 0; i < thrusts.size(); ++i) {
    const auto& [x, y] = Uav::kRotors[i];
    const double share = thrust / 4 + y * tx / (4 * Uav::kArm) - x * ty / (4 * Uav::kArm) +
                         x * y * tz / (4 * Uav::kDrag);
    thrusts[i] = std::clamp(share, 0.0, Uav::kMostThrust);
  }
  return thrusts;
}

}  // namespace hyphos::cosim
