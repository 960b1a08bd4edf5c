#pragma once

#include <span>
#include <string>
#include <string_view>

#include "hyphos/plan.hpp"

/// What a plan must know of the transports there are, to decide what carries a channel.
namespace hyphos::plan {

struct TransportTraits {
  std::string_view name;  ///< in plans, counters and tables
  bool between_hosts;     ///< reaches other machines; else only processes of one host
  bool endpoints;         ///< must be told what to bind and whom to connect; else finds its peers
};

/// All of them, in order of preference: `transport: auto` takes the first on one host, and the
/// first that is `between_hosts` between two. The first also carries the channels that no plan
/// names. Defined beside what makes them, in transport/registry.cpp: this room only asks.
[[nodiscard]] std::span<const TransportTraits> transports();

/// Null if there is none of that name.
[[nodiscard]] const TransportTraits* transport(std::string_view name);
/// "shm, zmq"
[[nodiscard]] std::string transport_list();

/// What carries `channel` between two processes of one host, or of two. Null: nothing may.
[[nodiscard]] const TransportTraits* carrier(const ChannelPlan& channel, bool same_host);
/// May the channel be offered to peers outside of the plan?
[[nodiscard]] inline bool may_leave_host(const ChannelPlan& channel) {
  return carrier(channel, false) != nullptr;
}

}  // namespace hyphos::plan
