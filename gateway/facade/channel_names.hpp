#pragma once

#include <string>
#include <string_view>

/// The names of channels for topics, services and actions.
namespace hyphos::gateway {

/// Prefix of the channels that are no topics.
inline constexpr std::string_view kInternal = "hyphos/";
/// Prefixes of the channels of services and actions.
inline constexpr std::string_view kServices = "hyphos/service/";
inline constexpr std::string_view kActions = "hyphos/action/";
/// Suffix of the channel of a service or an action that carries requests. Servers subscribe to it.
inline constexpr std::string_view kRequest = "/request";

/// The log lines of all nodes: the topic in the graph with its ROS type, and the topic in ROS.
inline constexpr std::string_view kLogTopic = "/log";
inline constexpr std::string_view kLogType = "rcl_interfaces/msg/Log";
inline constexpr std::string_view kLogCarries = "hyphos.msgs.Log";
inline constexpr std::string_view kRosout = "/rosout";

/// "/camera/image" → "camera/image".
[[nodiscard]] inline std::string channel_of(std::string_view topic) {
  return std::string(topic.starts_with('/') ? topic.substr(1) : topic);
}
[[nodiscard]] inline std::string topic_of(std::string_view channel) {
  return "/" + std::string(channel);
}

/// The channel of the requests to a service or an action. `kind`: kServices or kActions.
[[nodiscard]] inline std::string request_channel(std::string_view kind, std::string_view name) {
  return std::string(kind).append(name).append(kRequest);
}

}  // namespace hyphos::gateway
