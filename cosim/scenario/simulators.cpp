#include "cosim/scenario/simulators.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <numbers>
#include <string>
#include <system_error>
#include <thread>

#include "cosim/adapter/c_adapter.hpp"
#include "cosim/network/analytic.hpp"
#include "cosim/network/cell.hpp"
#include "cosim/network/constant_delay.hpp"
#include "cosim/network/ns3/options.hpp"
#include "cosim/network/replay.hpp"
#include "cosim/physics/ahead.hpp"
#include "cosim/remote/remote.hpp"
#include "cosim/remote/serve.hpp"

namespace hyphos::cosim {
namespace {

namespace fs = std::filesystem;

// A robot in MuJoCo follows a circle from point to point.
constexpr int kCorners = 24;

Result<std::string> adapter(const RunOptions& options, const std::string& name) {
  const fs::path path = program_folder(options) / ("hyphos-cosim-" + name + ".so");
  std::error_code unreadable;
  if (fs::exists(path, unreadable)) return path.string();
  return Error{
      Code::not_found,
      "the adapter for " + name +
          " is not built: install its library with scripts/setup core cosim, then run make "
          "build",
      path.string()};
}

void add_circle(const Circle& circle, MujocoRobot& robot) {
  const auto at = [&](int corner) {
    const double turned =
        (circle.angular_speed < 0 ? -1 : 1) * 2 * std::numbers::pi * corner / kCorners;
    return Vec3{circle.centre.x + circle.radius * std::cos(circle.phase + turned),
                circle.centre.y + circle.radius * std::sin(circle.phase + turned), circle.centre.z};
  };
  robot.start = at(0);
  robot.speed = std::abs(circle.angular_speed) * circle.radius;
  robot.loop = true;
  for (int corner = 1; corner <= kCorners; ++corner) robot.waypoints.push_back(at(corner));
}

MujocoRobot robot_of(RobotKind kind, const Path& path) {
  MujocoRobot robot;
  robot.kind = kind;
  if (const auto* circle = std::get_if<Circle>(&path)) {
    add_circle(*circle, robot);
  } else if (const auto* way = std::get_if<Waypoints>(&path)) {
    robot.start = way->points.front();
    robot.speed = way->speed;
    robot.loop = way->loop;
    robot.waypoints.assign(way->points.begin() + 1, way->points.end());
    if (way->loop) robot.waypoints.push_back(way->points.front());
  } else {
    robot.start = std::get<ConstantVelocity>(path).start;
  }
  if (!robot.waypoints.empty()) {
    const Vec3 ahead = robot.waypoints.front() - robot.start;
    robot.yaw = std::atan2(ahead.y, ahead.x);
  }
  return robot;
}

/// Gazebo's transport has threads and prints, so it gets a separate process.
Result<std::unique_ptr<Physics>> gazebo_of(const Scenario& scenario, const RunOptions& options) {
  auto path = adapter(options, "gazebo");
  if (!path) return path.error();
  // The adapter's timeout is shorter, so that its more precise error comes first.
  const Worker::Options told{.name = "gazebo",
                             .timeout = scenario.gazebo.timeout + options.patience};
  auto worker = Worker::start(told, {(program_folder(options) / "hyphos-cosim-worker").string(),
                                     "--adapter", *path, "--options", to_text(scenario.gazebo)});
  if (!worker) return worker.error();
  return std::unique_ptr<Physics>(std::make_unique<RemotePhysics>(std::move(*worker)));
}

Result<std::unique_ptr<Physics>> physics_of(const Scenario& scenario, const RunOptions& options) {
  if (scenario.physics == PhysicsKind::kinematic) {
    return std::unique_ptr<Physics>(std::make_unique<Kinematic>(scenario.paths));
  }
  if (scenario.physics == PhysicsKind::gazebo) return gazebo_of(scenario, options);
  MujocoOptions told;
  const auto& boxes = scenario.scene.boxes();
  // The other boxes enclose the meshes, which MuJoCo gets as meshes.
  told.boxes.assign(boxes.begin(),
                    boxes.begin() + static_cast<std::ptrdiff_t>(scenario.world.solid_boxes));
  told.colors = scenario.world.colors;
  told.terrain = scenario.world.terrain;
  told.meshes = scenario.world.meshes;
  for (std::size_t i = 0; i < scenario.paths.size(); ++i) {
    told.robots.push_back(robot_of(scenario.kinds[i], scenario.paths[i]));
    told.robots.back().name = scenario.robots[i];
    told.robots.back().model = scenario.robot_models[i];
  }
  auto path = adapter(options, "mujoco");
  if (!path) return path.error();
  auto library = load_adapter(*path);
  if (!library) return library.error();
  auto physics = open_physics(**library, to_text(told));
  const bool alone = std::thread::hardware_concurrency() < 2;
  if (!physics || !options.ahead || alone || scenario.paced() || !scenario.team.empty())
    return physics;
  return std::unique_ptr<Physics>(std::make_unique<Ahead>(std::move(*physics), scenario.step));
}

std::unique_ptr<Network> built_in(const Scenario& scenario) {
  if (scenario.network == NetworkKind::replay) return std::make_unique<Replay>(scenario.recording);
  if (scenario.network == NetworkKind::ideal)
    return std::make_unique<ConstantDelay>(scenario.delay);
  const RadioKind* const kind = find_radio(scenario.radio.kind);
  if (kind != nullptr && kind->cellular) {
    return std::make_unique<CellNetwork>(scenario.radio, &scenario.scene);
  }
  return std::make_unique<AnalyticRadio>(scenario.radio, &scenario.scene);
}

Result<std::unique_ptr<Worker>> radio_process(const Scenario& scenario, const RunOptions& options) {
  if (scenario.network != NetworkKind::ns3) {
    return Worker::fork(
        {.name = "the radio", .timeout = options.patience}, [&](IpcChannel& channel) {
          std::signal(SIGINT, SIG_IGN);  // Ctrl-C is for the run, which ends this process
          serve(channel, *built_in(scenario));
        });
  }
  auto path = adapter(options, "ns3");
  if (!path) return path.error();
  const Ns3Options told{scenario.radio, scenario.transport, scenario.models, scenario.scene.boxes(),
                        scenario.world.terrain};
  return Worker::start({.name = "ns3", .timeout = options.patience},
                       {(program_folder(options) / "hyphos-cosim-worker").string(), "--adapter",
                        *path, "--options", to_text(told)});
}

/// ns-3 has process-wide state, so it always gets a separate process.
Result<std::unique_ptr<Network>> radio_of(const Scenario& scenario, const RunOptions& options) {
  if (scenario.network != NetworkKind::ns3 && !options.radio_process) return built_in(scenario);
  auto worker = radio_process(scenario, options);
  if (!worker) return worker.error();
  return std::unique_ptr<Network>(std::make_unique<RemoteNetwork>(std::move(*worker)));
}

Result<std::unique_ptr<Network>> network_of(const Scenario& scenario, const RunOptions& options) {
  auto network = radio_of(scenario, options);
  const bool outages =
      std::ranges::any_of(scenario.off, [](const auto& off) { return !off.empty(); });
  if (!network || !outages) return network;
  return std::unique_ptr<Network>(std::make_unique<Outages>(std::move(*network), scenario.off));
}

}  // namespace

fs::path program_folder(const RunOptions& options) {
  if (!options.programs.empty()) return options.programs;
  std::error_code unknown;
  return fs::read_symlink("/proc/self/exe", unknown).parent_path();
}

Result<void> find_simulators(const Scenario& scenario, const RunOptions& options) {
  if (scenario.network == NetworkKind::ns3) {
    if (auto path = adapter(options, "ns3"); !path) return path.error();
  }
  if (scenario.physics != PhysicsKind::kinematic) {
    if (auto path = adapter(options, std::string(to_string(scenario.physics))); !path) {
      return path.error();
    }
  }
  return success();
}

Result<Simulators> open_simulators(const Scenario& scenario, const RunOptions& options) {
  // The fork must precede any library that may start threads.
  auto network = network_of(scenario, options);
  if (!network) return network.error();
  auto physics = physics_of(scenario, options);
  if (!physics) return physics.error();
  return Simulators{std::move(*physics), std::move(*network)};
}

}  // namespace hyphos::cosim
