#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "gateway/facade/protocol.hpp"
#include "gateway/ros2/entities.hpp"
#include "gateway/types/rules.hpp"
#include "hyphos/result.hpp"
#include "hyphos/time.hpp"

namespace hyphos::gateway::ros2 {

/// The checked options of ros2.hpp.
struct Settings {
  std::uint32_t domain_id = 0;
  std::string node = "/hyphos";
  GidSize gid_size = GidSize::iron;
  bool shared_memory = false;
  std::string host;  ///< the one address to listen on, empty: all
  /// Rate of large messages to a best-effort reader, in megabytes per second. 0: unlimited.
  std::uint32_t pace_mb_s = 300;
  std::size_t max_message = 0;
  std::int32_t depth = 10;
  Limits limits;
  Patterns topics{"*,!parameter_events,!_*,!*/_*", Patterns::Slash::ignored};
  Patterns channels{"*", Patterns::Slash::ignored};
  Patterns raw{"", Patterns::Slash::ignored};
  Patterns best_effort{"", Patterns::Slash::ignored};
  Patterns services{
      "*,!_*,!*/_*,!*/describe_parameters,!*/get_parameters,!*/get_parameter_types,"
      "!*/list_parameters,!*/set_parameters,!*/set_parameters_atomically,!*/get_type_description",
      Patterns::Slash::ignored};
  Patterns calls{"*", Patterns::Slash::ignored};
  Patterns actions{"*,!_*,!*/_*", Patterns::Slash::ignored};
  Patterns goals{"*", Patterns::Slash::ignored};
  Patterns params{"*", Patterns::Slash::ignored};
  Patterns param_nodes{"*", Patterns::Slash::ignored};
  Patterns rosparams{"*", Patterns::Slash::ignored};
  Duration call_timeout = Duration::from_seconds(60);

  /// Errors: invalid_config, with the name of the option and its valid values, and unsupported.
  static Result<Settings> of(const Options& options);
};

}  // namespace hyphos::gateway::ros2
