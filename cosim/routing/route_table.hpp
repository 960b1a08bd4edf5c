#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "cosim/core/packet.hpp"

namespace hyphos::cosim::routing {

/// Compares sequence numbers that wrap around (RFC 3561, 6.1).
[[nodiscard]] constexpr bool newer(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(a - b) > 0;
}

struct Route {
  std::uint32_t sequence = 0;
  bool sequence_known = false;
  bool valid = false;
  std::uint8_t hops = 0;  ///< of the last valid route, if it is not valid now
  NodeId next = 0;
  Time expires;                   ///< if valid
  std::set<NodeId> precursors{};  ///< neighbours that forward packets over this node
};

/// The routes of one node to the others (RFC 3561, 6.2).
///
/// Invariant of all tables of a network: along the next hops to a destination, the pair (sequence
/// number, −hops) increases. So routes never form a loop. Two rules keep it where RFC 3561 does not
/// (van Glabbeek et al., "Sequence Numbers Do Not Guarantee Loop Freedom", 2013): a sequence number
/// never decreases and is never forgotten, and every route that ends, also by its lifetime, gets a
/// newer number. So a table has at most one entry for each node, for the whole run.
class RouteTable {
 public:
  /// A path that a message offers.
  struct Offer {
    NodeId destination = 0;
    std::uint32_t sequence = 0;
    std::uint8_t hops = 0;
    NodeId next = 0;
    Time expires;
  };

  /// The usable route to a node. Null if there is none. The pointer is valid until the next call.
  [[nodiscard]] const Route* find(NodeId destination, Time now);
  /// The last known state, valid or not. Null: no message has named the node.
  [[nodiscard]] const Route* last(NodeId destination, Time now);
  /// Accepts a path that is newer or, of the same age, shorter. Returns true if it was accepted.
  bool offer(const Offer& offer, Time now);
  /// A frame came directly from this node.
  void hear(NodeId neighbour, Time expires, Time now);
  /// Keeps a usable route at least until `expires`.
  void keep(NodeId destination, Time expires, Time now);
  void add_precursor(NodeId destination, NodeId neighbour, Time now);

  struct Ended {
    NodeId destination = 0;
    std::uint32_t sequence = 0;
    std::set<NodeId> precursors{};
  };
  /// Ends all routes over a neighbour, ordered by destination.
  [[nodiscard]] std::vector<Ended> break_link(NodeId neighbour, Time now);
  /// Ends a route over `neighbour`, which has reported that it has none any more. Returns nothing
  /// if the route uses another neighbour or has ended.
  [[nodiscard]] std::optional<Ended> end(NodeId destination, NodeId neighbour,
                                         std::uint32_t sequence, Time now);
  [[nodiscard]] bool any_usable(Time now);

 private:
  Route* fresh(NodeId destination, Time now);
  static void expire(Route& route, Time now);
  static Ended finish(NodeId destination, Route& route);

  std::map<NodeId, Route> routes_;
};

}  // namespace hyphos::cosim::routing
