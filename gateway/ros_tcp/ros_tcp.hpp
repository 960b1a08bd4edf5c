#pragma once

#include <memory>

#include "gateway/facade/protocol.hpp"

namespace hyphos::gateway {

/// What Unity's ROS-TCP-Connector speaks, version 0.7: frames over TCP, by default at port 10000.
///
/// Each client has its own registrations, and they end with its connection. Names mean the same
/// with and without a leading '/', but a client hears of a topic by the name that it gave.
/// Own options: `ros`: "1" (the default) or "2", as the Unity project was built;
/// `service_timeout_ms`: how long a client's call may take, 60000. No TLS and no tokens: the
/// protocol has neither.
Result<std::unique_ptr<Protocol>> open_ros_tcp(GraphFacade& facade, const Options& options);

}  // namespace hyphos::gateway
