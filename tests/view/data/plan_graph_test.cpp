#include "view/core/plan_graph.hpp"

#include <gtest/gtest.h>

namespace hyphos::view {
namespace {

GraphSnapshot recorded() {
  GraphSnapshot made;
  made.channels.resize(2);
  made.channels[0].name = "scan";
  made.channels[0].rate_hz = 20;
  made.channels[1].name = "free";
  return made;
}

constexpr const char* kPlan = R"({
  "processes": [{"name": "body", "host": "ugv"}, {"name": "brain", "host": ""}],
  "nodes": [{"name": "world", "process": "body"}, {"name": "mapper", "process": "brain"},
            {"name": "world", "process": "again"}],
  "channels": [
    {"name": "scan", "publishers": ["world"], "subscribers": ["mapper", "of no node"]},
    {"name": "free", "publishers": null, "subscribers": null},
    {"name": "silent", "publishers": ["world"], "subscribers": []}]})";

TEST(PlanGraph, HasTheNodesAndEndpointsOfRecordedChannels) {
  GraphSnapshot graph = recorded();
  add_plan(graph, kPlan);
  ASSERT_EQ(graph.nodes.size(), 2U);
  EXPECT_EQ(graph.nodes[0].process, "body");
  EXPECT_EQ(graph.nodes[0].host, "ugv");
  ASSERT_EQ(graph.edges.size(), 2U);
  EXPECT_TRUE(graph.edges[0].publishes);
  EXPECT_EQ(graph.edges[0].node, 0U);
  EXPECT_EQ(graph.edges[0].rate_hz, 20);
  EXPECT_FALSE(graph.edges[1].publishes);
  EXPECT_EQ(graph.edges[1].node, 1U);
  EXPECT_EQ(graph.channels[0].publishers, 1U);
  EXPECT_EQ(graph.channels[0].subscribers, 1U);
  EXPECT_EQ(graph.channels.size(), 2U) << "a channel without messages is left out";
}

TEST(PlanGraph, OfADamagedPlanIsEmpty) {
  const std::string whole = kPlan;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    GraphSnapshot graph = recorded();
    add_plan(graph, whole.substr(0, size));
    EXPECT_TRUE(graph.nodes.empty()) << size;
  }
  for (const char* text :
       {"[]", "{}", R"({"nodes": 7, "channels": {"a": []}, "processes": null})",
        R"({"nodes": [3], "channels": [{"name": "scan", "publishers": [1]}]})"}) {
    GraphSnapshot graph = recorded();
    add_plan(graph, text);
    EXPECT_TRUE(graph.edges.empty()) << text;
  }
}

}  // namespace
}  // namespace hyphos::view
