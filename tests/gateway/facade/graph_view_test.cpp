#include "gateway/facade/graph_view.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
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
struct Process {
  DomainWatch::Process known;
  std::vector<EndpointInfo> endpoints;
};
Process process(const std::string& name, std::int32_t pid, std::vector<EndpointInfo> endpoints,
                std::uint64_t participant = 0) {
  if (participant == 0) participant = static_cast<std::uint64_t>(pid) * 10;
  return {{participant, pid, name}, std::move(endpoints)};
}
/// The changes that a watch reports for these processes. Endpoints have the ids 1, 2, …
DomainWatch::Changes opened(const std::vector<Process>& processes) {
  DomainWatch::Changes changes;
  std::uint64_t id = 0;
  for (const Process& one : processes) {
    changes.started.push_back(one.known);
    for (EndpointInfo info : one.endpoints) {
      info.id = ++id;
      changes.opened.emplace_back(one.known.participant, std::move(info));
    }
  }
  return changes;
}
/// As the gateway's node "gateway" in the process "robot" sees these processes.
struct Seen : GraphView {
  explicit Seen(const std::vector<Process>& processes) : GraphView(Self{1, "robot", "gateway"}) {
    apply(opened(processes));
  }
};
Seen seen(const std::vector<Process>& processes) { return Seen(processes); }

TEST(GraphView, an_empty_graph_answers_every_query) {
  const auto graph = seen({});
  EXPECT_FALSE(graph.find("scan"));
  EXPECT_EQ(graph.call(kServices, "reset").type, "");
  EXPECT_EQ(graph.policy_here("scan").depth, Policy().depth);
  EXPECT_TRUE(graph.count_publishers("scan").empty());
  EXPECT_FALSE(graph.call(kServices, "reset").served);
  EXPECT_TRUE(graph.topics().empty());
  EXPECT_TRUE(graph.services(kServices).empty());
  EXPECT_TRUE(graph.nodes().empty());
}

TEST(GraphView, a_publisher_defines_the_type_of_a_channel) {
  const auto graph =
      seen({process("robot", 1, {subscriber("map", "scan", "Old")}),
            process("laser", 2,
                    {publisher("laser", "scan", "New"), publisher("other", "scan", "Newer")})});
  ASSERT_TRUE(graph.find("scan"));
  EXPECT_EQ(graph.find("scan")->type_name, "New") << "the first publisher";
  EXPECT_FALSE(graph.find("sca"));
}

TEST(GraphView, the_own_node_does_not_replace_another_endpoint) {
  const EndpointInfo own = publisher("gateway", "scan", "Own");
  const EndpointInfo other = subscriber("map", "scan", "Other");
  EXPECT_EQ(seen({process("robot", 1, {own})}).find("scan")->type_name, "Own");
  EXPECT_EQ(seen({process("robot", 1, {other, own})}).find("scan")->type_name, "Other");
}

TEST(GraphView, the_policy_is_that_of_a_publisher_in_this_process) {
  EndpointInfo here = publisher("camera", "scan");
  here.policy.depth = 7;
  EndpointInfo there = publisher("laser", "scan");
  there.policy.depth = 3;
  const auto graph =
      seen({process("robot", 2, {there}), process("laser", 1, {there}, 77),
            process("robot", 1, {subscriber("map", "scan"), publisher("map", "map"), here})});
  EXPECT_EQ(graph.policy_here("scan").depth, 7U);
}

TEST(GraphView, publishers_are_counted_by_process_and_here) {
  const auto graph = seen({process("robot", 1, {publisher("a", "scan"), publisher("b", "scan")}),
                           process("laser", 2, {publisher("c", "scan"), subscriber("d", "scan")}),
                           process("map", 3, {subscriber("e", "scan"), publisher("e", "map")})});
  const std::map<std::uint64_t, std::size_t> expected = {{10, 2}, {20, 1}, {kThisProcess, 2}};
  EXPECT_EQ(graph.count_publishers("scan"), expected);
}

