#include <gtest/gtest.h>

#include <string>

#include "base/config.hpp"
#include "hyphos/plan.hpp"

namespace hyphos {
namespace {

using config::Value;

constexpr const char* kPlan = R"(hyphos: 1
robot: tiny
hosts: {u: {address: 10.0.0.1}, v: {address: 10.0.0.2}}
processes:
  sense: {host: u, threads: 2, nodes: [world, camera]}
  drive: {host: u}
  think: {host: v}
nodes:
  world: {plugin: libw.so, params: {rate: 20, gain: 0.5, name: 'a"b', on: yes, no: null, at: [1]}}
  camera: {plugin: libw.so, remap: {image: front}}
  driver: {executable: ./driver, process: drive}
  mapper: {python: m:C, process: think}
channels:
  truth: {publishers: [world], subscribers: [camera]}
  scan: {type: T, publishers: [world], subscribers: [driver, mapper]}
  front: {latched: true}
data_graph: {close_channels: [front]}
)";

Plan tiny() { return parse_plan(kPlan, "r.yaml").or_throw(); }

/// JSON is a subset of YAML, so the reader of plans can read it.
Value read_back(const std::string& json) {
  config::Problems problems;
  Value root = config::parse_yaml(json, "json", problems);
  config::report_duplicates(root, problems);
  EXPECT_FALSE(problems.failed()) << problems.to_error().to_string();
  return root;
}

const Value& at(const Value& from, const std::string& path) {
  const Value* value = &from;
  std::string rest = path;
  while (!rest.empty()) {
    const std::size_t dot = rest.find('.');
    const std::string key = rest.substr(0, dot);
    rest = dot == std::string::npos ? "" : rest.substr(dot + 1);
    value = value->is(Value::Kind::list) ? &value->items.at(std::stoul(key)) : value->find(key);
    if (value == nullptr) throw std::runtime_error("no " + path);
  }
  return *value;
}

TEST(PlanJson, json_has_the_plan_and_the_derived_values) {
  const Value root = read_back(to_json(tiny()));
  EXPECT_EQ(at(root, "robot").text, "tiny");
  EXPECT_EQ(at(root, "hosts.1.address").text, "10.0.0.2");
  EXPECT_EQ(at(root, "processes.0.threads").text, "2");
  EXPECT_EQ(at(root, "processes.1.kind").text, "executable");
  EXPECT_EQ(at(root, "processes.0.connections.binds.0.endpoint").text, "tcp://10.0.0.1:5550");
  EXPECT_EQ(at(root, "processes.2.connections.peers.0.process").text, "sense");
  EXPECT_EQ(at(root, "processes.2.connections.peers.0.channels.0").text, "scan");
  EXPECT_EQ(at(root, "channels.1.routes.0.route").text, "shm");
  EXPECT_EQ(at(root, "channels.1.routes.1.route").text, "zmq");
  EXPECT_EQ(at(root, "channels.0.routes.0.route").text, "pointer");
  EXPECT_TRUE(at(root, "channels.2.publishers").is(Value::Kind::null));
  EXPECT_EQ(at(root, "channels.2.closed").text, "false");
  EXPECT_EQ(at(root, "channels.2.open").text, "outside");
  EXPECT_EQ(at(root, "channels.2.source").text, "r.yaml:16:3");
  EXPECT_EQ(at(root, "nodes.3.python_class").text, "C");
}

TEST(PlanJson, params_keep_their_types) {
  const Value root = read_back(to_json(tiny()));
  const Value& params = at(root, "nodes.0.params");
  EXPECT_TRUE(at(params, "rate").plain);
  EXPECT_EQ(at(params, "rate").text, "20");
  EXPECT_EQ(at(params, "gain").text, "0.5");
  EXPECT_EQ(at(params, "name").text, "a\"b");
  EXPECT_FALSE(at(params, "name").plain);
  EXPECT_EQ(at(params, "on").text, "true");
  EXPECT_TRUE(at(params, "no").is(Value::Kind::null));
  EXPECT_EQ(at(params, "at.0").text, "1");
}

TEST(PlanText, the_text_consists_of_tables) {
  EXPECT_EQ(to_text(tiny()),
            R"(robot tiny, domain 0, from r.yaml

HOST  ADDRESS   NETNS  SSH
u     10.0.0.1  -      -
v     10.0.0.2  -      -

PROCESS  HOST  KIND        THREADS                   CPUS  NODES
sense    u     native      2                         all   world, camera
drive    u     executable  one per core, at least 2  all   driver
think    v     python      one per core, at least 2  all   mapper

NODE    PROCESS  KIND        PROGRAM   REMAP
world   sense    plugin      libw.so   -
camera  sense    plugin      libw.so   image -> front
driver  drive    executable  ./driver  -
mapper  think    python      m:C       -

CHANNEL  TYPE  FROM      TO              BY                 POLICY
truth    -     world     camera          pointer            best_effort, depth 10, drop_oldest
scan     T     world     driver, mapper  shm, zmq           best_effort, depth 10, drop_oldest
front    -     any node  any node        pointer, shm, zmq  best_effort, depth 10, drop_oldest, latched, open outside at start

NETWORK
  sense sends at tcp://10.0.0.1:5550: scan, front
  sense receives from think at tcp://10.0.0.2:5552: front
  drive sends at tcp://10.0.0.1:5551: front
  drive receives from think at tcp://10.0.0.2:5552: front
  think sends at tcp://10.0.0.2:5552: front
  think receives from sense at tcp://10.0.0.1:5550: scan, front
  think receives from drive at tcp://10.0.0.1:5551: front
)");
}

bool has_line(const std::string& text, const std::string& part, const std::string& other) {
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = text.find('\n', from);
    const std::string line = text.substr(from, end - from);
    if (line.find(part) != std::string::npos && line.find(other) != std::string::npos) return true;
    if (end == std::string::npos) break;
    from = end + 1;
  }
  return false;
}

