// Parameters of ROS nodes in the robot. The ROS nodes are those of a second gateway.
#include <gtest/gtest.h>

#include "gateway/ros2/param_messages.hpp"
#include "tests/gateway/ros2/gateway.hpp"

namespace hyphos::gateway::ros2 {
namespace {

class RosParamsTest : public ::testing::Test {
 protected:
  RosParamsTest() {
    ros_nodes().check("laser", [](const ParamVariant& value) {
      const auto* rate = std::get_if<std::int64_t>(&value);
      return rate != nullptr && *rate > 100 ? "is at most 100" : "";
    });
    ros_nodes().put("laser", "rate_hz", std::int64_t{40});
    ros_nodes().put("laser", "names", std::vector<std::string>{"a", "b"});
  }
  [[nodiscard]] FakeParams& ros_nodes() { return ros_.facade.parameters().nodes(); }
  [[nodiscard]] static std::optional<ParamVariant> seen(Gateway& robot, const std::string& name) {
    return robot.facade.parameters().nodes().shown(name);
  }

  Gateway ros_{with({{"rosparams", ""}})};
};

TEST_F(RosParamsTest, the_robot_sees_the_parameters_of_a_ros_node) {
  Gateway robot(with({{"node", "/robot"}}));
  EXPECT_TRUE(eventually([&] {
    return seen(robot, "laser.rate_hz") == ParamVariant(std::int64_t{40}) &&
           seen(robot, "laser.names") == ParamVariant(std::vector<std::string>{"a", "b"});
  }));
  ros_nodes().put("laser", "rate_hz", std::int64_t{50});
  ros_nodes().put("laser", "late", 0.5);
  EXPECT_TRUE(eventually([&] {
    return seen(robot, "laser.rate_hz") == ParamVariant(std::int64_t{50}) &&
           seen(robot, "laser.late") == ParamVariant(0.5);
  })) << "by an event";
  ros_nodes().end("laser");
  EXPECT_TRUE(eventually([&] { return !seen(robot, "laser.rate_hz"); }));
}

TEST_F(RosParamsTest, a_value_set_by_the_robot_is_set_at_the_ros_node) {
  Gateway robot(with({{"node", "/robot"}}));
  auto& shown = robot.facade.parameters().nodes();
  ASSERT_TRUE(eventually([&] { return seen(robot, "laser.rate_hz").has_value(); }));
  shown.change_shown("laser.rate_hz", std::int64_t{60});
  EXPECT_TRUE(eventually(
      [&] { return ros_nodes().value("laser", "rate_hz") == ParamVariant(std::int64_t{60}); }));
  shown.change_shown("laser.rate_hz", std::int64_t{200});
  EXPECT_TRUE(eventually([&] { return robot.facade.clients().counted("param") == 1; }));
  EXPECT_TRUE(eventually([&] {
    return seen(robot, "laser.rate_hz") == ParamVariant(std::int64_t{60});
  })) << "the ROS node has refused the value";
  EXPECT_EQ(ros_nodes().value("laser", "rate_hz"), ParamVariant(std::int64_t{60}));
}

TEST_F(RosParamsTest, only_selected_nodes_are_shown) {
  ros_nodes().put("base", "name", std::string("x"));
  Gateway robot(with({{"node", "/robot"}, {"rosparams", "base"}}));
  EXPECT_TRUE(eventually([&] { return seen(robot, "base.name").has_value(); }));
  EXPECT_FALSE(seen(robot, "laser.rate_hz").has_value());
}

TEST_F(RosParamsTest, a_node_of_the_robot_is_not_shown_to_it) {
  Gateway robot(with({{"node", "/robot"}}));
  robot.facade.parameters().nodes().put("laser", "rate_hz", std::int64_t{7});
  ros_nodes().put("base", "name", std::string("x"));
  EXPECT_TRUE(eventually([&] { return seen(robot, "base.name").has_value(); }));
  EXPECT_TRUE(eventually([&] { return !seen(robot, "laser.rate_hz").has_value(); }));
}

TEST_F(RosParamsTest, malformed_events_are_ignored) {
  Gateway robot(with({{"node", "/robot"}}));
  ASSERT_TRUE(eventually([&] { return seen(robot, "laser.rate_hz").has_value(); }));
  RosSide tool;
  auto& events = tool.writer("rt/parameter_events", "rcl_interfaces::msg::dds_::ParameterEvent_");
  ASSERT_TRUE(events.wait_matched(1));
  events.write(std::string("\0\1\0\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 12));
  const auto good =
      write_event({"/laser", {}, {{"rate_hz", std::int64_t{45}}}, {}}, Time{1'000'000'000});
  events.write(std::string(reinterpret_cast<const char*>(good.data()), good.size()));
  EXPECT_TRUE(
      eventually([&] { return seen(robot, "laser.rate_hz") == ParamVariant(std::int64_t{45}); }));
}

}  // namespace
}  // namespace hyphos::gateway::ros2
