#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "cosim/physics/mujoco/control.hpp"

namespace hyphos::cosim {

/// The state of a steered robot and of its controller. It has no padding, because it is part of the
/// saved state.
struct Course {
  std::int64_t steered = 0;   ///< 0: it still follows its waypoints
  std::int64_t told_ns = -1;  ///< the instant from which `told` applies; -1: no command
  Motion told{};
  Motion motion{};        ///< the motion that it follows
  double more_ahead = 0;  ///< m/s and rad/s that a UGV requests from its wheels in addition to its
  double more_turn = 0;   ///< motion, because the wheels slip
  double height = 0;      ///< m and rad: the current set point of a UAV
  double yaw = 0;
};

/// The part of a motion that a robot of this kind can follow. The rest is appended to `left_out`.
[[nodiscard]] Motion possible(RobotKind kind, const Motion& motion, std::string& left_out);

/// Starts to follow the command, if it applies at `now_ns`.
void follow(Course& course, const BodyState& state, std::int64_t now_ns);

/// Controls for a step of `seconds`, in the format of control.hpp. A UGV raises the set points of
/// its wheels until body and motion agree. A UAV keeps its height and its heading except for its
/// motion.
[[nodiscard]] std::array<double, 4> drive(Course& course, const BodyState& state, double seconds);
[[nodiscard]] Flight fly(Course& course, const BodyState& state, double seconds);

}  // namespace hyphos::cosim
