#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cosim/core/engine.hpp"
#include "cosim/mavlink/programs.hpp"
#include "cosim/network/ns3/options.hpp"
#include "cosim/network/radio_model.hpp"
#include "cosim/network/recording.hpp"
#include "cosim/physics/gazebo/options.hpp"
#include "cosim/physics/kinematic.hpp"
#include "cosim/physics/mujoco/options.hpp"
#include "cosim/programs/periodic.hpp"
#include "cosim/programs/traffic.hpp"
#include "cosim/realtime/options.hpp"
#include "cosim/remote/worker.hpp"
#include "cosim/scenario/mcap_trace.hpp"
#include "cosim/scenario/record.hpp"
#include "cosim/scenario/routing.hpp"
#include "cosim/scenario/settings.hpp"
#include "cosim/scenario/team.hpp"
#include "cosim/scenario/world.hpp"

namespace hyphos::cosim {

enum class PhysicsKind { kinematic, mujoco, gazebo };
enum class NetworkKind { analytic, ns3, replay, ideal };

/// The names in a scenario file.
constexpr std::string_view to_string(PhysicsKind kind) {
  constexpr std::array<std::string_view, 3> kNames{"kinematic", "mujoco", "gazebo"};
  return kNames[static_cast<std::size_t>(kind)];
}
constexpr std::string_view to_string(NetworkKind kind) {
  constexpr std::array<std::string_view, 4> kNames{"analytic", "ns3", "replay", "ideal"};
  return kNames[static_cast<std::size_t>(kind)];
}

/// A validated file `cosim.yaml`. Every error that can be detected is reported here, before
/// anything starts. docs/reference/scenario.md lists the keys.
struct Scenario {
  Step step;
  PhysicsKind physics = PhysicsKind::kinematic;
  NetworkKind network = NetworkKind::analytic;
  Transport transport = Transport::udp;    ///< of ns-3
  Models models = Models::ns3;             ///< of ns-3
  std::vector<std::string> robots{};       ///< names, by node
  std::vector<RobotKind> kinds{};          ///< by node, for MuJoCo
  std::vector<Path> paths{};               ///< by node
  std::vector<RobotModel> robot_models{};  ///< by node, for MuJoCo
  GazeboOptions gazebo{};                  ///< the robots are its models
  Scene scene{};
  WorldSources world{};
  RadioOptions radio{};
  std::shared_ptr<const Recording> recording{};  ///< of a replay
  Duration delay = Duration::from_ms(1);         ///< of the ideal network
  Periodic::Options traffic{};
  TrafficOptions flows{};  ///< replace `traffic`, if there are any
  Routing routing{};
  std::vector<OffTimes> off{};  ///< outages of the radios, by node
  Team team{};                  ///< if a robot has nodes, only nodes send
  std::vector<std::optional<mavlink::Options>> mavlink{};  ///< by node
  Duration duration{};
  std::uint64_t seed = 1;
  std::string method{};
  Duration window{};
  Duration latency_budget{};
  double power_error_db = 0.5;
  double loss_threshold = 0.1;     ///< of algorithm_1
  std::int64_t most_changes = 10;  ///< of algorithm_1
  NodeId publisher = kEveryone;    ///< of algorithm_1
  NodeId subscriber = kEveryone;   ///< of algorithm_1
  RequestedBounds requested{};     ///< the bounds in the file, for every method
  RealTimeOptions realtime{};
  std::vector<std::vector<std::string>> commands{};  ///< real programs, by node

  /// True if commands from outside steer a robot, so the run keeps up with real time.
  [[nodiscard]] bool paced() const {
    return std::ranges::any_of(mavlink, [](const auto& one) { return one.has_value(); });
  }
};

/// Overrides from outside the file. Empty: the value in the file.
struct Overrides {
  std::string method;
  std::string seed;
  std::string replay{};  ///< a recording that replaces the radio
  std::vector<OuterSetting> settings{};
};

/// Errors: not_found, permission, io, invalid_config: all problems at once, each with file, line
/// and key.
[[nodiscard]] Result<Scenario> load_scenario(const std::string& path,
                                             const Overrides& overrides = {});
/// The same for a text. `name` is its name in error texts.
[[nodiscard]] Result<Scenario> parse_scenario(std::string_view text, const std::string& name,
                                              const Overrides& overrides = {});

/// Options of a run.
struct RunOptions {
  bool skip = true;
  bool radio_process = false;
  bool ahead = false;  ///< compute unsteered physics in advance. The trace is the same
  Duration patience = Worker::Options().timeout;  ///< for a simulator in another process
  std::string programs{};  ///< folder of the worker and the adapters. Empty: this program's
  std::string python{};    ///< the interpreter for nodes in Python
  std::function<bool(Time)> goes_on{};  ///< Engine::run_while
  Engine::Observer observe{};           ///< Engine::observe
  Record* record = nullptr;             ///< records the data of a report
  McapTrace* mcap = nullptr;            ///< records the events
  RoutingReport* routing = nullptr;     ///< gets the results of the routers
};
/// Finds the errors of run_scenario() that need no run: of the radio, and missing simulators.
[[nodiscard]] Result<void> check_scenario(const Scenario& scenario, const RunOptions& options);
[[nodiscard]] Result<Report> run_scenario(const Scenario& scenario, const RunOptions& options,
                                          Trace& trace);

}  // namespace hyphos::cosim
