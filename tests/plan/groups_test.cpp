#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "hyphos/plan.hpp"

namespace hyphos {
namespace {

constexpr const char* kGroup = R"(hyphos: 1
hosts: {a: {address: 10.0.0.1}, b: {address: 10.0.0.2}}
processes: {robot: {host: a}, spare: {host: b}, other: {host: a}}
nodes:
  camera: {python: "vision:Camera"}
  detector: {plugin: libdetector.so}
  driver: {plugin: libdriver.so, process: other}
groups:
  vision: {nodes: [camera, detector], process: robot, moves_to: [spare]}
channels:
  image: {publishers: [camera], subscribers: [detector]}
  drive: {publishers: [detector], subscribers: [driver]}
)";

std::string error_of(const std::string& group, const std::string& more = "") {
  const auto plan = parse_plan(
      "hyphos: 1\nprocesses: {one: {}, two: {}, own: {}}\n"
      "nodes:\n  camera: {plugin: c.so, process: one}\n  lidar: {plugin: l.so, process: two}\n"
      "  tool: {executable: ./tool, process: own}\n  free: {plugin: f.so}\ngroups:\n  g: " +
          group + "\n" + more,
      "r.yaml");
  return plan ? "" : plan.error().to_string();
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST(PlanGroups, a_group_places_its_nodes) {
  const Plan plan = parse_plan(kGroup, "r.yaml").or_throw();
  ASSERT_EQ(plan.groups.size(), 1U);
  const GroupPlan& group = plan.groups[0];
  EXPECT_EQ(plan.group("vision"), &group);
  EXPECT_EQ(plan.group_of("detector"), &group);
  EXPECT_EQ(plan.group_of("driver"), nullptr);
  EXPECT_EQ(group.process, "robot");
  EXPECT_TRUE(group.start);
  EXPECT_EQ(group.source.to_string(), "r.yaml:9:3");
  EXPECT_EQ(plan.node("camera")->process, "robot");
  EXPECT_EQ(plan.process("robot")->nodes, (std::vector<std::string>{"camera", "detector"}));
  EXPECT_TRUE(plan.may_run(*plan.node("camera"), "spare"));
  EXPECT_FALSE(plan.may_run(*plan.node("camera"), "other"));
  EXPECT_FALSE(plan.may_run(*plan.node("driver"), "spare"));
  EXPECT_EQ(plan.process("spare")->kind, ProcessKind::python);
  EXPECT_TRUE(plan.warnings.empty());
}

TEST(PlanGroups, an_override_places_a_group_elsewhere) {
  const PlanOptions options{{"groups.vision.process=other"}, false, {}};
  const Plan plan = parse_plan(kGroup, "r.yaml", options).or_throw();
  EXPECT_EQ(plan.node("camera")->process, "other");
  EXPECT_EQ(plan.groups[0].process, "other");
}

TEST(PlanGroups, the_plan_connects_every_process_of_a_group) {
  const Plan plan = parse_plan(kGroup, "r.yaml").or_throw();
  const Connections spare = connections(plan, "spare").or_throw();
  const Connections other = connections(plan, "other").or_throw();
  EXPECT_TRUE(spare.channel("drive")->publishes);
  EXPECT_TRUE(other.channel("drive")->uses("zmq"));
  EXPECT_TRUE(other.channel("drive")->uses("shm"));
  ASSERT_EQ(spare.binds.size(), 1U);
  EXPECT_TRUE(has(spare.binds[0].channels, "drive"));
}

TEST(PlanGroups, a_group_of_one_host_needs_no_network) {
  const PlanOptions options{{"processes.spare.host=a"}, false, {}};
  const Plan plan = parse_plan(kGroup, "r.yaml", options).or_throw();
  EXPECT_FALSE(connections(plan, "spare").or_throw().uses("zmq"));
}

TEST(PlanGroups, groups_are_printed_and_drawn) {
  const Plan plan = parse_plan(kGroup, "r.yaml").or_throw();
  const std::string text = to_text(plan);
  EXPECT_NE(text.find("vision  camera, detector  robot    spare     with the robot"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("_group"), std::string::npos) << text;
  std::string json = to_json(plan);
  std::erase_if(json, [](char c) { return c == ' ' || c == '\n'; });
  EXPECT_NE(json.find(R"("groups":[{"name":"vision","nodes":["camera","detector"],)"
                      R"("process":"robot","moves_to":["spare"],"start":true,)"),
            std::string::npos)
      << json;
  const std::string dot = to_dot(plan);
  const auto box = dot.find("subgraph \"cluster group vision robot\"");
  ASSERT_NE(box, std::string::npos) << dot;
  EXPECT_LT(dot.find("subgraph \"cluster process robot\""), box);
  const std::string inside = dot.substr(box, dot.find('}', box) - box);
  EXPECT_NE(inside.find("group vision, moves to spare"), std::string::npos) << inside;
  EXPECT_NE(inside.find("\"node camera\""), std::string::npos) << inside;
  EXPECT_EQ(inside.find("\"node driver\""), std::string::npos) << inside;
}

TEST(PlanGroups, replicas_are_members) {
  const Plan plan = parse_plan(
                        "hyphos: 1\nnodes: {worker: {plugin: w.so, replicas: 2}}\n"
                        "groups: {all: {nodes: worker}}\n",
                        "r.yaml")
                        .or_throw();
  EXPECT_EQ(plan.groups[0].nodes, (std::vector<std::string>{"worker.0", "worker.1"}));
}

TEST(PlanGroups, mistakes_are_refused_with_a_remedy) {
  const struct {
    std::string group, text, more;
  } cases[] = {
      {"{nodes: [camra]}", "groups.g.nodes: unknown node 'camra' (did you mean 'camera'?)", ""},
      {"{nodes: [camera, camera]}", "groups.g.nodes: node 'camera' is listed twice", ""},
      {"{nodes: [camera]}",
       "groups.h.nodes: node 'camera' is in group 'g' already, at r.yaml:9:3. Keep one",
       "  h: {nodes: [camera]}\n"},
      {"{}", "groups.g.nodes: missing: a group needs nodes (nodes are: camera, lidar", ""},
      {"{nodes: camera, proces: one}", "groups.g.proces: unknown key (did you mean 'process'?)",
       ""},
      {"{nodes: free, process: onee}",
       "groups.g.process: unknown process 'onee' (did you mean 'one'?)", ""},
      {"{nodes: camera, process: two}",
       "groups.g.process: 'two', but node 'camera' at r.yaml:4:3 is in process 'one'. Keep one",
       ""},
      {"{nodes: camera, moves_to: [too]}",
       "groups.g.moves_to: unknown process 'too' (did you mean 'two'?)", ""},
      {"{nodes: camera, moves_to: [two, two]}", "groups.g.moves_to: process 'two' is listed twice",
       ""},
      {"{nodes: camera, moves_to: [one]}",
       "groups.g.moves_to: process 'one' is the process of the group", ""},
      {"{nodes: [camera, lidar], moves_to: [two]}",
       "groups.g.moves_to: the nodes are in several processes (one, two). Give the group one", ""},
      {"{nodes: camera, moves_to: [own]}",
       "groups.g.moves_to: process 'own' is an executable, which runs no other node", ""},
      {"{nodes: tool, moves_to: [two]}",
       "groups.g.moves_to: node 'tool' is an executable, which is a process of its own, so it "
       "cannot move",
       ""},
  };
  for (const auto& one : cases) {
    const std::string text = error_of(one.group, one.more);
    EXPECT_NE(text.find(one.text), std::string::npos) << one.group << "\n" << text;
  }
}

TEST(PlanGroups, a_move_that_cuts_a_channel_is_refused) {
  const auto plan = parse_plan(
      "hyphos: 1\nprocesses: {one: {}, two: {}}\n"
      "nodes: {camera: {plugin: c.so, process: one}, driver: {plugin: d.so, process: one}}\n"
      "groups: {g: {nodes: camera, moves_to: two}}\n"
      "channels: {c: {scope: local, publishers: [camera], subscribers: [driver]}}\n",
      "r.yaml");
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().to_string().find(
                "channels.c: after group 'g' has moved to 'two', subscriber 'driver'"),
            std::string::npos)
      << plan.error().to_string();
}

}  // namespace
}  // namespace hyphos
