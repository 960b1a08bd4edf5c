#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "builtin/registry.hpp"
#include "hyphos/msgs/geometry.pb.h"
#include "hyphos/msgs/sensor.pb.h"

namespace hyphos::builtin {

/// The state of a joystick from the events of Linux (linux/joystick.h, 8 bytes each).
class JoystickState {
 public:
  /// Applies the events of a read(). A part of an event waits for the rest. Returns true if the
  /// state has changed.
  bool feed(std::span<const std::byte> bytes, double deadzone);
  /// All axes 0, all buttons up.
  void release();
  [[nodiscard]] msgs::Joy message() const;

 private:
  void apply(std::span<const std::byte, 8> event, double deadzone);
  std::vector<std::byte> rest_;
  std::vector<float> axes_;
  std::vector<std::int32_t> buttons_;
};

/// Which axes and buttons drive, and how fast. An index of -1 is unused.
struct TeleopRules {
  int axis_x = 1;
  int axis_y = -1;
  int axis_yaw = 0;
  int enable_button = 4;  ///< must be held to drive. -1: none is needed
  int turbo_button = 5;
  double speed_m_s = 0.5;
  double turbo_m_s = 1.0;
  double turn_rad_s = 1.0;
};

/// The speed for a state of the joystick. Not enabled: false.
[[nodiscard]] bool drive(const msgs::Joy& joy, const TeleopRules& rules, msgs::Twist& out);

/// `joystick` and `teleop`. Reference: docs/reference/builtin.md.
std::unique_ptr<Builtin> open_joystick(const Node& node);
std::unique_ptr<Builtin> open_teleop(const Node& node);

}  // namespace hyphos::builtin
