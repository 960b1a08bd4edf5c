#pragma once

#include <cstdint>
#include <string>

#include "gateway/facade/protocol.hpp"
#include "gateway/ros1/names.hpp"
#include "gateway/types/rules.hpp"
#include "hyphos/result.hpp"
#include "hyphos/time.hpp"

namespace hyphos::gateway::ros1 {

/// The options of ros1.hpp, checked. The one place that reads the environment of ROS.
struct Settings {
  bool is_master = false;
  std::uint16_t master_port = 11311;
  std::uint16_t node_port = 0;
  std::string master_uri = "http://127.0.0.1:11311/";
  std::string node = "/hyphos";
  std::string hostname;
  Patterns topics{"*"};
  Patterns channels{"*"};
  Patterns services{"*,!*/get_loggers,!*/set_logger_level"};
  Patterns calls{"*"};
  Patterns params{"*"};
  Patterns rosparams{"*"};
  Duration call_timeout = Duration::from_seconds(60);

  /// Errors: invalid_config, which names the option or the variable and what it may be.
  static Result<Settings> of(const Options& options);
};

}  // namespace hyphos::gateway::ros1
