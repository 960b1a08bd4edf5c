#include <gtest/gtest.h>

#include <string>

#include "gateway/ros2/entities.hpp"
#include "gateway/ros2/participant.hpp"
#include "tests/gateway/ros2/gateway.hpp"

namespace hyphos::gateway::ros2 {
namespace {

const std::string kEntities = "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_";

/// The parameter services of every node: a reader and a writer for each. Besides, the gateway's
/// node has a writer and a reader of parameter_events.
constexpr std::size_t kParamServices = 6;

std::string code_of(Options options) {
  FakeGraph facade;
  const auto opened = open_ros2(facade, options);
  return opened ? "opened" : opened.error().to_string();
}

TEST(Ros2Node, ros_sees_the_node_with_its_endpoints) {
  Gateway gateway(with({{"node", "/robots/first"}}));
  const auto publisher = gateway.publisher("/status");
  RosSide ros;
  auto& info = ros.reader("ros_discovery_info", kEntities, {.latched = true});
  ros.writer("rt/chat", kString);
  ASSERT_TRUE(eventually([&] {
    const auto got = info.wait(1);
    if (got.empty()) return false;
    const auto read = read_entities(bytes_of(got.back().bytes), GidSize::iron);
    return read && read->nodes.size() == 1 && read->nodes[0].name_space == "/robots" &&
           read->nodes[0].name == "first" && read->nodes[0].readers.size() == 2 + kParamServices &&
           read->nodes[0].writers.size() == 2 + kParamServices;
  }));
}

TEST(Ros2Node, gids_are_longer_for_humble) {
  Gateway gateway(with({{"distro", "humble"}}));
  RosSide ros;
  const auto got = ros.reader("ros_discovery_info", kEntities, {.latched = true}).texts(1).at(0);
  EXPECT_EQ(got.size(), 4U + 24 + 4 + 8 + 12 + 4 + 4 + (2 * kParamServices + 2) * 24);
}

TEST(Ros2Node, a_ros_server_has_the_name_of_its_node) {
  Gateway gateway;
  RosSide ros;
  auto& info = ros.writer("ros_discovery_info", kEntities, {.latched = true});
  auto& requests = ros.reader("rq/setRequest", "std_srvs::srv::dds_::SetBool_Request_");
  const auto bytes = write_entities(
      {gid_of(ros.guid()), {{"/", "switch", {gid_of(requests.guid())}, {}}}}, GidSize::iron);
  info.write(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  ASSERT_TRUE(info.wait_matched(1));
  ASSERT_EQ(info.writer->wait_for_acknowledgments({30, 0}), ReturnCode_t::RETCODE_OK);
  ros.writer("rr/setReply", "std_srvs::srv::dds_::SetBool_Response_");
  ASSERT_TRUE(eventually([&] { return !gateway.facade.services().list().empty(); }));
  EXPECT_EQ(gateway.facade.services().list().at(0).node, "ros2 /switch");
}

TEST(Ros2Node, wrong_options_are_named_with_their_valid_values) {
  const auto says = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  says(code_of(with({{"domain_id", "233"}})), "0 to 232");
  says(code_of(with({{"domane", "1"}})), "It has: actions, best_effort, call_timeout_s, calls");
  says(code_of(with({{"node", "no node"}})), "/hyphos");
  says(code_of(with({{"distro", "7"}})), "jazzy");
  says(code_of(with({{"shared_memory", "yes"}})), "true or false");
  says(code_of(with({{"call_timeout_s", "-1"}})), "number of seconds");
  Options port;
  port.port = 7400;
  says(code_of(port), "domain_id");
  Options tokens;
  tokens.tokens = {{"secret"}};
  says(code_of(tokens), "unsupported");
}

TEST(Ros2Node, the_address_contains_the_domain) {
  Gateway gateway;
  EXPECT_EQ(gateway.protocol->address(), "dds://127.0.0.1/" + std::to_string(test_domain()));
  EXPECT_EQ(gateway.protocol->port(), 7400 + 250 * test_domain());
}

}  // namespace
}  // namespace hyphos::gateway::ros2
