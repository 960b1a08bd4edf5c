#pragma once

#include <memory>

#include "gateway/facade/protocol.hpp"

namespace hyphos::gateway {

/// The protocol of Unity's ROS-TCP-Connector, version 0.7: frames over TCP, by default on port
/// 10000.
///
/// Each client has its own registrations, which end with its connection. A leading '/' does not
/// change the meaning of a name. However, a client gets the messages of a topic under the name that
/// it used. The protocol supports neither TLS nor tokens. Own options:
///
///     ros                 "1" or "2", according to the build of the Unity project. Default "1"
///     service_timeout_ms  the timeout of a client's call. Default 60000
Result<std::unique_ptr<Protocol>> open_ros_tcp(GraphFacade& facade, const Options& options);

}  // namespace hyphos::gateway
