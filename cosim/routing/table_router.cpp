#include "cosim/routing/table_router.hpp"

namespace hyphos::cosim::routing {
namespace {

constexpr std::uint8_t kMostHops = 64;

}  // namespace

std::string_view to_string(RouteDrop reason) {
  switch (reason) {
    case RouteDrop::no_route:
      return "no_route";
    case RouteDrop::buffer_full:
      return "buffer_full";
    case RouteDrop::hop_limit:
      return "hop_limit";
    case RouteDrop::link_broken:
      return "link_broken";
    case RouteDrop::malformed:
      return "malformed";
  }
  return "unknown";
}

NodeId TableRouter::next_hop(Time /*now*/, NodeId to) {
  const auto found = table_.find(to);
  return found == table_.end() ? to : found->second;
}

void TableRouter::send(Time now, Datagram datagram, Actions& actions) {
  datagram.hops_left = kMostHops;
  actions.sends.push_back({next_hop(now, datagram.to), encode(datagram)});
}

void TableRouter::receive(Time now, NodeId /*from*/, const Decoded& packet, Actions& actions) {
  const auto* received = std::get_if<Datagram>(&packet.message);
  if (received == nullptr) return actions.drops.push_back(RouteDrop::malformed);
  if (received->to == self_) return actions.arrived.push_back(*received);
  if (received->hops_left <= 1) return actions.drops.push_back(RouteDrop::hop_limit);
  Datagram datagram = *received;
  --datagram.hops_left;
  actions.sends.push_back({next_hop(now, datagram.to), encode(datagram)});
}

/// The table has no other way. The ledger of the network has counted the loss.
void TableRouter::fail(Time /*now*/, NodeId /*to*/, const Decoded& /*packet*/,
                       Actions& /*actions*/) {}

}  // namespace hyphos::cosim::routing
