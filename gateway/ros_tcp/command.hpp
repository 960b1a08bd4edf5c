#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/facade/topics.hpp"
#include "hyphos/result.hpp"

/// The commands of ROS-TCP: frames with a name that begins with "__" and a JSON object as payload.
namespace hyphos::gateway::ros_tcp {

/// Maximum size of a client's command in bytes.
inline constexpr std::size_t kMostCommand = std::size_t{64} << 10;
/// A larger queue_size has the same effect as this one.
inline constexpr std::int64_t kMostQueue = 10'000;

enum class Kind : std::uint8_t {
  publish,
  subscribe,
  ros_service,    ///< the client will call it
  unity_service,  ///< the client serves it
  remove_publisher,
  remove_subscriber,
  remove_ros_service,
  remove_unity_service,
  request,   ///< the next frame is a call of the client
  response,  ///< the next frame is the client's reply
  topic_list,
  ping,
};

struct Command {
  Kind kind = Kind::ping;
  std::string topic;  ///< or service, as written
  std::string type;   ///< "std_msgs/String"
  std::int64_t id = 0;
  bool latch = false;
  std::uint32_t queue_size = 0;  ///< of a publisher, 0: not given
  std::string request_time;      ///< JSON to be echoed
};

/// Ignores unknown keys, and NULs after the object. Errors: unsupported (unknown command), corrupt
/// (not a JSON object, or a required key is missing).
[[nodiscard]] Result<Command> parse_command(std::string_view name, std::string_view json);

// Messages of the gateway, as JSON.
[[nodiscard]] std::string handshake(bool ros2);
[[nodiscard]] std::string note(std::string_view text);
[[nodiscard]] std::string service_id(std::int64_t id);
[[nodiscard]] std::string ping_response(std::string_view request_time);
[[nodiscard]] std::string topic_list(const std::vector<TopicInfo>& topics);

/// A JSON string. Bytes that are not UTF-8 become '?'.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace hyphos::gateway::ros_tcp
