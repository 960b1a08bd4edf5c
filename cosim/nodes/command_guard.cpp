#include "cosim/nodes/command_guard.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace hyphos::cosim {
namespace {

constexpr double kMost = 1e4;  // m/s or rad/s: the physics simulators accept no more

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

}  // namespace

std::optional<Motion> CommandGuard::check(const Motion& command, Time now) {
  const Vec3& v = command.velocity;
  for (const double value : {v.x, v.y, v.z, command.turn}) {
    if (std::isfinite(value) && std::abs(value) <= kMost) continue;
    ++counts_.refused;
    return std::nullopt;
  }
  if (limits_.timeout.ns > 0) deadline_ = now + limits_.timeout;
  Motion allowed = command;
  bool limited = false;
  if (const double speed = length(v); limits_.speed > 0 && speed > limits_.speed) {
    allowed.velocity = v * (limits_.speed / speed);
    limited = true;
    note(now, "a speed of " + number(speed) + " m/s was limited to " + number(limits_.speed));
  }
  if (limits_.turn > 0 && std::abs(command.turn) > limits_.turn) {
    allowed.turn = std::copysign(limits_.turn, command.turn);
    limited = true;
    note(now,
         "a turn of " + number(command.turn) + " rad/s was limited to " + number(allowed.turn));
  }
  if (limited) ++counts_.limited;
  return allowed;
}

bool CommandGuard::expire(Time now) {
  if (now < deadline_) return false;
  deadline_ = kNever;
  ++counts_.stopped;
  note(now, "no command for " + number(limits_.timeout.ms()) + " ms stopped it");
  return true;
}

void CommandGuard::add_to(std::map<NodeId, InPart>& in_part, NodeId robot) const {
  const std::uint64_t count = counts_.limited + counts_.stopped;
  if (count == 0) return;
  InPart& part = in_part.try_emplace(robot, InPart{0, kNever, {}}).first->second;
  part.count += count;
  if (counts_.first < part.first) part = {part.count, counts_.first, counts_.first_case};
}

void CommandGuard::note(Time now, const std::string& text) {
  if (!counts_.first_case.empty()) return;
  counts_.first = now;
  counts_.first_case = text;
}

}  // namespace hyphos::cosim