TEST(GraphView, a_service_is_served_if_a_node_subscribes_to_requests) {
  const std::string requests = request_channel(kServices, "reset");
  const auto asked = seen({process("ui", 2, {publisher("ui", requests, "REQ -> REP")})});
  EXPECT_FALSE(asked.call(kServices, "reset").served);
  EXPECT_EQ(asked.call(kServices, "reset").type, "REQ -> REP");
  EXPECT_TRUE(asked.services(kServices).empty());

  const auto served = seen({process("arm", 2, {subscriber("arm", requests, "REQ -> REP")})});
  EXPECT_TRUE(served.call(kServices, "reset").served);
  EXPECT_EQ(served.call(kServices, "reset").node, "arm");
  EXPECT_FALSE(served.call(kActions, "reset").served);
  EXPECT_TRUE(served.services(kActions).empty());
  const auto services = served.services(kServices);
  ASSERT_EQ(services.size(), 1U);
  EXPECT_EQ(services[0].name, "/reset");
  EXPECT_EQ(services[0].node, "/arm");
  EXPECT_EQ(services[0].carries, "REQ -> REP");
  EXPECT_EQ(services[0].type, "");
}

TEST(GraphView, channels_of_replies_are_no_services) {
  const std::string replies = std::string(kServices) + "reset/reply";
  const std::string nameless = std::string(kServices) + "request";
  const auto graph =
      seen({process("ui", 2, {subscriber("ui", replies), subscriber("ui", nameless)})});
  EXPECT_TRUE(graph.services(kServices).empty());
}

TEST(GraphView, topics_list_their_endpoints_without_internal_channels) {
  const auto graph = seen({process("robot", 1,
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
  EXPECT_TRUE(scan[0].info.is_publisher);
}

TEST(GraphView, nodes_are_listed_once_and_sorted) {
  const auto graph = seen({process("robot", 1, {publisher("map", "a"), subscriber("map", "b")}),
                           process("laser", 2, {publisher("laser", "c")})});
  EXPECT_EQ(graph.nodes(), std::vector<std::string>({"/laser", "/map"}));
}

TEST(GraphView, a_closed_endpoint_and_an_ended_process_are_forgotten) {
  GraphView graph({1, "robot", "gateway"});
  graph.apply(opened({process("laser", 2, {publisher("laser", "scan", "Scan")}),
                      process("map", 3, {subscriber("map", "scan", "Scan")})}));
  const std::uint64_t before = graph.version();
  DomainWatch::Changes closed;
  closed.closed = {{20, 1}, {20, 99}, {77, 1}};
  graph.apply(std::move(closed));
  ASSERT_TRUE(graph.find("scan"));
  EXPECT_EQ(graph.find("scan")->node, "map");
  EXPECT_NE(graph.version(), before);

  DomainWatch::Changes ended;
  ended.ended = {30};
  graph.apply(std::move(ended));
  EXPECT_FALSE(graph.find("scan"));
  EXPECT_TRUE(graph.nodes().empty());
}

TEST(GraphView, a_process_that_takes_the_place_of_another_is_a_new_one) {
  GraphView graph({1, "robot", "gateway"});
  graph.apply(opened({process("laser", 2, {publisher("laser", "scan", "Old")})}));
  DomainWatch::Changes changes = opened({process("laser", 3, {publisher("laser", "scan", "New")})});
  changes.ended = {20};
  graph.apply(std::move(changes));
  ASSERT_TRUE(graph.find("scan"));
  EXPECT_EQ(graph.find("scan")->type_name, "New");
  EXPECT_EQ(graph.count_publishers("scan").count(20), 0U);
}

TEST(GraphView, nodes_with_params_publish_their_own_channel) {
  const auto graph =
      seen({process("robot", 1,
                    {publisher("left-arm", "left_arm/_params"),
                     publisher("other", "camera/_params"), subscriber("map", "map/_params")})});
  EXPECT_EQ(graph.nodes_with_params(), std::set<std::string>({"left-arm"}));
}

}  // namespace
}  // namespace hyphos::gateway
