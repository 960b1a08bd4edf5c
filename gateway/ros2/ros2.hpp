#pragma once

#include <memory>

#include "gateway/facade/graph_facade.hpp"
#include "gateway/facade/protocol.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway {

/// Joins a domain of ROS 2 as a node of its own, through DDS: its topics and services become
/// channels and services of the robot, and the other way round. Messages pass as CDR, without being
/// looked into here. What is new or gone in ROS is seen at once, what is in the robot's graph once
/// a second.
///
/// `options.host`: the address to be reached at, 127.0.0.1 for this machine alone; 0.0.0.0 for all.
/// The ports follow from the domain. No TLS and no tokens. Own options:
///
///     domain_id    0 to 232. Default ROS_DOMAIN_ID of the environment, or 0
///     node         the name in the graph of ROS. Default /hyphos
///     distro       of the others: nodes told each other of themselves otherwise before Iron.
///                  Default jazzy
///     shared_memory  "true": talk through Fast DDS's shared memory as well. Default "false"
///     pace_mb_s    rate of large messages to best-effort subscribers, in megabytes a second.
///                  Default 300; 0: no limit
///     topics       which topics of ROS come in. Default all but rosout, parameter_events and
///                  hidden ones (with a part that begins with '_')
///     raw          topics whose channels carry CDR as it is, unless they carry something else
///                  already. Default none
///     channels     which channels go out. Default *
///     best_effort  channels that go out as best effort, unless they are reliable. Default none
///     services     which services of ROS come in. Default all but those of parameters and hidden
///                  ones
///     calls        which services of the robot go out. Default *
///     params       the robot's parameters that the node offers in ROS, "laser.rate_hz". Default *
///     call_timeout_s  of services, each way. Default 60
///
/// The lists have patterns with '*', '?' and '!', separated by commas (ros2/names.hpp).
Result<std::unique_ptr<Protocol>> open_ros2(GraphFacade& facade, const Options& options);

}  // namespace hyphos::gateway
