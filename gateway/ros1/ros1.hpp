#pragma once

#include <memory>

#include "gateway/facade/graph_facade.hpp"
#include "gateway/facade/protocol.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway::ros1 {

/// Joins a ROS 1 graph as a node. Topics, services and action servers (actionlib) of ROS become
/// channels, services and actions of the robot, and vice versa. The gateway compares both sides
/// once per second, and registers again if the master has forgotten it. As always in ROS, a later
/// node of the same name replaces it. The gateway then leaves the graph and logs that.
///
/// `options.port` is the port of the gateway's own master, if it runs one without `master_port`.
/// Otherwise it is the port of the node's XML-RPC server. address() and port() belong to the
/// master. Own options:
///
///     master       "true": also run a master. Default "false"
///     master_port  port of the gateway's own master. 0: any free port. Default 11311
///     master_uri   URI of another master. Default: ROS_MASTER_URI of the environment, or
///                  http://127.0.0.1:11311/
///     node         the name in the ROS graph. Default /hyphos
///     hostname     the name under which others reach the gateway. Default: ROS_HOSTNAME or
///                  ROS_IP of the environment, unless options.host is a loopback address.
///                  Otherwise options.host, or this machine's name if that means all addresses
///     topics       topics of ROS that come in. Default *
///     channels     channels that go out. Default *
///     services     services of ROS that come in. Default *,!*/get_loggers,!*/set_logger_level
///     calls        services of the robot that go out. Default *
///     actions      actions of ROS that come in. Default *
///     goals        actions of the robot that go out. Default *
///     params       parameters of the robot's nodes that go out. Default *
///     rosparams    parameters of ROS that come in. Default *
///     call_timeout_s  timeout of services in each direction. Default 60
///
/// The lists have patterns with '*', '?' and '!', separated by commas (names.hpp).
Result<std::unique_ptr<Protocol>> open_ros1(GraphFacade& facade, const Options& options);

}  // namespace hyphos::gateway::ros1
