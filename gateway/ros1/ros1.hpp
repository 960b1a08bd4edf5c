#pragma once

#include <memory>

#include "gateway/facade/graph_facade.hpp"
#include "gateway/facade/protocol.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway::ros1 {

/// Joins a graph of ROS 1 as a node of its own: its topics and services become channels and
/// services of the robot, and the other way round. It looks once a second at what there is on both
/// sides, and registers again when the master has forgotten it. A node of the same name that comes
/// later takes its place, as it is in ROS: the gateway then ends its part and says so.
///
/// `options.port` is that of our master, if we are one and it has no `master_port`, else that of
/// the node's XML-RPC. address() and port() are those of the master. Own options:
///
///     master       "true": be the master as well. Default "false"
///     master_port  of a master of ours; 0: any that is free. Default 11311
///     master_uri   of somebody else's. Default ROS_MASTER_URI of the environment, or
///                  http://127.0.0.1:11311/
///     node         the name in the graph of ROS. Default /hyphos
///     hostname     by which others reach us. Default: ROS_HOSTNAME or ROS_IP of the environment,
///                  unless options.host is of this machine alone; else options.host, or this
///                  machine's name if that is all addresses
///     topics       which topics of ROS come in. Default *
///     channels     which channels go out. Default *
///     services     which services of ROS come in. Default *,!*/get_loggers,!*/set_logger_level
///     calls        which services of the robot go out. Default *
///     params       which parameters of the robot's nodes go out. Default *
///     rosparams    which parameters of ROS come in. Default *
///     call_timeout_s  of services, each way. Default 60
///
/// The lists have patterns with '*', '?' and '!', separated by commas (names.hpp).
Result<std::unique_ptr<Protocol>> open_ros1(GraphFacade& facade, const Options& options);

}  // namespace hyphos::gateway::ros1
