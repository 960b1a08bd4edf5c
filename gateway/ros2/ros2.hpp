#pragma once

#include <memory>

#include "gateway/facade/graph_facade.hpp"
#include "gateway/facade/protocol.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway {

/// Joins a ROS 2 domain as a node, through DDS. Topics, services and actions of ROS become
/// channels, services and actions of the robot, and vice versa. Messages pass as CDR, which the
/// gateway does not parse. Changes in ROS are noticed at once, and changes in the robot's graph
/// once per second.
///
/// `options.host` is the address to listen on: 127.0.0.1 for this machine only, 0.0.0.0 for all.
/// The ports follow from the domain. TLS and tokens are not supported. Own options:
///
///     domain_id    0 to 232. Default: ROS_DOMAIN_ID of the environment, or 0
///     node         the name in the ROS graph. Default /hyphos
///     distro       ROS distribution of the other nodes: before Iron, nodes used another format
///                  of announcement. Default jazzy
///     shared_memory  "true": also use Fast DDS's shared memory. Default "false"
///     pace_mb_s    rate of large messages to best-effort subscribers, in megabytes per second.
///                  Default 300. 0: unlimited
///     topics       topics of ROS that come in. Default: all except parameter_events and hidden
///                  ones (with a part that begins with '_')
///     raw          topics whose channels carry CDR unchanged, unless the channel already has
///                  another type. Default: none
///     channels     channels that go out. Default *
///     best_effort  channels that go out as best effort, unless they are reliable. Default: none
///     services     services of ROS that come in. Default: all except parameter services and
///                  hidden ones
///     calls        services of the robot that go out. Default *
///     actions      actions of ROS that come in. Default: all except hidden ones
///     goals        actions of the robot that go out. Default *
///     params       the robot's parameters that the node offers in ROS, "laser.rate_hz". Default *
///     param_nodes  nodes of the robot that become nodes of ROS, at most 64. Default *
///     rosparams    nodes of ROS whose parameters the robot sees, at most 64. Default *
///     call_timeout_s  timeout of services in each direction. Default 60
///
/// The lists have patterns with '*', '?' and '!', separated by commas (ros2/names.hpp).
Result<std::unique_ptr<Protocol>> open_ros2(GraphFacade& facade, const Options& options);

}  // namespace hyphos::gateway
