#include "cosim/scenario/team.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "cosim/nodes/remote_robot.hpp"
#include "cosim/outside/dds_domain.hpp"
#include "cosim/scenario/scenario.hpp"
#include "cosim/scenario/simulators.hpp"
#include "hyphos/plan.hpp"

namespace hyphos::cosim {
namespace {

namespace fs = std::filesystem;
using config::Problems;
using config::Section;
using config::Value;

/// Until the process of a robot with real programs has loaded and begins to wait for them.
constexpr Duration kStart = Duration::from_ms(30'000);

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

CrossingChannel read_crossing(const std::string& name, const Value& value,
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

/// The word `hyphos` stands for the command of this installation.
void add_command(std::vector<std::string>& words, const char* option,
                 const std::vector<std::string>& command, const std::string& python) {
  const auto add = [&](const std::string& word) { words.insert(words.end(), {option, word}); };
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (i > 0 || command[i] != "hyphos") {
      add(command[i]);
    } else {
      for (const char* word : {"-m", "hyphos"}) {
        if (word[0] == '-') add(python);
        add(word);
      }
    }
  }
}

/// A gateway of its own for each robot: its own master of ROS 1, or its own domain of ROS 2.
std::vector<std::string> gateway_command(const BodyOptions& body, NodeId node,
                                         const std::string& domain) {
  std::vector<std::string> words{"hyphos", "gateway"};
  words.insert(words.end(), body.gateway.begin(), body.gateway.end());
  const auto has = [&](std::string_view text) {
    return std::ranges::any_of(body.gateway, [&](const std::string& word) {
      return word.find(text) != std::string::npos;
    });
  };
  if (body.gateway.front() == "ros1" && !has("master_uri=")) {
    if (!has("--master")) words.emplace_back("--master");
    if (!has("master_port=")) words.insert(words.end(), {"--set", "master_port=0"});
  }
  if (body.gateway.front() == "ros2" && !has("domain_id=")) {
    const std::string free = std::to_string(free_dds_domain(node));
    words.insert(words.end(), {"--set", "domain_id=" + free});
  }
  words.insert(words.end(), {"--hyphos-domain", domain, "--hyphos-clock", "sim"});
  return words;
}

/// The command that runs the real programs of a robot in lock step.
Result<std::vector<std::string>> outside_command(const Scenario& scenario, NodeId node,
                                                 const NodePrograms::Options& wiring,
                                                 const RunOptions& options) {
  const RealPrograms& programs = *scenario.team.programs[node];
  const BodyOptions& body = *scenario.team.bodies[node];
  const bool python = !body.gateway.empty() || programs.run.front() == "hyphos";
  if (python && options.python.empty()) {
    return Error{Code::unsupported,
                 "robot '" + scenario.robots[node] +
                     "' has a gateway: run the scenario with `hyphos cosim run`, or pass "
                     "--python INTERPRETER",
                 "body.gateway"};
  }
  const std::string domain = "cosim-" + std::to_string(::getpid()) + "-" + std::to_string(node);
  std::vector<std::string> words{(program_folder(options) / "hyphos-cosim-outside").string(),
                                 "step"};
  const auto add = [&](const char* option, const std::string& value) {
    words.insert(words.end(), {option, value});
  };
  add("--robot", scenario.robots[node]);
  add("--domain", domain);
  add("--prefix", body.prefix);
  add("--folder", programs.folder);
  add("--pose-channel", wiring.pose_channel);
  add("--command-channel", wiring.command_channel);
  add("--clock-rate", std::to_string(body.clock_rate_hz));
  add("--rest-ns", std::to_string(body.rest.ns));
  add("--discovery-ns", std::to_string(body.discovery.ns));
  add("--timeout-ns", std::to_string(scenario.team.timeout.ns));
  add("--transforms", wiring.transforms ? "true" : "false");
  if (wiring.sensors) {
    for (const SensorChannel& sensor : wiring.sensors->channels(node)) {
      add("--sensor", to_word(sensor));
    }
  }
  for (const std::string& channel : body.wait_for) add("--wait-for", channel);
  if (!body.gateway.empty()) {
    add_command(words, "--gateway", gateway_command(body, node, domain), options.python);
  }
  add_command(words, "--run", programs.run, options.python);
  return words;
}

}  // namespace

bool Team::empty() const {
  const auto present = [](const auto& robot) { return robot.has_value(); };
  return std::ranges::none_of(robots, present) && std::ranges::none_of(programs, present);
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

void read_body(const Section& robot, const std::string& name, const std::string& scenario_file,
               const std::vector<std::string>& run, Team& team, Problems& problems) {
  team.bodies.push_back(read_body(robot, name, problems));
  std::optional<RealPrograms>& programs = team.programs.emplace_back();
  if (!team.bodies.back() || robot.has("plan") || run.empty()) return;
  programs = RealPrograms{run, fs::path(scenario_file).parent_path().string()};
}

void read_team(const Section& root, const std::vector<std::string>& robots, Team& team,
               Problems& problems) {
  const Section nodes(
      root.find("nodes"), "nodes", problems,
      {"pose_channel", "pose_rate_hz", "command_channel", "timeout_s", "transforms"});
  team.wiring.names = robots;
  team.wiring.pose_channel = nodes.text("pose_channel", team.wiring.pose_channel);
  team.wiring.command_channel = nodes.text("command_channel", team.wiring.command_channel);
  team.wiring.pose_rate_hz = nodes.integer("pose_rate_hz", team.wiring.pose_rate_hz, 1, 1'000'000);
  team.wiring.transforms = nodes.boolean("transforms", team.wiring.transforms);
  for (RobotSensing& robot : team.sensing) robot.transforms = team.wiring.transforms;
  team.timeout = {std::llround(nodes.real("timeout_s", team.timeout.seconds(), 0.01, 1e5) * 1e9)};
  const bool moved =
      std::ranges::any_of(team.bodies, [](const auto& body) { return body.has_value(); });
  if (team.empty()) {
    for (const char* key : {"channels", "nodes"}) {
      if (root.has(key) && !moved) {
        root.error(key, "only valid with robots that have a `plan` or a `body`");
      }
    }
    return;
  }
  if (root.has("traffic")) {
    root.error("traffic",
               "only valid for robots without nodes: list the messages of nodes under `channels`");
  }
  const Value* const channels = root.find("channels");
  if (channels == nullptr && moved) return;
  if (channels == nullptr || !channels->is(Value::Kind::map) || channels->entries.empty()) {
    return root.error("channels", "expected a map of the channels that cross the network");
  }
  for (const config::Entry& entry : channels->entries) {
    const bool several = entry.value.is(Value::Kind::list);
    for (const Value& way : several ? entry.value.items : std::vector<Value>{entry.value}) {
      team.wiring.channels.push_back(read_crossing(entry.key, way, robots, problems));
    }
  }
}

Result<std::shared_ptr<Sensors>> open_sensors(const Scenario& scenario, Physics& physics) {
  const auto& all = scenario.team.sensing;
  if (std::ranges::all_of(all, [](const RobotSensing& robot) { return robot.sensors.empty(); })) {
    return std::shared_ptr<Sensors>();
  }
  const bool casts = scenario.physics == PhysicsKind::mujoco;
  auto made = RobotSensors::make({&physics, &scenario.scene, casts, scenario.seed}, all);
  if (!made) return made.error();
  return std::shared_ptr<Sensors>(std::move(*made));
}

Result<std::unique_ptr<NodePrograms>> open_team(const Scenario& scenario, const RunOptions& options,
                                                Physics& physics) {
  const Team& team = scenario.team;
  NodePrograms::Options wiring = team.wiring;
  auto sensors = open_sensors(scenario, physics);
  if (!sensors) return sensors.error();
  wiring.sensors = std::move(*sensors);
  for (const auto& body : team.bodies) {
    wiring.limits.push_back(body ? body->limits : CommandLimits{});
  }
  std::vector<std::unique_ptr<RobotNodes>> robots;
  for (NodeId node = 0; node < team.robots.size(); ++node) {
    robots.emplace_back();
    const auto& robot = team.robots[node];
    const bool real = node < team.programs.size() && team.programs[node].has_value();
    if (!robot && !real) continue;
    auto words = real ? outside_command(scenario, node, wiring, options) : command(*robot, options);
    if (!words) return words.error();
    Worker::Options how;
    how.name = "robot '" + scenario.robots[node] + "'";
    how.timeout = team.timeout;
    if (real) {
      // Real programs have their own time limits, with errors that name the program. The process
      // has three of them in a row, and has to start first.
      how.timeout = {3 * team.timeout.ns + 2 * team.bodies[node]->discovery.ns + kStart.ns};
    }
    how.grace = team.timeout;  // nodes may write files at their end
    how.capacity += largest_readings(team.sensing[node]);
    auto worker = Worker::start(how, *words);
    if (!worker) return worker.error();
    robots.back() = std::make_unique<RemoteRobot>(std::move(*worker), real);
  }
  return NodePrograms::open(std::move(wiring), std::move(robots));
}

}  // namespace hyphos::cosim
