#include "cosim/physics/mujoco/steering.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cosim/physics/mujoco/model.hpp"

namespace hyphos::cosim {
namespace {

constexpr double kNothing = 1e-6;  // m/s: a smaller velocity is a rounding error of zero

// A UGV learns the loss of its wheels at these rates, up to these limits. The limits let a stuck
// UGV forget within a second or two everything that it learned. Sliding sideways causes the largest
// loss.
constexpr double kLearnAhead = 2;   // 1/s
constexpr double kLearnTurn = 6;    // 1/s
constexpr double kMostAhead = 0.5;  // m/s
constexpr double kMostTurn = 4;     // rad/s
constexpr double kTurnGain = 3;     // gain of the current error
constexpr double kTiltLag = 0.18;   // s: time until a UAV has the tilt that rotors() requests

// For a UAV that is held back: the largest distance between its position and its set point.
constexpr double kMostBelow = 0.5;  // m
constexpr double kMostAside = 0.5;  // rad

void note(std::string& left_out, const std::string& what) {
  left_out += (left_out.empty() ? "" : "; ") + what;
}

std::string digits(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", value);
  return text.data();
}

void limit_turn(Motion& motion, double most, std::string& left_out) {
  if (std::abs(motion.turn) <= most) return;
  note(left_out, "its turn is at most " + digits(most) + " rad/s, not " + digits(motion.turn));
  motion.turn = std::copysign(most, motion.turn);
}

double step_towards(double place, double rate, double seconds, double actual, double most) {
  return std::clamp(place + rate * seconds, actual - most, actual + most);
}

}  // namespace

Motion possible(RobotKind kind, const Motion& motion, std::string& left_out) {
  Motion can = motion;
  const bool ugv = kind == RobotKind::ugv;
  if (ugv) {
    can.velocity = {motion.velocity.x, 0, 0};
    if (std::abs(motion.velocity.y) > kNothing)
      note(left_out, "it has wheels and cannot move sideways");
    if (std::abs(motion.velocity.z) > kNothing) note(left_out, "it has wheels and cannot rise");
  }
  const double speed = length(can.velocity);
  const double most = ugv ? Ugv::kMostSpeed : Uav::kMostSpeed;
  if (speed > most) {
    note(left_out, "its speed is at most " + digits(most) + " m/s, not " + digits(speed));
    can.velocity = can.velocity * (most / speed);
  }
  limit_turn(can, ugv ? Ugv::kMostTurn : Uav::kMostTurn, left_out);
  return can;
}

void follow(Course& course, const BodyState& state, std::int64_t now_ns) {
  if (course.told_ns < 0 || course.told_ns > now_ns) return;
  if (course.steered == 0) {
    course.height = state.position.z;
    course.yaw = heading(state);
  }
  course.steered = 1;
  course.motion = course.told;
  course.told_ns = -1;
}

std::array<double, 4> drive(Course& course, const BodyState& state, double seconds) {
  const double ahead = course.motion.velocity.x;
  const double turn = course.motion.turn;
  if (ahead == 0 && turn == 0) {  // it brakes and stands
    course.more_ahead = course.more_turn = 0;
    return {};
  }
  const double now_ahead = dot(state.velocity, axis(state, 0));
  const double lacks_ahead = ahead - now_ahead;
  const double lacks_turn = turn - state.turn.z;
  course.more_ahead =
      step_towards(course.more_ahead, kLearnAhead * lacks_ahead, seconds, 0, kMostAhead);
  course.more_turn = step_towards(course.more_turn, kLearnTurn * lacks_turn, seconds, 0, kMostTurn);
  const double pull = kMostPull + std::abs(now_ahead);
  const double asked = std::clamp(ahead + course.more_ahead, now_ahead - pull, now_ahead + pull);
  return wheels(asked, turn + course.more_turn + kTurnGain * lacks_turn);
}

Flight fly(Course& course, const BodyState& state, double seconds) {
  const Motion& motion = course.motion;
  const double yaw = heading(state);
  const double off = wrapped(course.yaw - yaw) + motion.turn * seconds;
  course.yaw = yaw + std::clamp(off, -kMostAside, kMostAside);
  course.height =
      step_towards(course.height, motion.velocity.z, seconds, state.position.z, kMostBelow);
  Vec3 velocity = turned(about_z(yaw), motion.velocity);
  velocity.z += course.height - state.position.z;
  // In a bend, the acceleration that turns the velocity. The sum is rotated by the turn that
  // happens until the UAV has tilted.
  const Vec3 bend = Vec3{-velocity.y, velocity.x, 0} * motion.turn;
  const Vec3 acceleration = (velocity - state.velocity) * kVelocityGain + bend;
  return {turned(about_z(motion.turn * kTiltLag), acceleration), wrapped(course.yaw - yaw),
          motion.turn};
}

}  // namespace hyphos::cosim
