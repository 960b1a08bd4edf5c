#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/config_reader.hpp"
#include "cosim/nodes/node_programs.hpp"

namespace hyphos::cosim {

struct RunOptions;

/// The Hyphos nodes on the robots of a scenario.
struct Team {
  std::vector<std::optional<RobotOptions>> robots{};  ///< by node. Empty: no nodes on that robot
  NodePrograms::Options wiring{};
  Duration timeout = Duration::from_ms(20'000);  ///< until the nodes of a robot are idle

  [[nodiscard]] bool empty() const;
};

/// Reads the keys `plan`, `nodes` and `set` of a robot. Paths of plans are relative to
/// `scenario_file`.
[[nodiscard]] std::optional<RobotOptions> read_robot_nodes(const config::Section& robot,
                                                           const std::string& name,
                                                           const std::string& scenario_file);
/// Reads the sections `channels` and `nodes`. All robots must be read before.
void read_team(const config::Section& root, const std::vector<std::string>& robots, Team& team,
               config::Problems& problems);

/// Starts a process for each robot with nodes, and creates the nodes. Errors: those of the plans,
/// not_found, unsupported (a node with its own process), type_mismatch, and those of the nodes.
[[nodiscard]] Result<std::unique_ptr<NodePrograms>> open_team(const Team& team,
                                                              const RunOptions& options);

}  // namespace hyphos::cosim
