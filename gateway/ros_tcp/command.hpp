#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/facade/graph_facade.hpp"
#include "hyphos/result.hpp"

/// The commands of ROS-TCP: frames with a name that begins with "__" and a JSON object as payload.
namespace hyphos::gateway::ros_tcp {

/// No command of a client is longer.
inline constexpr std::size_t kMostCommand = std::size_t{64} << 10;
/// A larger queue_size is as good as this one.
inline constexpr std::int64_t kMostQueue = 10'000;

enum class Kind : std::uint8_t {
  publish,
  subscribe,
  ros_service,    ///< the client will call it
  unity_service,  ///< the client answers it
  remove_publisher,
  remove_subscriber,
  remove_ros_service,
  remove_unity_service,
  request,   ///< the next frame is a call of the client
  response,  ///< the next frame is its answer
  topic_list,
  ping,
};

struct Command {
  Kind kind = Kind::ping;
  std::string topic;  ///< or service, literally
  std::string type;   ///< "std_msgs/String"
  std::int64_t id = 0;
  bool latch = false;
  std::uint32_t queue_size = 0;  ///< of a publisher; 0: none was given
  std::string request_time;      ///< JSON, to be echoed
};

/// Ignores unknown keys, and NULs after the object. Errors: unsupported (no such command), corrupt
/// (no JSON object, or one without a key that the command needs).
[[nodiscard]] Result<Command> parse_command(std::string_view name, std::string_view json);

// What the gateway says, as JSON.
[[nodiscard]] std::string handshake(bool ros2);
[[nodiscard]] std::string note(std::string_view text);
[[nodiscard]] std::string service_id(std::int64_t id);
[[nodiscard]] std::string ping_response(std::string_view request_time);
[[nodiscard]] std::string topic_list(const std::vector<TopicInfo>& topics);

/// A JSON string. What is no UTF-8 becomes '?'.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace hyphos::gateway::ros_tcp
