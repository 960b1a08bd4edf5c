#pragma once

#include <string>
#include <vector>

#include "hyphos/plan.hpp"

/// The common part of the printers: the paths of messages between nodes.
namespace hyphos::plan {

/// The path from one declared publisher to one declared subscriber of a channel.
struct Path {
  std::string from;
  std::string to;
  Route route = kNoRoute;
};

/// The paths of all declared pairs, including unreachable ones.
[[nodiscard]] std::vector<Path> paths_of(const Plan& plan, const ChannelPlan& channel);

/// The possible routes of the channel's messages, without repetition: between declared nodes, or
/// between all pairs of processes if they are not declared.
[[nodiscard]] std::vector<Route> routes_of(const Plan& plan, const ChannelPlan& channel);

}  // namespace hyphos::plan
