#pragma once

#include <cstdint>
#include <string>

namespace hyphos::gateway {

/// What a client is, for rules, counters and logs.
struct Client {
  std::string name;  ///< "ros_tcp 127.0.0.1:41552", "/talker"
  /// Those of one group, a graph of ROS, hear each other without us: an outlet does not get what an
  /// inlet of its group publishes. Empty: none.
  std::string group = {};
  /// It has shown a token of this file, which the rules name; empty: of none.
  std::string token = {};
};

/// What a client does with a topic, a service or an action: `call` is also to send goals, `serve`
/// to carry them out.
enum class Use : std::uint8_t { publish, subscribe, call, serve };

}  // namespace hyphos::gateway
