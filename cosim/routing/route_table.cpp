#include "cosim/routing/route_table.hpp"

#include <algorithm>
#include <utility>

namespace hyphos::cosim::routing {

void RouteTable::expire(Route& route, Time now) {
  if (!route.valid || route.expires > now) return;
  route.valid = false;
  if (route.sequence_known) ++route.sequence;
  route.precursors.clear();
}

RouteTable::Ended RouteTable::finish(NodeId destination, Route& route) {
  route.valid = false;
  if (route.sequence_known) ++route.sequence;
  return {destination, route.sequence, std::exchange(route.precursors, {})};
}

Route* RouteTable::fresh(NodeId destination, Time now) {
  const auto found = routes_.find(destination);
  if (found == routes_.end()) return nullptr;
  expire(found->second, now);
  return &found->second;
}

const Route* RouteTable::find(NodeId destination, Time now) {
  const Route* route = fresh(destination, now);
  return route != nullptr && route->valid ? route : nullptr;
}

const Route* RouteTable::last(NodeId destination, Time now) { return fresh(destination, now); }

bool RouteTable::offer(const Offer& offer, Time now) {
  Route* route = fresh(offer.destination, now);
  if (route == nullptr) route = &routes_[offer.destination];
  if (route->sequence_known) {
    if (newer(route->sequence, offer.sequence)) return false;
    const bool same_age = route->sequence == offer.sequence;
    if (same_age && route->valid && route->hops <= offer.hops) {
      // The same path again, or a longer one.
      if (route->next == offer.next && route->hops == offer.hops) {
        route->expires = std::max(route->expires, offer.expires);
      }
      return false;
    }
  } else if (route->valid && route->next == offer.destination && route->hops <= offer.hops) {
    // A direct route stays, and becomes as recent as the offer.
    route->sequence = offer.sequence;
    route->sequence_known = true;
    return false;
  }
  if (!route->valid) route->precursors.clear();
  route->sequence = offer.sequence;
  route->sequence_known = true;
  route->valid = true;
  route->hops = offer.hops;
  route->next = offer.next;
  route->expires = offer.expires;
  return true;
}

void RouteTable::hear(NodeId neighbour, Time expires, Time now) {
  Route* route = fresh(neighbour, now);
  if (route == nullptr) route = &routes_[neighbour];
  if (route->valid && route->next == neighbour) {
    route->expires = std::max(route->expires, expires);
    return;
  }
  if (!route->valid) route->precursors.clear();
  route->valid = true;
  route->hops = 1;
  route->next = neighbour;
  route->expires = expires;
}

void RouteTable::keep(NodeId destination, Time expires, Time now) {
  Route* route = fresh(destination, now);
  if (route != nullptr && route->valid) route->expires = std::max(route->expires, expires);
}

void RouteTable::add_precursor(NodeId destination, NodeId neighbour, Time now) {
  Route* route = fresh(destination, now);
  if (route != nullptr && route->valid) route->precursors.insert(neighbour);
}

std::vector<RouteTable::Ended> RouteTable::break_link(NodeId neighbour, Time now) {
  std::vector<Ended> ended;
  for (auto& [destination, route] : routes_) {
    expire(route, now);
    if (route.valid && route.next == neighbour) ended.push_back(finish(destination, route));
  }
  return ended;
}

std::optional<RouteTable::Ended> RouteTable::end(NodeId destination, NodeId neighbour,
                                                 std::uint32_t sequence, Time now) {
  Route* route = fresh(destination, now);
  if (route == nullptr || !route->valid || route->next != neighbour) return std::nullopt;
  // The direct route to the neighbour itself does not depend on its report.
  if (destination == neighbour) return std::nullopt;
  Ended ended = finish(destination, *route);
  if (newer(sequence, route->sequence)) route->sequence = sequence;
  route->sequence_known = true;
  ended.sequence = route->sequence;
  return ended;
}

bool RouteTable::any_usable(Time now) {
  return std::ranges::any_of(routes_, [now](const auto& entry) {
    return entry.second.valid && entry.second.expires > now;
  });
}

}  // namespace hyphos::cosim::routing
