#pragma once

#include <string_view>

#include "gateway/ros2/call_header.hpp"
#include "gateway/ros2/endpoint.hpp"

/// The matching of requests and replies of services. Fast DDS sends a "related sample identity"
/// beside the message. Cyclone DDS has no such field: its messages begin with a number of the
/// client and a number of the call. The GUID of the sender shows the implementation.
namespace hyphos::gateway::ros2 {

/// A key in the user data of both endpoints of a Cyclone DDS client. A server uses it to find the
/// client's reader of replies, and waits until it has discovered that reader.
inline constexpr std::string_view kClientId = "clientid";

[[nodiscard]] bool is_cyclone(const GUID_t& guid);

}  // namespace hyphos::gateway::ros2
