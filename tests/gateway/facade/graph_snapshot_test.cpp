#include "gateway/facade/graph_snapshot.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gateway/facade/channel_names.hpp"
#include "hyphos/envelope.hpp"

namespace hyphos::gateway {
namespace {

EndpointInfo publisher(const std::string& node, const std::string& channel,
                       const std::string& type = "Scan") {
  EndpointInfo info;
  info.channel = channel;
  info.node = node;
  info.type_name = type;
  info.is_publisher = true;
  return info;
}
EndpointInfo subscriber(const std::string& node, const std::string& channel,
                        const std::string& type = "Scan") {
  EndpointInfo info = publisher(node, channel, type);
  info.is_publisher = false;
  return info;
}
ProcessInfo process(const std::string& name, std::int32_t pid,
                    std::vector<EndpointInfo> endpoints) {
  ProcessInfo info;
  info.name = name;
  info.pid = pid;
  info.participant = static_cast<std::uint64_t>(pid) * 10;
  info.endpoints = std::move(endpoints);
  return info;
}
/// As the gateway's node "gateway" in the process "robot" sees these processes.
GraphSnapshot seen(std::vector<ProcessInfo> processes) {
  return {std::move(processes), {1, "robot", "gateway"}};
}

TEST(GraphSnapshot, an_empty_graph_answers_every_query) {
  const GraphSnapshot graph = seen({});
  EXPECT_FALSE(graph.find("scan"));
  EXPECT_EQ(graph.call_type(kServices, "reset"), "");
  EXPECT_EQ(graph.policy_here("scan").depth, Policy().depth);
  EXPECT_TRUE(graph.count_publishers("scan").empty());
  EXPECT_FALSE(graph.is_served(kServices, "reset"));
  EXPECT_TRUE(graph.topics().empty());
  EXPECT_TRUE(graph.services(kServices).empty());
  EXPECT_TRUE(graph.nodes().empty());
}

TEST(GraphSnapshot, a_publisher_defines_the_type_of_a_channel) {
  const GraphSnapshot graph =
      seen({process("robot", 1, {subscriber("map", "scan", "Old")}),
            process("laser", 2,
                    {publisher("laser", "scan", "New"), publisher("other", "scan", "Newer")})});
  ASSERT_TRUE(graph.find("scan"));
  EXPECT_EQ(graph.find("scan")->type_name, "New") << "the first publisher";
  EXPECT_FALSE(graph.find("sca"));
}

TEST(GraphSnapshot, the_own_node_does_not_replace_another_endpoint) {
  const EndpointInfo own = publisher("gateway", "scan", "Own");
  const EndpointInfo other = subscriber("map", "scan", "Other");
  EXPECT_EQ(seen({process("robot", 1, {own})}).find("scan")->type_name, "Own");
  EXPECT_EQ(seen({process("robot", 1, {other, own})}).find("scan")->type_name, "Other");
}

TEST(GraphSnapshot, the_policy_is_that_of_a_publisher_in_this_process) {
  EndpointInfo here = publisher("camera", "scan");
  here.policy.depth = 7;
  EndpointInfo there = publisher("laser", "scan");
  there.policy.depth = 3;
  const GraphSnapshot graph =
      seen({process("robot", 2, {there}), process("laser", 1, {there}),
            process("robot", 1, {subscriber("map", "scan"), publisher("map", "map"), here})});
  EXPECT_EQ(graph.policy_here("scan").depth, 7U);
}

TEST(GraphSnapshot, publishers_are_counted_by_process_and_here) {
  const GraphSnapshot graph =
      seen({process("robot", 1, {publisher("a", "scan"), publisher("b", "scan")}),
            process("laser", 2, {publisher("c", "scan"), subscriber("d", "scan")}),
            process("map", 3, {subscriber("e", "scan"), publisher("e", "map")})});
  const std::map<std::uint64_t, std::size_t> expected = {{10, 2}, {20, 1}, {kThisProcess, 2}};
  EXPECT_EQ(graph.count_publishers("scan"), expected);
}

TEST(GraphSnapshot, a_service_is_served_if_a_node_subscribes_to_requests) {
  const std::string requests = request_channel(kServices, "reset");
  const GraphSnapshot asked = seen({process("ui", 2, {publisher("ui", requests, "REQ -> REP")})});
  EXPECT_FALSE(asked.is_served(kServices, "reset"));
  EXPECT_EQ(asked.call_type(kServices, "reset"), "REQ -> REP");
  EXPECT_TRUE(asked.services(kServices).empty());

  const GraphSnapshot served =
      seen({process("arm", 2, {subscriber("arm", requests, "REQ -> REP")})});
  EXPECT_TRUE(served.is_served(kServices, "reset"));
  EXPECT_FALSE(served.is_served(kActions, "reset"));
  EXPECT_TRUE(served.services(kActions).empty());
  const auto services = served.services(kServices);
  ASSERT_EQ(services.size(), 1U);
  EXPECT_EQ(services[0].name, "/reset");
  EXPECT_EQ(services[0].node, "/arm");
  EXPECT_EQ(services[0].carries, "REQ -> REP");
  EXPECT_EQ(services[0].type, "");
}

TEST(GraphSnapshot, channels_of_replies_are_no_services) {
  const std::string replies = std::string(kServices) + "reset/reply";
  const std::string nameless = std::string(kServices) + "request";
  const GraphSnapshot graph =
      seen({process("ui", 2, {subscriber("ui", replies), subscriber("ui", nameless)})});
  EXPECT_TRUE(graph.services(kServices).empty());
}

TEST(GraphSnapshot, topics_list_their_endpoints_without_internal_channels) {
  const GraphSnapshot graph =
      seen({process("robot", 1,
                    {publisher("gateway", "scan"), subscriber("map", "scan"),
                     subscriber("map", request_channel(kServices, "reset"))}),
            process("copy", 2, {publisher("gateway", "scan")})});
  const auto topics = graph.topics();
  ASSERT_EQ(topics.size(), 1U);
  const auto& scan = topics.at("scan");
  ASSERT_EQ(scan.size(), 3U);
  EXPECT_TRUE(scan[0].own);
  EXPECT_FALSE(scan[1].own);
  EXPECT_FALSE(scan[2].own) << "a node of the same name in another process";
  EXPECT_TRUE(scan[0].info->is_publisher);
}

TEST(GraphSnapshot, nodes_are_listed_once_and_sorted) {
  const GraphSnapshot graph =
      seen({process("robot", 1, {publisher("map", "a"), subscriber("map", "b")}),
            process("laser", 2, {publisher("laser", "c")})});
  EXPECT_EQ(graph.nodes(), std::vector<std::string>({"/laser", "/map"}));
}

}  // namespace
}  // namespace hyphos::gateway
