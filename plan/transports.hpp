#pragma once

#include <span>
#include <string>
#include <string_view>

#include "hyphos/plan.hpp"

/// The properties of the transports from which a plan derives the transport of each channel.
namespace hyphos::plan {

struct TransportTraits {
  std::string_view name;  ///< in plans, counters and tables
  bool between_hosts;     ///< reaches other machines, else only processes of one host
  bool endpoints;         ///< needs endpoints to bind and to connect, else finds its peers
};

/// All transports, in order of preference. `transport: auto` uses the first one on one host, and
/// the first one that is `between_hosts` between two hosts. The first one also carries the channels
/// that no plan contains. plan/transport_list.hpp lists them.
[[nodiscard]] std::span<const TransportTraits> transports();

/// Null if there is none of that name.
[[nodiscard]] const TransportTraits* transport(std::string_view name);
/// "shm, zmq"
[[nodiscard]] std::string transport_list();

/// The transport of `channel` between two processes of one host, or of two. Null if there is none.
[[nodiscard]] const TransportTraits* carrier(const ChannelPlan& channel, bool same_host);
/// True if the channel may be offered to peers outside of the plan.
[[nodiscard]] inline bool may_leave_host(const ChannelPlan& channel) {
  return carrier(channel, false) != nullptr;
}

}  // namespace hyphos::plan
