#pragma once

#include <string>
#include <vector>

#include "hyphos/plan.hpp"

/// What the printers share: how messages get from node to node.
namespace hyphos::plan {

/// From one declared publisher to one declared subscriber of a channel.
struct Path {
  std::string from;
  std::string to;
  Route route = kNoRoute;
};

/// All pairs of declared ends, those that cannot reach each other included.
[[nodiscard]] std::vector<Path> paths_of(const Plan& plan, const ChannelPlan& channel);

/// The routes that messages of the channel may take, without repetition: from the declared ends, or
/// from all pairs of processes if they are not declared.
[[nodiscard]] std::vector<Route> routes_of(const Plan& plan, const ChannelPlan& channel);

}  // namespace hyphos::plan
