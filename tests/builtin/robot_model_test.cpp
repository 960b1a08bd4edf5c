#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "builtin/urdf.hpp"
#include "hyphos/msgs/sensor.pb.h"
#include "hyphos/msgs/std.pb.h"
#include "rig.hpp"

namespace hyphos::builtin {
namespace {

constexpr auto kArm = R"(<?xml version="1.0"?>
<robot name="arm">
  <link name="base"/><link name="upper"/><link name="lower"/><link name="tool"/><link name="rail"/>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/>
    <origin xyz="0 0 1" rpy="0 0 0"/><axis xyz="0 0 2"/><limit lower="-3" upper="3"/>
  </joint>
  <joint name="elbow" type="continuous">
    <parent link="upper"/><child link="lower"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/>
    <mimic joint="shoulder" multiplier="-2" offset="0.5"/>
  </joint>
  <joint name="flange" type="fixed">
    <parent link="lower"/><child link="tool"/><origin xyz="0.5 0 0" rpy="0 0 1.5707963267948966"/>
  </joint>
  <joint name="slide" type="prismatic">
    <parent link="base"/><child link="rail"/><axis xyz="0 1 0"/><limit lower="1" upper="3"/>
  </joint>
</robot>)";

TEST(Urdf, joints_have_their_values) {
  const Urdf arm = parse_urdf(kArm, "arm.urdf").or_throw();
  EXPECT_EQ(arm.name, "arm");
  EXPECT_EQ(arm.root, "base");
  EXPECT_EQ(arm.links.size(), 5U);
  const UrdfJoint& shoulder = *arm.joint("shoulder");
  EXPECT_EQ(shoulder.kind, JointKind::revolute);
  EXPECT_EQ(shoulder.axis, (Vector3{0, 0, 1}));
  EXPECT_EQ(shoulder.rest(), 0);
  EXPECT_EQ(arm.joint("slide")->rest(), 2);
  EXPECT_EQ(arm.joint("elbow")->mimic->joint, "shoulder");
  EXPECT_EQ(arm.joint("nothing"), nullptr);
}

TEST(Urdf, positions_move_the_child) {
  const Urdf arm = parse_urdf(kArm, "arm.urdf").or_throw();
  const Vector3 turned = arm.joint("shoulder")->at(std::numbers::pi / 2) * Vector3{1, 0, 0};
  EXPECT_NEAR(turned.x, 0, 1e-12);
  EXPECT_NEAR(turned.y, 1, 1e-12);
  EXPECT_NEAR(turned.z, 1, 1e-12);
  EXPECT_EQ(arm.joint("slide")->at(0.25).translation, (Vector3{0, 0.25, 0}));
}

struct Bad {
  const char* text;
  const char* problem;
};

class BadUrdf : public testing::TestWithParam<Bad> {};

TEST_P(BadUrdf, errors_name_line_and_cause) {
  const auto made = parse_urdf(GetParam().text, "bad.urdf");
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().to_string().find(GetParam().problem), std::string::npos)
      << made.error().to_string();
}

INSTANTIATE_TEST_SUITE_P(
    Files, BadUrdf,
    testing::Values(
        Bad{"", "not XML"}, Bad{"<robot><link name='a'></robot>", "bad.urdf:1"},
        Bad{"<sdf/>", "the root element is <sdf>"}, Bad{"<robot/>", "no link"},
        Bad{"<robot>\n<link/></robot>", "bad.urdf:2: a <link> has no name"},
        Bad{"<robot><link name='a'/><link name='a'/></robot>", "two links are named 'a'"},
        Bad{"<robot><link name='a'/><link name='b'/></robot>", "both have no parent"},
        Bad{"<robot><link name='a'/><joint name='j' type='hinge'/></robot>",
            "unknown type 'hinge'"},
        Bad{"<robot><link name='a'/><joint name='j' type='fixed'><parent link='a'/>"
            "<child link='b'/></joint></robot>",
            "child link 'b' is not in the model"},
        Bad{"<robot><link name='a'/><link name='b'/><joint name='j' type='fixed'>"
            "<parent link='a'/><child link='b'/></joint><joint name='k' type='fixed'>"
            "<parent link='b'/><child link='a'/></joint></robot>",
            "cycle"},
        Bad{"<robot><link name='r'/><link name='a'/><link name='b'/><joint name='j' type='fixed'>"
            "<parent link='a'/><child link='b'/></joint><joint name='k' type='fixed'>"
            "<parent link='b'/><child link='a'/></joint></robot>",
            "cycle"},
        Bad{"<robot><link name='a'/><link name='b'/><joint name='j' type='revolute'>"
            "<parent link='a'/><child link='b'/><axis xyz='0 0 0'/></joint></robot>",
            "no direction"},
        Bad{"<robot><link name='a'/><link name='b'/><joint name='j' type='fixed'>"
            "<parent link='a'/><child link='b'/><origin xyz='1 2'/></joint></robot>",
            "three finite numbers"},
        Bad{"<robot><link name='a'/><link name='b'/><joint name='j' type='revolute'>"
            "<parent link='a'/><child link='b'/><mimic joint='j'/></joint></robot>",
            "mimics itself"},
        Bad{"<robot xmlns:xacro='x'><xacro:property name='w'/></robot>", "xacro FILE"}));

