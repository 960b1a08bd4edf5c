#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "gateway/ros2/cdr.hpp"
#include "gateway/ros2/entities.hpp"
#include "gateway/ros2/param_messages.hpp"
#include "tests/gateway/ros2/gateway.hpp"

namespace hyphos::gateway::ros2 {
namespace {

std::string text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A ROS tool that calls the parameter services of a node.
class PooledCallClient {
 public:
  explicit PooledCallClient(RosSide& ros, std::string node = "hyphos")
      : ros_(ros), node_(std::move(node)) {}

  std::string ask(const std::string& name, const std::string& type, const std::string& request) {
    const std::string types = "rcl_interfaces::srv::dds_::" + type;
    auto& replies = ros_.reader("rr/" + node_ + "/" + name + "Reply", types + "_Response_");
    auto& requests = ros_.writer("rq/" + node_ + "/" + name + "Request", types + "_Request_");
    EXPECT_TRUE(requests.wait_matched(1));
    EXPECT_TRUE(replies.wait_matched(1));
    rtps::SampleIdentity related;
    related.writer_guid(replies.guid());
    requests.write(request, related);
    const auto got = replies.wait(1);
    return got.empty() ? "" : got[0].bytes;
  }

 private:
  RosSide& ros_;
  const std::string node_;
};

/// True if `all` has each element of `some`.
template <class List>
bool has(const List& all, const List& some) {
  return std::ranges::all_of(
      some, [&](const auto& one) { return std::ranges::find(all, one) != all.end(); });
}

/// Waits until an event of the node arrives that has all changes of `wanted`. An event can have
/// several changes, and events from before the match of the writer are missing.
bool arrives(RosReader& events, const ParamEvent& wanted) {
  return eventually([&] {
    return std::ranges::any_of(events.wait(1), [&](const auto& got) {
      const auto event = read_event(bytes_of(got.bytes));
      return event && event->node == wanted.node && has(event->appeared, wanted.appeared) &&
             has(event->changed, wanted.changed) && has(event->deleted, wanted.deleted);
    });
  });
}

std::string names(const std::vector<std::string>& all) {
  CdrWriter writer;
  writer.count(all.size());
  for (const std::string& one : all) writer.text(one);
  return text(writer.take());
}

/// A request that sets integers.
std::string numbers(const std::vector<std::pair<std::string, std::int64_t>>& all) {
  CdrWriter writer;
  writer.count(all.size());
  for (const auto& [name, value] : all) {
    writer.text(name);
    writer.number<std::uint8_t>(2);
    writer.flag(false);
    writer.number(value);
    writer.number(0.0);
    writer.text("");
    for (int list = 0; list < 5; ++list) writer.count(0);
  }
  return text(writer.take());
}

TEST(Ros2ParamServices, a_tool_lists_and_gets_parameters_of_the_robot) {
  Gateway gateway;
  gateway.facade.parameters().nodes().put("laser", "rate_hz", std::int64_t{40});
  gateway.facade.parameters().nodes().put("base", "name", std::string("x"));
  RosSide ros;
  PooledCallClient call_client(ros);
  CdrWriter all;
  all.count(0);
  all.number<std::uint64_t>(0);
  const std::string list = call_client.ask("list_parameters", "ListParameters", text(all.take()));
  EXPECT_NE(list.find("laser.rate_hz"), std::string::npos);
  EXPECT_NE(list.find("base.name"), std::string::npos);
  const std::string types = call_client.ask("get_parameter_types", "GetParameterTypes",
                                            names({"laser.rate_hz", "base.name", "no.such"}));
  EXPECT_EQ(types.substr(4, 7), std::string("\3\0\0\0\2\4\0", 7));
  const std::string values =
      call_client.ask("get_parameters", "GetParameters", names({"laser.rate_hz"}));
  EXPECT_EQ(values.at(8), '\2');
  EXPECT_EQ(values.at(12), '\50');
  const std::string about =
      call_client.ask("describe_parameters", "DescribeParameters", names({"base.name"}));
  EXPECT_NE(about.find("base.name"), std::string::npos);
}

TEST(Ros2ParamServices, a_tool_sets_parameters_one_by_one) {
  Gateway gateway;
  gateway.facade.parameters().nodes().put("laser", "rate_hz", std::int64_t{40});
  RosSide ros;
  PooledCallClient call_client(ros);
  const std::string outcomes = call_client.ask("set_parameters", "SetParameters",
                                               numbers({{"laser.rate_hz", 50}, {"laser.none", 1}}));
  EXPECT_EQ(outcomes.substr(4, 5), std::string("\2\0\0\0\1", 5));
  EXPECT_NE(outcomes.find("the robot has no parameter 'laser.none'"), std::string::npos);
  EXPECT_EQ(gateway.facade.parameters().nodes().value("laser", "rate_hz"),
            ParamVariant(std::int64_t{50}));
  const std::string outcome =
      call_client.ask("set_parameters_atomically", "SetParametersAtomically",
                      numbers({{"laser.rate_hz", 60}, {"laser.rate_hz", 70}}));
  EXPECT_NE(outcome.find("one by one"), std::string::npos);
  EXPECT_EQ(gateway.facade.parameters().nodes().value("laser", "rate_hz"),
            ParamVariant(std::int64_t{50}));
}

TEST(Ros2ParamServices, a_node_without_parameters_returns_none) {
  Gateway gateway(with({{"params", ""}}));
  gateway.facade.parameters().nodes().put("laser", "rate_hz", std::int64_t{40});
  RosSide ros;
  PooledCallClient call_client(ros);
  const std::string values =
      call_client.ask("get_parameters", "GetParameters", names({"laser.rate_hz"}));
  EXPECT_EQ(values.substr(4, 5), std::string("\1\0\0\0\0", 5));  // one value, not set
  const std::string outcomes =
      call_client.ask("set_parameters", "SetParameters", numbers({{"laser.rate_hz", 50}}));
  EXPECT_EQ(outcomes.substr(4, 5), std::string("\1\0\0\0\0", 5));
  EXPECT_EQ(gateway.facade.parameters().nodes().value("laser", "rate_hz"),
            ParamVariant(std::int64_t{40}));
}

TEST(Ros2ParamServices, a_node_of_the_robot_is_a_node_of_ros) {
  Gateway gateway;
  auto& nodes = gateway.facade.parameters().nodes();
  nodes.put("left-arm", "laser.rate_hz", std::int64_t{40});
  nodes.put("base", "name", std::string("x"));
  RosSide ros;
  auto& info = ros.reader("ros_discovery_info",
                          "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_", {.latched = true});
  EXPECT_TRUE(eventually([&] {
    const auto got = info.wait(1);
    const auto read = read_entities(bytes_of(got.back().bytes), GidSize::iron);
    if (!read || read->nodes.size() != 3) return false;
    std::set<std::string> names;
    for (const NodeEntities& node : read->nodes) names.insert(node.name);
    return names == std::set<std::string>{"base", "hyphos", "left_arm"} &&
           read->nodes[1].readers.size() == 6 && read->nodes[1].writers.size() == 6;
  }));
  PooledCallClient arm(ros, "left_arm");
  CdrWriter all;
  all.count(0);
  all.number<std::uint64_t>(0);
  const std::string list = arm.ask("list_parameters", "ListParameters", text(all.take()));
  EXPECT_NE(list.find(std::string("laser.rate_hz\0", 14)), std::string::npos);
  EXPECT_EQ(list.find("name"), std::string::npos);
  const std::string values =
      arm.ask("get_parameters", "GetParameters", names({"laser.rate_hz", "name"}));
  EXPECT_EQ(values.at(8), '\2');
  EXPECT_EQ(values.at(12), '\50');
  const std::string outcomes =
      arm.ask("set_parameters", "SetParameters", numbers({{"laser.rate_hz", 50}, {"name", 1}}));
  EXPECT_EQ(outcomes.substr(4, 5), std::string("\2\0\0\0\1", 5));
  EXPECT_NE(outcomes.find("no parameter 'name'"), std::string::npos);
  EXPECT_EQ(nodes.value("left-arm", "laser.rate_hz"), ParamVariant(std::int64_t{50}));
}

TEST(Ros2ParamServices, a_node_that_ends_is_no_longer_a_node_of_ros) {
  Gateway gateway(with({{"param_nodes", "laser"}}));
  auto& nodes = gateway.facade.parameters().nodes();
  nodes.put("laser", "rate_hz", std::int64_t{40});
  nodes.put("base", "name", std::string("x"));
  RosSide ros;
  auto& requests = ros.writer("rq/laser/list_parametersRequest",
                              "rcl_interfaces::srv::dds_::ListParameters_Request_");
  ASSERT_TRUE(requests.wait_matched(1));
  auto& others = ros.writer("rq/base/list_parametersRequest",
                            "rcl_interfaces::srv::dds_::ListParameters_Request_");
  nodes.end("laser");
  EXPECT_TRUE(requests.wait_matched(0));
  EXPECT_TRUE(others.wait_matched(0));  // param_nodes does not select it
}

TEST(Ros2ParamServices, changes_are_events_of_the_node_and_of_the_gateway) {
  Gateway gateway;
  auto& nodes = gateway.facade.parameters().nodes();
  RosSide ros;
  auto& events = ros.reader("rt/parameter_events", "rcl_interfaces::msg::dds_::ParameterEvent_");
  ASSERT_TRUE(events.wait_matched(1));
  // The writer has matched the reader after the first event.
  std::int64_t tries = 0;
  ASSERT_TRUE(eventually([&] {
    nodes.put("match", "tries", ++tries);
    return events.count() > 0;
  }));
  using Values = std::vector<std::pair<std::string, ParamVariant>>;
  const Values first{{"rate_hz", std::int64_t{40}}};
  const Values second{{"rate_hz", std::int64_t{50}}};
  nodes.put("laser", "rate_hz", std::int64_t{40});
  EXPECT_TRUE(arrives(events, {"/laser", first, {}, {}}));
  EXPECT_TRUE(arrives(events, {"/hyphos", {{"laser.rate_hz", std::int64_t{40}}}, {}, {}}));
  nodes.put("laser", "rate_hz", std::int64_t{50});
  EXPECT_TRUE(arrives(events, {"/laser", {}, second, {}}));
  EXPECT_TRUE(arrives(events, {"/hyphos", {}, {{"laser.rate_hz", std::int64_t{50}}}, {}}));
  nodes.end("laser");
  EXPECT_TRUE(arrives(events, {"/hyphos", {}, {}, {"laser.rate_hz"}}));
}

TEST(Ros2ParamServices, the_node_of_the_gateway_has_use_sim_time) {
  Gateway gateway({}, true);
  RosSide ros;
  PooledCallClient call_client(ros);
  const std::string values =
      call_client.ask("get_parameters", "GetParameters", names({"use_sim_time"}));
  EXPECT_EQ(values.substr(4, 6), std::string("\1\0\0\0\1\1", 6));
  const std::string outcomes =
      call_client.ask("set_parameters", "SetParameters", numbers({{"use_sim_time", 0}}));
  EXPECT_EQ(outcomes.substr(4, 5), std::string("\1\0\0\0\0", 5));
  EXPECT_NE(outcomes.find("Set clock: sim in the plan"), std::string::npos);
}

TEST(Ros2ParamServices, invalid_requests_are_counted) {
  Gateway gateway;
  RosSide ros;
  auto& requests = ros.writer("rq/hyphos/list_parametersRequest",
                              "rcl_interfaces::srv::dds_::ListParameters_Request_");
  ASSERT_TRUE(requests.wait_matched(1));
  requests.write(std::string("\0\1\0\0\xFF\xFF\xFF\xFF", 8));
  EXPECT_TRUE(eventually([&] { return gateway.facade.clients().counted("call_failed") == 1; }));
}

}  // namespace
}  // namespace hyphos::gateway::ros2
