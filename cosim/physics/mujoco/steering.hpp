#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "cosim/physics/mujoco/control.hpp"

namespace hyphos::cosim {

/// What a robot does that its programs steer, and what its controller remembers of it. Numbers
/// without gaps: it is a part of the saved state.
struct Course {
  std::int64_t steered = 0;   ///< 0: it goes its own way still
  std::int64_t told_ns = -1;  ///< the instant from which `told` counts; -1: nothing is told
  Motion told{};
  Motion motion{};        ///< what it follows
  double more_ahead = 0;  ///< m/s and rad/s that a UGV asks of its wheels beyond its motion, since
  double more_turn = 0;   ///< they slip
  double height = 0;      ///< m and rad: where a UAV is to be by now
  double yaw = 0;
};

/// What a robot of this kind can do of a motion. What it cannot is appended to `left_out`.
[[nodiscard]] Motion possible(RobotKind kind, const Motion& motion, std::string& left_out);

/// Begins to follow what it is told, if that counts at `now_ns`.
void follow(Course& course, const BodyState& state, std::int64_t now_ns);

/// Controls of a step of so many seconds, as those of control.hpp: of a UGV, whose wheels are asked
/// for more until body and motion agree, and of a UAV, which keeps its height and its heading but
/// for what its motion says.
[[nodiscard]] std::array<double, 4> drive(Course& course, const BodyState& state, double seconds);
[[nodiscard]] std::array<double, 4> fly(Course& course, const BodyState& state, double seconds);

}  // namespace hyphos::cosim
