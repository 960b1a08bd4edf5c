#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cosim/nodes/command_guard.hpp"

namespace hyphos::config {
class Problems;
class Section;
}  // namespace hyphos::config

namespace hyphos::cosim {

/// The section `body` of a robot: the odometry, the sensors and the motion commands of the robot as
/// channels of real programs.
struct BodyOptions {
  std::vector<std::string> gateway{};   ///< words of `hyphos gateway`. Empty: no gateway
  std::string prefix{};                 ///< "husky1": channels are husky1/odom, …. Empty: none
  std::vector<std::string> wait_for{};  ///< channels that the programs open before the start
  std::int64_t clock_rate_hz = 100;     ///< of the channel `clock`
  Duration rest{};                      ///< pause before a rest of the programs counts
  Duration discovery{};                 ///< real time before time 0, for DDS to connect programs
  CommandLimits limits{};
};

/// Reads the section. `name` is the name of the robot. Absent: the robot has no such section.
[[nodiscard]] std::optional<BodyOptions> read_body(const config::Section& robot,
                                                   const std::string& name,
                                                   config::Problems& problems);

}  // namespace hyphos::cosim