TEST(PlanDot, edges_show_their_transport) {
  const std::string dot = to_dot(tiny());
  EXPECT_TRUE(has_line(dot, R"("node world" -> "channel scan")", "solid"));
  EXPECT_TRUE(has_line(dot, R"("channel truth" -> "node camera")", "solid"));
  EXPECT_TRUE(has_line(dot, R"("channel scan" -> "node driver")", "dotted"));
  EXPECT_TRUE(has_line(dot, R"("channel scan" -> "node mapper")", "dashed"));
  EXPECT_TRUE(has_line(dot, R"("channel front")", "(open outside)"));
  EXPECT_TRUE(has_line(dot, R"(subgraph "cluster host v")", "{"));
  EXPECT_TRUE(has_line(dot, R"(subgraph "cluster process think")", "{"));
  EXPECT_TRUE(dot.starts_with("digraph \"tiny\" {\n"));
  EXPECT_TRUE(dot.ends_with("}\n"));
}

TEST(PlanDot, peers_outside_the_plan_are_drawn) {
  const Plan plan = parse_plan(
                        "network:\n  publisher: {ip: '*:1', channels: [a]}\n"
                        "  subscribers: [{ip: 'h:2', channels: [b]}]\n",
                        "r.yaml")
                        .or_throw();
  const std::string dot = to_dot(plan);
  EXPECT_TRUE(has_line(dot, R"("channel a" -> "outside tcp://*:1")", "dashed"));
  EXPECT_TRUE(has_line(dot, R"("outside tcp://h:2" -> "channel b")", "dashed"));
}

TEST(PlanDot, quotes_are_escaped) {
  const Plan plan =
      parse_plan("network: {publisher: {ip: 'ipc://a\"b\\c', channels: [x]}}\n", "r").or_throw();
  EXPECT_TRUE(has_line(to_dot(plan), R"("outside ipc://a\"b\\c")", "->"));
}

}  // namespace
}  // namespace hyphos
