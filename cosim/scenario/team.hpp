#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cosim/nodes/node_programs.hpp"
#include "plan/reader.hpp"

namespace hyphos::cosim {

struct RunOptions;

/// The Hyphos nodes of a scenario's robots.
struct Team {
  std::vector<std::optional<RobotOptions>> robots{};  ///< by node; nothing: no nodes on it
  NodePrograms::Options wiring{};
  Duration timeout = Duration::from_ms(20'000);  ///< for the nodes of a robot to come to rest

  [[nodiscard]] bool empty() const;
};

/// The keys `plan`, `nodes` and `set` of a robot. Plans lie relative to `scenario_file`.
[[nodiscard]] std::optional<RobotOptions> read_robot_nodes(const plan::Section& robot,
                                                           const std::string& name,
                                                           const std::string& scenario_file);
/// The sections `channels` and `nodes`, after all robots.
void read_team(const plan::Section& root, const std::vector<std::string>& robots, Team& team,
               plan::Problems& problems);

/// Starts a process for each robot that has nodes, and makes them. Errors: of the plans, not_found,
/// unsupported (a node that has a process of its own), type_mismatch, and those of the nodes.
[[nodiscard]] Result<std::unique_ptr<NodePrograms>> open_team(const Team& team,
                                                              const RunOptions& options);

}  // namespace hyphos::cosim
