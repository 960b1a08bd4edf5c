#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cosim/core/engine.hpp"
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
#include "cosim/scenario/team.hpp"

namespace hyphos::cosim {

enum class PhysicsKind { kinematic, mujoco, gazebo };
enum class NetworkKind { analytic, ns3, replay };

/// As a scenario names them.
constexpr std::string_view to_string(PhysicsKind kind) {
  constexpr std::array<std::string_view, 3> kNames{"kinematic", "mujoco", "gazebo"};
  return kNames[static_cast<std::size_t>(kind)];
}
constexpr std::string_view to_string(NetworkKind kind) {
  constexpr std::array<std::string_view, 3> kNames{"analytic", "ns3", "replay"};
  return kNames[static_cast<std::size_t>(kind)];
}

/// A file `cosim.yaml`, read and checked: everything that can be known to be wrong is refused here,
/// before anything starts. docs/cosim.md lists the keys.
struct Scenario {
  Step step;
  PhysicsKind physics = PhysicsKind::kinematic;
  NetworkKind network = NetworkKind::analytic;
  Transport transport = Transport::udp;  ///< of ns-3
  std::vector<std::string> robots{};     ///< names, by node
  std::vector<RobotKind> kinds{};        ///< by node, for MuJoCo
  std::vector<Path> paths{};             ///< by node
  GazeboOptions gazebo{};                ///< its models are the robots
  Scene scene{};
  RadioOptions radio{};
  std::shared_ptr<const Recording> recording{};  ///< of a replay
  Periodic::Options traffic{};
  TrafficOptions flows{};  ///< instead of `traffic`, if there are any
  Team team{};             ///< with nodes on a robot, there is no traffic but theirs
  Duration duration{};
  std::uint64_t seed = 1;
  std::string method{};
  Duration window{};
  Duration latency_budget{};
  double power_error_db = 0.5;
  RealTimeOptions realtime{};
  std::vector<std::vector<std::string>> commands{};  ///< real programs, by node
};

/// What may be changed from outside of the file; empty: as the file has it.
struct Overrides {
  std::string method;
  std::string seed;
  std::string replay{};  ///< a recording that takes the place of the radio
};

/// Errors: not_found, permission, io, invalid_config: all that is wrong, each with file, line and
/// key.
[[nodiscard]] Result<Scenario> load_scenario(const std::string& path,
                                             const Overrides& overrides = {});
/// The same for a text; `name` is what errors call it.
[[nodiscard]] Result<Scenario> parse_scenario(std::string_view text, const std::string& name,
                                              const Overrides& overrides = {});

/// Runs it, with the radio in a process of its own if asked.
struct RunOptions {
  bool skip = true;
  bool radio_process = false;
  bool ahead = false;  ///< physics that nothing steers may be steps ahead; the trace is the same
  Duration patience = Worker::Options().timeout;  ///< with a simulator in another process
  std::string programs{};  ///< folder of the worker and of adapters; empty: this program's
  std::string python{};    ///< the interpreter that runs nodes in Python
  std::function<bool(Time)> goes_on{};  ///< Engine::run_while
  Engine::Observer observe{};           ///< Engine::observe
  Record* record = nullptr;             ///< takes down what a report shows
  McapTrace* mcap = nullptr;            ///< takes down what happens
};
[[nodiscard]] Result<Report> run_scenario(const Scenario& scenario, const RunOptions& options,
                                          Trace& trace);

}  // namespace hyphos::cosim
