#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "cosim/routing/messages.hpp"

namespace hyphos::cosim::routing {

/// The reasons why a router drops a packet. The packet is then not in the network.
enum class RouteDrop : std::uint8_t {
  no_route,     ///< no route was found
  buffer_full,  ///< too many packets waited for a route
  hop_limit,    ///< the packet took too many hops
  link_broken,  ///< the next robot did not acknowledge, and this robot only relays
  malformed     ///< not a packet of routed traffic
};
inline constexpr std::size_t kRouteDrops = 5;
[[nodiscard]] std::string_view to_string(RouteDrop reason);

/// The packets that the router of one node sends at an instant, and those that reached their end.
struct Actions {
  struct Send {
    NodeId to = 0;
    Buffer bytes;
  };
  std::vector<Send> sends{};
  std::vector<Datagram> arrived{};
  std::vector<RouteDrop> drops{};
};

/// The router of one node. Threads: one.
class Router {
 public:
  Router() = default;
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;
  virtual ~Router() = default;

  /// A program of this node sends a packet to another node. Packets to everyone take one hop and do
  /// not come here.
  virtual void send(Time now, Datagram datagram, Actions& actions) = 0;
  /// A packet from a neighbour. Datagrams have arrived if they are for this node.
  virtual void receive(Time now, NodeId from, const Decoded& packet, Actions& actions) = 0;
  /// The radio gave up a packet to a neighbour.
  virtual void fail(Time now, NodeId to, const Decoded& packet, Actions& actions) = 0;
  /// Does everything that is due.
  virtual void wake(Time now, Actions& actions) = 0;
  /// kNever if nothing is planned.
  [[nodiscard]] virtual Time next_event_time() const = 0;
  /// The next node on the way to another node, or kEveryone without a route.
  [[nodiscard]] virtual NodeId next_hop(Time now, NodeId to) = 0;

  /// Counters of the protocol.
  struct Counts {
    std::uint64_t requests = 0;  ///< RREQ sent or relayed
    std::uint64_t replies = 0;   ///< RREP
    std::uint64_t errors = 0;    ///< RERR
    std::uint64_t hellos = 0;
    std::uint64_t discoveries = 0;  ///< searches for a route, each with one or more requests
    std::uint64_t found = 0;        ///< successful searches
    std::uint64_t broken = 0;       ///< links that broke under a route
  };
  [[nodiscard]] virtual Counts counts() const { return {}; }
};

}  // namespace hyphos::cosim::routing
