#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/config_reader.hpp"
#include "cosim/nodes/node_programs.hpp"
#include "cosim/outside/options.hpp"
#include "cosim/sense/robot_sensors.hpp"

namespace hyphos::cosim {

struct RunOptions;
struct Scenario;

/// The real programs of a robot that has a body.
struct RealPrograms {
  std::vector<std::string> run{};  ///< the words of a command
  std::string folder{};            ///< of the scenario
};

/// The Hyphos nodes and the real programs on the robots of a scenario.
struct Team {
  std::vector<std::optional<RobotOptions>> robots{};  ///< by node. Empty: no nodes on that robot
  /// Real programs in lock step, by node: robots with `body` and `run`. Empty: none on that robot.
  std::vector<std::optional<RealPrograms>> programs{};
  std::vector<std::optional<BodyOptions>> bodies{};  ///< by node
  std::vector<RobotSensing> sensing{};               ///< by node
  NodePrograms::Options wiring{};
  Duration timeout = Duration::from_ms(20'000);  ///< until the nodes of a robot are idle

  [[nodiscard]] bool empty() const;
};

/// Reads the keys `plan`, `nodes` and `set` of a robot. Paths of plans are relative to
/// `scenario_file`.
[[nodiscard]] std::optional<RobotOptions> read_robot_nodes(const config::Section& robot,
                                                           const std::string& name,
                                                           const std::string& scenario_file);
/// Reads the section `body` of a robot into the team. `run` is the command of its real programs.
void read_body(const config::Section& robot, const std::string& name,
               const std::string& scenario_file, const std::vector<std::string>& run, Team& team,
               config::Problems& problems);
/// Reads the sections `channels` and `nodes`. All robots must be read before.
void read_team(const config::Section& root, const std::vector<std::string>& robots, Team& team,
               config::Problems& problems);

/// Starts a process for each robot with nodes, and creates the nodes. Errors: those of the plans,
/// not_found, unsupported (a node with its own process), type_mismatch, and those of the nodes.
[[nodiscard]] Result<std::unique_ptr<NodePrograms>> open_team(const Scenario& scenario,
                                                              const RunOptions& options,
                                                              Physics& physics);
/// The sensors of the robots of a scenario. Null: no robot has one. `scenario` and `physics` must
/// outlive them.
[[nodiscard]] Result<std::shared_ptr<Sensors>> open_sensors(const Scenario& scenario,
                                                            Physics& physics);

}  // namespace hyphos::cosim
