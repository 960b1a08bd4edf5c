#pragma once

#include <string_view>

#include "gateway/ros2/call_header.hpp"
#include "gateway/ros2/endpoint.hpp"

/// How requests and replies of services find each other. Fast DDS tells it beside the message, by
/// what it calls a related sample identity; Cyclone DDS, which has no such thing, begins the
/// message with a number of the client and one of the call. Who it is that speaks is seen by its
/// GUID.
namespace hyphos::gateway::ros2 {

/// In the user data of both endpoints of a client of Cyclone DDS, so that a server knows which of
/// the readers of its answers is the client's, and waits until it has found it.
inline constexpr std::string_view kClientId = "clientid";

[[nodiscard]] bool is_cyclone(const GUID_t& guid);

}  // namespace hyphos::gateway::ros2