/// The pose of the tool in the base.
Vector3 tool(const Transforms& transforms, Time time) {
  return transforms.get("base", "tool", time, Duration::from_seconds(60)).or_throw().translation;
}

TEST(RobotModel, joint_states_move_the_frames) {
  Rig rig("robot_model", "{model: arm.urdf, rest_rate_hz: 0}");
  (void)rig.folder().file("arm.urdf", kArm);
  const Node& test = rig.node();
  const auto states = test.publisher<msgs::JointState>("joint_states");
  rig.start();
  msgs::JointState state;
  state.mutable_header()->set_stamp_ns(5'000'000'000);
  state.add_name("shoulder");
  state.add_position(std::numbers::pi / 2);
  states.publish(state);
  // The elbow mimics the shoulder: -2 * pi/2 + 0.5.
  const double elbow = std::numbers::pi / 2 + (-2 * std::numbers::pi / 2 + 0.5);
  const Vector3 found = tool(test.transforms(), Time{5'000'000'000});
  EXPECT_NEAR(found.x, 0.5 * std::cos(elbow), 1e-9);
  EXPECT_NEAR(found.y, 1 + 0.5 * std::sin(elbow), 1e-9);
  EXPECT_NEAR(found.z, 1, 1e-9);
}

TEST(RobotModel, joints_without_a_state_rest_within_their_limits) {
  Rig rig("robot_model", "{model: arm.urdf, rest_rate_hz: 100, frame_prefix: left/}");
  (void)rig.folder().file("arm.urdf", kArm);
  const Node& test = rig.node();
  rig.start();
  const Transform rail = test.transforms()
                             .get("left/base", "left/rail", latest, Duration::from_seconds(60))
                             .or_throw();
  EXPECT_EQ(rail.translation, (Vector3{0, 2, 0}));
}

TEST(RobotModel, late_nodes_get_the_description) {
  Rig rig("robot_model", "{model: arm.urdf}");
  (void)rig.folder().file("arm.urdf", kArm);
  rig.start();
  Inbox<msgs::String> inbox(rig.node(), "robot_description");
  EXPECT_EQ(inbox.next()->data(), kArm);
}

TEST(RobotModel, unusable_states_are_counted_and_change_nothing) {
  Rig rig("robot_model", "{model: arm.urdf, rest_rate_hz: 0}");
  (void)rig.folder().file("arm.urdf", kArm);
  const Node& test = rig.node();
  const auto states = test.publisher<msgs::JointState>("joint_states");
  rig.start();
  msgs::JointState state;
  state.mutable_header()->set_stamp_ns(1'000'000'000);
  state.add_name("shoulder");
  state.add_name("elbow");
  state.add_position(1);
  states.publish(state);  // two names, one position
  state.clear_name();
  state.add_name("shoulder");
  state.set_position(0, std::nan(""));
  states.publish(state);
  state.set_position(0, 0);
  state.mutable_header()->set_stamp_ns(2'000'000'000);
  states.publish(state);
  EXPECT_NO_THROW((void)tool(test.transforms(), Time{2'000'000'000}));
  EXPECT_FALSE(test.transforms().get("base", "tool", Time{1'000'000'000}));
  EXPECT_EQ(rig.tested().params().values().get<std::int64_t>("refused"), 2);
}

TEST(RobotModel, a_missing_model_is_an_error_with_its_path) {
  Rig rig("robot_model", "{model: nowhere.urdf}");
  try {
    rig.start();
    FAIL() << "no error";
  } catch (const Exception& problem) {
    EXPECT_EQ(problem.error().code, Code::not_found);
    EXPECT_NE(problem.error().where.find("nowhere.urdf"), std::string::npos);
  }
}

}  // namespace
}  // namespace hyphos::builtin
