// Parameters of ROS nodes in the robot. The ROS nodes are those of a second gateway.
#include "gateway/ros2/ros_params.hpp"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "gateway/convert/utf.hpp"
#include "gateway/ros2/param_messages.hpp"
#include "tests/gateway/ros2/gateway.hpp"

namespace hyphos::gateway::ros2 {
namespace {

/// The parameter services of a ROS node. The test writes each reply.
class RosNode {
 public:
  RosNode(RosSide& ros, const std::string& name) {
    for (const auto& [service, type] : {std::pair("list_parameters", "ListParameters"),
                                        std::pair("describe_parameters", "DescribeParameters"),
                                        std::pair("get_parameters", "GetParameters"),
                                        std::pair("set_parameters", "SetParameters")}) {
      const std::string topic = name + "/" + service;
      const std::string types = std::string("rcl_interfaces::srv::dds_::") + type;
      services_.emplace(service,
                        std::pair(&ros.reader("rq/" + topic + "Request", types + "_Request_"),
                                  &ros.writer("rr/" + topic + "Reply", types + "_Response_")));
    }
  }
  [[nodiscard]] std::size_t requests(const std::string& service) {
    return services_.at(service).first->count();
  }
  /// Waits for the next request, and replies to it.
  void answer(const std::string& service, const std::vector<std::byte>& reply) {
    const auto [requests, replies] = services_.at(service);
    const std::size_t number = ++answered_[service];
    const auto all = requests->wait(number);
    ASSERT_GE(all.size(), number) << service;
    const auto& got = all[number - 1];
    ASSERT_TRUE(replies->wait_matched(1));
    rtps::SampleIdentity call = got.info.sample_identity;
    call.writer_guid(got.info.related_sample_identity.writer_guid());
    replies->write(text(reply), call);
  }
  static std::string text(const std::vector<std::byte>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  std::map<std::string, std::pair<RosReader*, RosWriter*>> services_;
  std::map<std::string, std::size_t> answered_;
};

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

TEST_F(RosParamsTest, an_event_that_overtakes_a_reply_wins) {
  Gateway robot(with({{"node", "/robot"}, {"rosparams", "slow"}}));
  RosSide ros;
  RosNode node(ros, "slow");
  auto& events = ros.writer("rt/parameter_events", "rcl_interfaces::msg::dds_::ParameterEvent_");
  node.answer("list_parameters", write_listing({"rate_hz", "gone", "name"}, {}));
  node.answer("describe_parameters", write_descriptions({}, {}));
  ASSERT_TRUE(events.wait_matched(1));
  const ParamEvent event{
      "/slow", {}, {{"rate_hz", std::int64_t{2}}, {"gone", std::int64_t{2}}}, {}};
  events.write(RosNode::text(write_event(event, Time{1})));
  ASSERT_TRUE(
      eventually([&] { return seen(robot, "slow.rate_hz") == ParamVariant(std::int64_t{2}); }));
  events.write(RosNode::text(write_event({"/slow", {}, {}, {"gone"}}, Time{2})));
  ASSERT_TRUE(eventually([&] { return !seen(robot, "slow.gone").has_value(); }));
  node.answer("get_parameters",
              write_values({std::int64_t{1}, std::int64_t{1}, std::string("base")}));
  ASSERT_TRUE(eventually([&] { return seen(robot, "slow.name").has_value(); }));
  EXPECT_EQ(seen(robot, "slow.rate_hz"), ParamVariant(std::int64_t{2}));
  EXPECT_FALSE(seen(robot, "slow.gone").has_value());
}

// DDS connects each topic by itself: an event before the match is lost.
TEST_F(RosParamsTest, a_value_that_changed_before_its_events_arrive_is_read_again) {
  Gateway robot(with({{"node", "/robot"}, {"rosparams", "slow"}}));
  RosSide ros;
  RosNode node(ros, "slow");
  const auto answer = [&](std::int64_t rate) {
    node.answer("list_parameters", write_listing({"rate_hz"}, {}));
    node.answer("describe_parameters", write_descriptions({}, {}));
    node.answer("get_parameters", write_values({rate}));
    return eventually([&] { return seen(robot, "slow.rate_hz") == ParamVariant(rate); });
  };
  ASSERT_TRUE(answer(1));
  const Time read = monotonic_now();
  ros.writer("rt/parameter_events", "rcl_interfaces::msg::dds_::ParameterEvent_");
  ASSERT_TRUE(eventually([&] { return node.requests("list_parameters") == 2; }));
  EXPECT_LT(monotonic_now() - read, RosParams::kRefresh) << "the request of every node";
  EXPECT_TRUE(answer(2));
}

TEST_F(RosParamsTest, parameters_with_one_name_in_the_robot_are_noted) {
  ros_nodes().put("ns", "a.b", std::int64_t{1});
  Gateway robot(with({{"node", "/robot"}, {"rosparams", "ns*"}}));
  ASSERT_TRUE(eventually([&] { return seen(robot, "ns.a.b").has_value(); }));
  RosSide ros;
  RosNode node(ros, "ns/a");
  node.answer("list_parameters", write_listing({"b"}, {}));
  node.answer("describe_parameters", write_descriptions({}, {}));
  node.answer("get_parameters", write_values({std::int64_t{2}}));
  EXPECT_TRUE(eventually([&] { return robot.facade.clients().counted("unsupported") == 1; }));
  EXPECT_EQ(seen(robot, "ns.a.b"), ParamVariant(std::int64_t{1}));
}

TEST_F(RosParamsTest, a_description_of_any_bytes_keeps_the_parameter) {
  Gateway robot(with({{"node", "/robot"}, {"rosparams", "odd"}}));
  RosSide ros;
  RosNode node(ros, "odd");
  node.answer("list_parameters", write_listing({"b"}, {}));
  ParamInfo info;
  info.value = std::int64_t{2};
  info.description = "bell \a, " + std::string(5000, '\xff');
  node.answer("describe_parameters", write_descriptions({"b"}, {&info}));
  node.answer("get_parameters", write_values({std::int64_t{2}}));
  ASSERT_TRUE(eventually([&] { return seen(robot, "odd.b").has_value(); }));
  const std::string about = robot.facade.parameters().nodes().described("odd.b");
  EXPECT_TRUE(about.starts_with("Parameter of ROS 2: /odd b. bell  , "));
  EXPECT_LE(about.size(), 4096U);
  EXPECT_GT(about.size(), 4090U);
  EXPECT_TRUE(is_utf8(about));
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
