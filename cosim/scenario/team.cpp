#include "cosim/scenario/team.hpp"

#include <algorithm>
#include <cmath>

#include "cosim/nodes/remote_robot.hpp"
#include "cosim/scenario/scenario.hpp"
#include "cosim/scenario/simulators.hpp"
#include "hyphos/plan.hpp"

namespace hyphos::cosim {
namespace {

namespace fs = std::filesystem;
using config::Problems;
using config::Section;
using config::Value;

std::vector<std::string> texts(const std::vector<config::Word>& words) {
  std::vector<std::string> all;
  for (const config::Word& word : words) all.push_back(word.text);
  return all;
}

std::vector<NodeId> read_names(const Section& section, std::string_view key,
                               const std::vector<std::string>& robots, Problems& problems) {
  std::vector<NodeId> nodes;
  for (const config::Word& word : section.words(key)) {
    const auto found = std::ranges::find(robots, word.text);
    if (found != robots.end()) {
      nodes.push_back(static_cast<NodeId>(found - robots.begin()));
      continue;
    }
    const std::vector<std::string_view> known(robots.begin(), robots.end());
    problems.error(word.source, section.path(key) + ": unknown robot '" + word.text + "'" +
                                    config::suggestion(problems, word.text, "robots are", known));
  }
  return nodes;
}

CrossingChannel read_channel(const std::string& name, const Value& value,
                             const std::vector<std::string>& robots, Problems& problems) {
  const Section section(&value, "channels." + name, problems, {"from", "to", "as"});
  CrossingChannel channel;
  channel.name = name;
  channel.as = section.text("as", "");
  channel.from = read_names(section, "from", robots, problems);
  const Value* const to = section.find("to");
  const bool everyone = to == nullptr || (to->is(Value::Kind::scalar) && to->text == "everyone");
  if (!everyone) channel.to = read_names(section, "to", robots, problems);
  return channel;
}

/// The command that runs the nodes of a robot: our program, or Python if a node is in Python.
Result<std::vector<std::string>> command(const RobotOptions& robot, const RunOptions& options) {
  auto plan = load_plan(robot.plan, {robot.settings, false, {}});
  if (!plan) return plan.error();
  for (const std::string& name : robot.nodes) {
    if (plan->node(name) != nullptr) continue;
    return Error{Code::not_found,
                 "the plan of robot '" + robot.name + "' has no node '" + name + "'",
                 robot.plan.string()};
  }
  bool python = false;
  for (const NodePlan& node : plan->nodes) {
    const auto& chosen = robot.nodes;
    if (!chosen.empty() && std::ranges::find(chosen, node.name) == chosen.end()) continue;
    python |= node.kind == NodeKind::python;
    if (node.kind == NodeKind::plugin || node.kind == NodeKind::python ||
        node.kind == NodeKind::builtin) {
      continue;
    }
    return Error{Code::unsupported,
                 "node '" + node.name +
                     (node.kind == NodeKind::gateway
                          ? "' is a gateway, whose clients cannot be stepped: "
                          : "' has its own process, which cannot be stepped: make it a "
                            "plug-in, or ") +
                     "list under `nodes` the nodes that robots." + robot.name + " runs",
                 robot.plan.string()};
  }
  std::vector<std::string> words{(program_folder(options) / "hyphos-cosim-robot").string()};
  if (python) {
    if (options.python.empty()) {
      return Error{Code::unsupported,
                   "robot '" + robot.name +
                       "' has nodes in Python: run the scenario with `hyphos cosim run`, or pass "
                       "--python INTERPRETER",
                   robot.plan.string()};
    }
    // A fixed hash seed, because the iteration order of Python's sets of strings differs between
    // processes otherwise.
    words = {"env", "PYTHONHASHSEED=0", options.python, "-m", "hyphos.cosim.robot"};
  }
  words.insert(words.end(), {"--robot", robot.name, "--plan", robot.plan.string()});
  for (const std::string& setting : robot.settings) words.insert(words.end(), {"--set", setting});
  for (const std::string& node : robot.nodes) words.insert(words.end(), {"--node", node});
  return words;
}

}  // namespace

bool Team::empty() const {
  return std::ranges::none_of(robots, [](const auto& robot) { return robot.has_value(); });
}

std::optional<RobotOptions> read_robot_nodes(const Section& robot, const std::string& name,
                                             const std::string& scenario_file) {
  if (!robot.has("plan")) {
    for (const char* key : {"nodes", "set"}) {
      if (robot.has(key)) robot.error(key, "only valid with `plan`");
    }
    return std::nullopt;
  }
  RobotOptions options;
  options.name = name;
  options.plan = fs::path(scenario_file).parent_path() / robot.text("plan", "");
  options.settings = texts(robot.words("set"));
  options.nodes = texts(robot.words("nodes"));
  return options;
}

void read_team(const Section& root, const std::vector<std::string>& robots, Team& team,
               Problems& problems) {
  const Section nodes(root.find("nodes"), "nodes", problems,
                      {"pose_channel", "pose_rate_hz", "command_channel", "timeout_s"});
  team.wiring.names = robots;
  team.wiring.pose_channel = nodes.text("pose_channel", team.wiring.pose_channel);
  team.wiring.command_channel = nodes.text("command_channel", team.wiring.command_channel);
  team.wiring.pose_rate_hz = nodes.integer("pose_rate_hz", team.wiring.pose_rate_hz, 1, 1'000'000);
  team.timeout = {std::llround(nodes.real("timeout_s", team.timeout.seconds(), 0.01, 1e5) * 1e9)};
  if (team.empty()) {
    for (const char* key : {"channels", "nodes"}) {
      if (root.has(key)) root.error(key, "only valid with robots that have a `plan`");
    }
    return;
  }
  if (root.has("traffic")) {
    root.error("traffic",
               "only valid for robots without nodes: list the messages of nodes under `channels`");
  }
  const Value* const channels = root.find("channels");
  if (channels == nullptr || !channels->is(Value::Kind::map) || channels->entries.empty()) {
    return root.error("channels", "expected a map of the channels that cross the network");
  }
  for (const config::Entry& entry : channels->entries) {
    const bool several = entry.value.is(Value::Kind::list);
    for (const Value& way : several ? entry.value.items : std::vector<Value>{entry.value}) {
      team.wiring.channels.push_back(read_channel(entry.key, way, robots, problems));
    }
  }
}

Result<std::unique_ptr<NodePrograms>> open_team(const Team& team, const RunOptions& options) {
  std::vector<std::unique_ptr<RobotNodes>> robots;
  for (const auto& robot : team.robots) {
    robots.emplace_back();
    if (!robot) continue;
    auto words = command(*robot, options);
    if (!words) return words.error();
    Worker::Options how;
    how.name = "robot '" + robot->name + "'";
    how.timeout = team.timeout;
    how.grace = team.timeout;  // nodes may write files at their end
    auto worker = Worker::start(how, *words);
    if (!worker) return worker.error();
    robots.back() = std::make_unique<RemoteRobot>(std::move(*worker));
  }
  return NodePrograms::open(team.wiring, std::move(robots));
}

}  // namespace hyphos::cosim
