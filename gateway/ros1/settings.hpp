#pragma once

#include <cstdint>
#include <string>

#include "gateway/facade/protocol.hpp"
#include "gateway/ros1/names.hpp"
#include "gateway/types/rules.hpp"
#include "hyphos/result.hpp"
#include "hyphos/time.hpp"

namespace hyphos::gateway::ros1 {

/// The checked options of ros1.hpp. Only this file reads the environment variables of ROS.
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
  Patterns actions{"*"};
  Patterns goals{"*"};
  Patterns params{"*"};
  Patterns rosparams{"*"};
  Duration call_timeout = Duration::from_seconds(60);

  /// Errors: invalid_config, with the name of the option or variable and its valid values.
  static Result<Settings> of(const Options& options);
};

}  // namespace hyphos::gateway::ros1
