#pragma once

#include <cstdint>
#include <string>

namespace hyphos::gateway {

/// A client, as rules, counters and logs see it.
struct Client {
  std::string name;  ///< "ros_tcp 127.0.0.1:41552", "/talker"
  /// Clients of one group, a ROS graph, receive each other's messages directly. So a client
  /// subscription gets no message from a client publisher of its own group. Empty: no group.
  std::string group = {};
  /// The file of the rules that lists the token which the client has shown. Empty: none.
  std::string token = {};
};

/// The use of a topic, a service or an action. `call` includes sending goals, and `serve` includes
/// executing them.
enum class Use : std::uint8_t { publish, subscribe, call, serve };

}  // namespace hyphos::gateway
