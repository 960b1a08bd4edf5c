#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "hyphos/plan.hpp"

namespace hyphos {
namespace {

constexpr const char* kTwoHosts = R"(hyphos: 1
hosts: {a: {address: 10.0.0.1}, b: {address: 10.0.0.2}}
processes: {one: {host: a}, two: {host: b}}
nodes:
  planner: {process: one, services: [plan], goals: [drive]}
  driver: {process: two, calls: [plan], actions: [drive], remap: {make_plan: plan}}
channels:
  scan: {publishers: [planner], subscribers: []}
)";

std::string error_of(const std::string& nodes) {
  const auto plan = parse_plan("hyphos: 1\nnodes:\n" + nodes, "r.yaml");
  return plan ? "" : plan.error().to_string();
}

TEST(PlanCalls, a_plan_lists_servers_and_clients) {
  const Plan plan = parse_plan(kTwoHosts, "r.yaml").or_throw();
  ASSERT_EQ(plan.calls.size(), 2U);
  const CallPlan* service = plan.call("plan", false);
  ASSERT_NE(service, nullptr);
  EXPECT_EQ(service->server, "planner");
  EXPECT_EQ(service->clients, std::vector<std::string>{"driver"});
  EXPECT_EQ(service->source.to_string(), "r.yaml:5:38");
  const CallPlan* action = plan.call("drive", true);
  ASSERT_NE(action, nullptr);
  EXPECT_EQ(action->server, "driver");
  EXPECT_EQ(plan.call("plan", true), nullptr);
  EXPECT_EQ(plan.node("driver")->channel_for("make_plan"), "plan");
}

TEST(PlanCalls, calls_use_both_directions_between_hosts) {
  const Plan plan = parse_plan(kTwoHosts, "r.yaml").or_throw();
  const std::string request = call_channel_base("plan", false) + "/request";
  const std::string reply = call_channel_base("plan", false) + "/reply";
  const Connections one = connections(plan, "one").or_throw();
  const Connections two = connections(plan, "two").or_throw();
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  ASSERT_EQ(one.binds.size(), 1U);
  ASSERT_EQ(two.binds.size(), 1U);
  EXPECT_TRUE(has(one.binds[0].channels, reply));
  EXPECT_FALSE(has(one.binds[0].channels, request));
  EXPECT_TRUE(has(two.binds[0].channels, request));
  ASSERT_EQ(one.peers.size(), 1U);
  EXPECT_TRUE(has(one.peers[0].channels, request));
  EXPECT_TRUE(one.channel(request)->uses("zmq"));
}

TEST(PlanCalls, calls_are_printed_as_services_and_not_as_channels) {
  const Plan plan = parse_plan(kTwoHosts, "r.yaml").or_throw();
  const std::string text = to_text(plan);
  EXPECT_NE(text.find("SERVICE  KIND     SERVER   CLIENTS  BY\n"
                      "plan     service  planner  driver   zmq\n"
                      "drive    action   driver   planner  zmq\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("tcp://10.0.0.1:5550: service plan, action drive"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("hyphos/"), std::string::npos);
  const std::string json = to_json(plan);
  EXPECT_NE(json.find("\"services\""), std::string::npos);
  EXPECT_NE(json.find("\"server\": \"planner\""), std::string::npos) << json;
  const std::string dot = to_dot(plan);
  EXPECT_EQ(dot.find("hyphos/"), std::string::npos);
  EXPECT_NE(dot.find("label=\"plan\""), std::string::npos);
}

TEST(PlanCalls, mistakes_are_refused) {
  EXPECT_EQ(error_of("  a: {services: [x]}\n  b: {services: [x]}\n"),
            "r.yaml:4:18: nodes.b.services: 'x' is one of node 'a' already, at r.yaml:3:18. "
            "Keep one [invalid_config]");
  EXPECT_EQ(error_of("  a: {services: [plan]}\n  b: {calls: [plam]}\n"),
            "r.yaml:4:15: nodes.b.calls: no node of the plan offers 'plam' (did you mean 'plan'?). "
            "Name it under services of a node [invalid_config]");
  EXPECT_EQ(error_of("  a: {services: [x], goals: [x]}\n"),
            "r.yaml:3:30: nodes.a.goals: no node of the plan offers 'x' (there are no actions). "
            "Name it under actions of a node [invalid_config]");
  EXPECT_EQ(error_of("  a: {services: [x, x]}\n"),
            "r.yaml:3:21: nodes.a.services: 'x' is listed twice [invalid_config]");
  EXPECT_NE(error_of("  a: {actions: [/x]}\n").find("a service's name does not begin with '/'"),
            std::string::npos);
  EXPECT_NE(error_of("  a: {services: [hyphos/x]}\n").find("services named hyphos are reserved"),
            std::string::npos);
  EXPECT_EQ(error_of("  a: {services: [x], actions: [x]}\n"),
            "");  // a service and an action may share a name
}

}  // namespace
}  // namespace hyphos
