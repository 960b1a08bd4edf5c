#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "gateway/facade/channel_names.hpp"
#include "hyphos/buffer.hpp"
#include "hyphos/result.hpp"

/// The log lines of ROS 1: `rosgraph_msgs/Log` on `/rosout` is the channel `log` of the graph,
/// whose messages have the form of `rcl_interfaces/Log`. Pure functions.
namespace hyphos::gateway::ros1 {

inline constexpr std::string_view kRosoutType = "rosgraph_msgs/Log";

[[nodiscard]] inline bool is_rosout(std::string_view topic, std::string_view type) {
  return topic == kRosout && type == kRosoutType;
}

/// Converts a line of ROS 1 to `rcl_interfaces/Log` in the encoding of ROS 1. The names of topics
/// in the line are left out. Errors: corrupt.
[[nodiscard]] Result<Buffer> line_of_ros1(std::span<const std::byte> line);
/// The inverse. Errors: corrupt.
[[nodiscard]] Result<Buffer> line_to_ros1(std::span<const std::byte> line);

}  // namespace hyphos::gateway::ros1
