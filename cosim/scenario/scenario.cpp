#include "cosim/scenario/scenario.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/config.hpp"
#include "base/config_reader.hpp"
#include "cosim/methods/registry.hpp"
#include "cosim/scenario/mavlink.hpp"
#include "cosim/scenario/model.hpp"
#include "cosim/scenario/point.hpp"
#include "cosim/scenario/radio.hpp"
#include "cosim/scenario/ranges.hpp"
#include "cosim/scenario/sensors.hpp"
#include "cosim/scenario/traffic.hpp"

namespace hyphos::cosim {
namespace {

using config::Problems;
using config::Section;
using config::Value;

Duration from_ms(double ms) { return {std::llround(ms * 1e6)}; }

Path read_circle(const Section& robot, Problems& problems) {
  const Section circle(robot.find("circle"), robot.path("circle"), problems,
                       {"centre", "radius_m", "speed", "phase"});
  if (!circle.has("centre")) circle.error("centre", "is missing: give a point [x, y, z]");
  Circle made;
  made.centre = read_point(circle, "centre", problems);
  made.radius = circle.real("radius_m", 1, 1e-3, kMostMetres);
  made.angular_speed = circle.real("speed", 1, -1000, 1000) / made.radius;
  made.phase = circle.real("phase", 0, -1000, 1000);
  return made;
}

Path read_waypoints(const Section& robot, Problems& problems) {
  const Value& list = *robot.find("waypoints");
  Waypoints made;
  made.speed = robot.real("speed", 1, 0, 1000);
  made.loop = robot.boolean("loop", false);
  if (!list.is(Value::Kind::list) || list.items.size() < 2) {
    robot.error("waypoints", "expected a list of at least two points");
    return made;
  }
  for (const Value& point : list.items) {
    made.points.push_back(read_point(&point, robot.path("waypoints"), problems));
  }
  return made;
}

void read_gazebo(const Section& physics, Scenario& scenario) {
  constexpr std::array<const char*, 5> kKeys{"world", "messages", "partition", "pose_topic",
                                             "timeout_ms"};
  GazeboOptions& to = scenario.gazebo;
  const auto word = [&](const char* key, std::string& text) {
    text = physics.text(key, text);
    if (text.find_first_of(" \t\n;") != std::string::npos) physics.error(key, "must be one word");
  };
  if (scenario.physics != PhysicsKind::gazebo) {
    for (const char* key : kKeys) {
      if (physics.has(key)) physics.error(key, "only valid with `physics.simulator: gazebo`");
    }
    return;
  }
  word("world", to.world);
  word("partition", to.partition);
  word("pose_topic", to.pose_topic);
  to.messages = physics.choice<GazeboMessages>(
      "messages", GazeboMessages::ignition,
      {{"ignition", GazeboMessages::ignition}, {"gz", GazeboMessages::gz}});
  to.timeout = Duration::from_ms(physics.integer("timeout_ms", 5000, 10, 600'000));
  const std::int64_t step_ns = scenario.step.numerator();
  if (scenario.step.denominator() != 1 || step_ns % 1000 != 0 || step_ns < 100'000) {
    physics.error("rate_hz", "the steps of Gazebo must be whole microseconds, at least 100");
  }
  to.step = {step_ns};
}

void read_robots(const Section& root, const std::string& file, Scenario& scenario,
                 Problems& problems) {
  const Value* robots = root.find("robots");
  if (robots == nullptr || !robots->is(Value::Kind::map) || robots->entries.size() < 2) {
    return root.error("robots", "expected a map of at least two robots");
  }
  for (const config::Entry& entry : robots->entries) {
    const Section robot(
        &entry.value, "robots." + entry.key, problems,
        {"kind", "at", "velocity", "circle", "waypoints", "speed", "loop", "run", "plan", "nodes",
         "set", "antenna", "body", "off_s", "model", "sensors", "mavlink"});
    scenario.radio.antennas.push_back(read_antenna(robot, problems));
    scenario.commands.push_back(read_command(robot));
    scenario.off.push_back(read_off_times(robot));
    scenario.robots.push_back(entry.key);
    scenario.team.robots.push_back(read_robot_nodes(robot, entry.key, file));
    read_body(robot, entry.key, file, scenario.commands.back(), scenario.team, problems);
    scenario.kinds.push_back(robot.choice<RobotKind>(
        "kind", RobotKind::ugv, {{"ugv", RobotKind::ugv}, {"uav", RobotKind::uav}}));
    const int ways = (robot.has("at") ? 1 : 0) + (robot.has("circle") ? 1 : 0) +
                     (robot.has("waypoints") ? 1 : 0);
    if (scenario.physics == PhysicsKind::gazebo) {
      if (ways != 0)
        problems.error(
            entry.source,
            "robots." + entry.key + ": Gazebo moves the model with this name: leave it empty: {}");
      if (entry.key.find_first_of(" \t\n;") != std::string::npos) {
        problems.error(entry.source, "robots." + entry.key + ": must be one word");
      }
      scenario.gazebo.models.push_back(entry.key);
      scenario.paths.emplace_back(ConstantVelocity{});
    } else if (ways != 1) {
      problems.error(entry.source,
                     "robots." + entry.key +
                         ": needs one of `at` (a point, with `velocity` if it moves), "
                         "`circle` and `waypoints`");
      scenario.paths.emplace_back(ConstantVelocity{});
    } else if (robot.has("circle")) {
      scenario.paths.push_back(read_circle(robot, problems));
    } else if (robot.has("waypoints")) {
      scenario.paths.push_back(read_waypoints(robot, problems));
    } else {
      scenario.paths.emplace_back(ConstantVelocity{read_point(robot, "at", problems),
                                                   read_point(robot, "velocity", problems)});
    }
    scenario.mavlink.push_back(
        read_mavlink(robot, scenario.kinds.back(), scenario.mavlink.size(), problems));
    scenario.team.sensing.push_back(read_sensors(
        robot, scenario.team.bodies.back(), scenario.physics == PhysicsKind::mujoco, problems));
    scenario.robot_models.push_back(
        read_model(robot, file, scenario.physics == PhysicsKind::mujoco, problems));
    for (const char* key : {"speed", "loop"}) {
      if (robot.has(key) && !robot.has("waypoints"))
        robot.error(key, "only valid with `waypoints`");
    }
    if (robot.has("velocity") && !robot.has("at")) robot.error("velocity", "only valid with `at`");
    if (robot.has("velocity") && scenario.physics == PhysicsKind::mujoco) {
      robot.error("velocity",
                  "only valid with `physics.simulator: kinematic`: robots in MuJoCo have "
                  "wheels and rotors, so give `waypoints`");
    }
  }
}

/// The keys of Algorithm 1.
void read_rounds(const Section& method, Scenario& scenario) {
  scenario.loss_threshold = method.real("loss_threshold_percent", 10, 0, 100) / 100;
  scenario.most_changes = method.integer("most_changes", 10, 1, 1'000'000);
  const std::vector<std::string_view> names(scenario.robots.begin(), scenario.robots.end());
  const auto robot = [&](const char* key) {
    if (!method.has(key)) return kEveryone;
    const std::string name = method.word_of(key, "", names);
    const auto found = std::ranges::find(scenario.robots, name);
    if (found == scenario.robots.end()) return kEveryone;
    return static_cast<NodeId>(found - scenario.robots.begin());
  };
  scenario.publisher = robot("publisher");
  scenario.subscriber = robot("subscriber");
  if (scenario.publisher != kEveryone && scenario.publisher == scenario.subscriber) {
    method.error("subscriber", "must not be the publisher");
  }
}

void read_method(const Section& root, const Overrides& overrides, Scenario& scenario,
                 Problems& problems) {
  const Section method(root.find("method"), "method", problems,
                       {"name", "window_ms", "latency_budget_ms", "power_error_db",
                        "loss_threshold_percent", "most_changes", "publisher", "subscriber"});
  std::vector<std::string_view> names;
  for (const KnownMethod& known : known_methods()) names.push_back(known.name);
  scenario.method = method.word_of("name", "adaptive", names);
  if (!overrides.method.empty()) scenario.method = overrides.method;
  const double step_ms = static_cast<double>(scenario.step.at(1).value().ns) * 1e-6;
  scenario.window = from_ms(method.real("window_ms", step_ms, 1e-6, 1e6));
  scenario.latency_budget = from_ms(method.real("latency_budget_ms", 0, 0, 1e6));
  scenario.power_error_db = method.real("power_error_db", 0.5, 1e-6, 100);
  if (method.has("latency_budget_ms")) scenario.requested.latency = scenario.latency_budget;
  if (method.has("power_error_db")) scenario.requested.power_db = scenario.power_error_db;
  read_rounds(method, scenario);
  MethodOptions options{scenario.step, scenario.window};
  if (auto made = make_method(scenario.method, options); !made) {
    const Error& error = made.error();
    if (error.where == "window") return method.error("window_ms", error.message);
    problems.error({std::make_shared<const std::string>("--method"), 0, 0}, error.message);
  }
}

}  // namespace

Result<Scenario> parse_scenario(std::string_view text, const std::string& name,
                                const Overrides& overrides) {
  Problems problems;
  Value value = config::parse_yaml(text, name, problems);
  config::report_duplicates(value, problems);
  apply_settings(value, overrides.settings, problems);
  const Section root(&value, "", problems,
                     {"duration_s", "seed", "physics", "method", "world", "robots", "radio",
                      "traffic", "channels", "nodes", "realtime", "routing", "copies"});
  const Section physics(
      root.find("physics"), "physics", problems,
      {"simulator", "rate_hz", "world", "messages", "partition", "pose_topic", "timeout_ms"});
  const std::int64_t rate = physics.integer("rate_hz", 1000, 1, 1'000'000);
  Scenario scenario{.step = Step::from_rate(rate).value()};
  scenario.physics = physics.choice<PhysicsKind>("simulator", PhysicsKind::kinematic,
                                                 {{"kinematic", PhysicsKind::kinematic},
                                                  {"mujoco", PhysicsKind::mujoco},
                                                  {"gazebo", PhysicsKind::gazebo}});
  read_gazebo(physics, scenario);
  scenario.duration = from_ms(root.real("duration_s", 10, 1e-6, kMostSeconds) * 1000);
  scenario.seed = static_cast<std::uint64_t>(
      root.integer("seed", 1, 0, std::numeric_limits<std::int64_t>::max()));
  if (!overrides.seed.empty()) {
    Value given;
    given.kind = Value::Kind::scalar;
    given.text = overrides.seed;
    std::int64_t seed = -1;
    if (!config::read_integer(given, seed) || seed < 0) {
      problems.error({std::make_shared<const std::string>("--seed"), 0, 0},
                     "expected a whole number of at least 0, found '" + overrides.seed + "'");
    }
    scenario.seed = static_cast<std::uint64_t>(seed);
  }
  read_world(root, name, scenario, problems);
  read_robots(root, name, scenario, problems);
  read_radio(root, name, scenario, problems);
  if (!overrides.replay.empty()) {
    const config::Source source{std::make_shared<const std::string>("--replay"), 0, 0};
    load_recording(overrides.replay, source, scenario, problems);
  }
  read_traffic(root, name, scenario, problems);
  read_routing(root, scenario, problems);
  read_team(root, scenario.robots, scenario.team, problems);
  read_method(root, overrides, scenario, problems);
  scenario.realtime = read_realtime(root, scenario.step.longest(), scenario.robots, problems);
  if (scenario.routing.protocol == RoutingProtocol::babel && scenario.realtime.prefix6 == 0) {
    root.error("routing", "babel needs IPv6: remove `realtime.subnet6: none`");
  }
  if (problems.failed()) return problems.to_error();
  return scenario;
}

Result<Scenario> load_scenario(const std::string& path, const Overrides& overrides) {
  auto text = config::read_file(path);
  if (!text) return text.error();
  return parse_scenario(*text, path, overrides);
}

}  // namespace hyphos::cosim
