#include "builtin/joystick.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/joystick.h>
#include <sys/stat.h>

#include <cmath>
#include <cstring>

#include "base/unique_fd.hpp"
#include "rig.hpp"

namespace hyphos::builtin {
namespace {

std::vector<std::byte> event(std::uint8_t type, std::uint8_t number, std::int16_t value) {
  const js_event made{.time = 0, .value = value, .type = type, .number = number};
  std::vector<std::byte> bytes(sizeof(made));
  std::memcpy(bytes.data(), &made, sizeof(made));
  return bytes;
}

TEST(JoystickState, axes_follow_ros_and_ignore_the_dead_zone) {
  JoystickState state;
  EXPECT_TRUE(state.feed(event(JS_EVENT_AXIS, 1, -32767), 0.1));  // forward
  EXPECT_TRUE(state.feed(event(JS_EVENT_AXIS, 0, 3000), 0.1));    // within the dead zone
  EXPECT_TRUE(state.feed(event(JS_EVENT_BUTTON | JS_EVENT_INIT, 4, 1), 0.1));
  const msgs::Joy joy = state.message();
  ASSERT_EQ(joy.axes_size(), 2);
  EXPECT_FLOAT_EQ(joy.axes(0), 0);
  EXPECT_FLOAT_EQ(joy.axes(1), 1);
  ASSERT_EQ(joy.buttons_size(), 5);
  EXPECT_EQ(joy.buttons(4), 1);
}

TEST(JoystickState, events_may_come_in_pieces_and_noise_is_ignored) {
  JoystickState state;
  const auto whole = event(JS_EVENT_BUTTON, 255, 1);
  EXPECT_FALSE(state.feed(std::span(whole).first(3), 0));
  EXPECT_TRUE(state.feed(std::span(whole).subspan(3), 0));
  EXPECT_EQ(state.message().buttons_size(), 256);
  EXPECT_TRUE(state.feed(event(0x40, 3, 1), 0));
  state.release();
  EXPECT_EQ(state.message().buttons(255), 0);
}

msgs::Joy joy_of(std::initializer_list<float> axes, std::initializer_list<int> buttons) {
  msgs::Joy joy;
  for (const float axis : axes) joy.add_axes(axis);
  for (const int button : buttons) joy.add_buttons(button);
  return joy;
}

TEST(TeleopRules, nothing_moves_unless_the_button_is_held) {
  const TeleopRules rules{.enable_button = 0, .turbo_button = 1};
  msgs::Twist twist;
  EXPECT_FALSE(drive(joy_of({1, 1}, {0, 0}), rules, twist));
  ASSERT_TRUE(drive(joy_of({1, 1}, {1, 0}), rules, twist));
  EXPECT_DOUBLE_EQ(twist.linear().x(), 0.5);
  EXPECT_DOUBLE_EQ(twist.angular().z(), 1.0);
  ASSERT_TRUE(drive(joy_of({0, 1}, {0, 1}), rules, twist));
  EXPECT_DOUBLE_EQ(twist.linear().x(), 1.0);
}

TEST(TeleopRules, absent_or_invalid_axes_count_as_zero) {
  const TeleopRules rules{.axis_y = 7, .enable_button = -1};
  msgs::Twist twist;
  ASSERT_TRUE(drive(joy_of({std::nanf(""), 5}, {}), rules, twist));
  EXPECT_DOUBLE_EQ(twist.linear().x(), 0.5);  // limited to the full axis
  EXPECT_DOUBLE_EQ(twist.linear().y(), 0);
  EXPECT_DOUBLE_EQ(twist.angular().z(), 0);
}

// A pipe stands in for the device: both are read in pieces, and end when the other side goes.
TEST(JoystickNode, events_become_messages_until_the_device_goes) {
  const Folder folder;
  const std::string path = (folder.path() / "js0").string();
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  Rig rig("joystick", "{device: " + path + ", repeat_hz: 0}");
  UniqueFd device(::open(path.c_str(), O_RDWR));
  ASSERT_TRUE(device.valid());
  Inbox<msgs::Joy> inbox(rig.node(), "joy");
  rig.start();
  const auto down = event(JS_EVENT_BUTTON, 0, 1);
  ASSERT_EQ(::write(device.get(), down.data(), down.size()), 8);
  EXPECT_EQ(inbox.next()->buttons(0), 1);
  device = UniqueFd();
  EXPECT_EQ(inbox.next()->buttons(0), 0);  // released by its loss
}

TEST(TeleopNode, the_robot_stops_when_the_joystick_falls_silent) {
  Rig rig("teleop", "{enable_button: 0, silence_ms: 50}");
  rig.start();
  const Node& test = rig.node();
  Inbox<msgs::Twist> inbox(test, "cmd_vel");
  test.publisher<msgs::Joy>("joy").publish(joy_of({0, 1}, {1}));
  EXPECT_DOUBLE_EQ(inbox.next()->linear().x(), 0.5);
  EXPECT_DOUBLE_EQ(inbox.next()->linear().x(), 0);
}

TEST(TeleopNode, a_released_button_stops_once) {
  Rig rig("teleop", "{enable_button: 0, silence_ms: 600000}");
  rig.start();
  const Node& test = rig.node();
  Inbox<msgs::Twist> inbox(test, "cmd_vel");
  const auto joy = test.publisher<msgs::Joy>("joy");
  joy.publish(joy_of({0, 1}, {1}));
  joy.publish(joy_of({0, 1}, {0}));
  joy.publish(joy_of({0, 1}, {0}));
  joy.publish(joy_of({0, 0.5F}, {1}));
  EXPECT_DOUBLE_EQ(inbox.next()->linear().x(), 0.5);
  EXPECT_DOUBLE_EQ(inbox.next()->linear().x(), 0);
  EXPECT_DOUBLE_EQ(inbox.next()->linear().x(), 0.25);
}

}  // namespace
}  // namespace hyphos::builtin
