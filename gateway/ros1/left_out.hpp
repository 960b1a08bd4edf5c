#pragma once

#include <string>

#include "gateway/ros1/member.hpp"
#include "gateway/ros1/tcpros_server.hpp"
#include "hyphos/result.hpp"

/// Names that do not cross the gateway. Each has one log line and is counted once, until `logged`
/// forgets it. `kind` is "topic", "channel", "service", "action" or "parameter".
namespace hyphos::gateway::ros1 {

/// Reports the reason. The counter has the name of its code.
void report_left_out(const Context& context, LogOnce& logged, const std::string& kind,
                     const std::string& name, const Error& why);

/// The part of a robot that ROS cannot have: no ROS type corresponds to the type `carries` of the
/// graph (`type` is then empty), or ROS does not allow the name.
struct Nameless {
  std::string name;
  std::string type;
  std::string carries;
};
void report_left_out(const Context& context, LogOnce& logged, const std::string& kind,
                     const Nameless& info);

}  // namespace hyphos::gateway::ros1
