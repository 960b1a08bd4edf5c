#include "cosim/routing/aodv.hpp"

#include <algorithm>
#include <utility>

#include "cosim/core/random.hpp"

namespace hyphos::cosim::routing {
namespace {

constexpr std::uint64_t kJitter = std::uint64_t{21} << 40;
constexpr std::size_t kMostLost = 255;  // of one error message
constexpr Duration kSecond = Duration::from_ms(1000);

std::uint32_t to_ms(Duration duration) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(duration.ns / 1'000'000, 0, 1 << 30));
}

}  // namespace

Aodv::Aodv(NodeId self, const AodvOptions& options, std::uint64_t seed)
    : self_(self),
      options_(options),
      seed_(seed),
      hello_at_(options.hello.ns > 0 ? Time{} + drawn(options.hello) : kNever) {}

Duration Aodv::drawn(Duration most) {
  return {static_cast<std::int64_t>(draw(seed_, kJitter, self_, draws_++) %
                                    static_cast<std::uint64_t>(most.ns + 1))};
}

Time Aodv::next_event_time() const {
  Time next = hello_at_;
  if (!delayed_.empty()) next = std::min(next, delayed_.begin()->due);
  for (const auto& [destination, search] : searches_) next = std::min(next, search.deadline);
  return next;
}

NodeId Aodv::next_hop(Time now, NodeId to) {
  const Route* route = routes_.find(to, now);
  return route == nullptr ? kEveryone : route->next;
}

// Packets of programs.

void Aodv::send(Time now, Datagram datagram, Actions& actions) {
  datagram.hops_left = options_.net_diameter;
  if (const Route* route = routes_.find(datagram.to, now); route != nullptr) {
    return forward(now, *route, datagram, actions);
  }
  search(now, std::move(datagram), actions);
}

void Aodv::forward(Time now, const Route& route, const Datagram& datagram, Actions& actions) {
  const NodeId next = route.next;
  const Time until = now + options_.active_route;
  routes_.keep(datagram.to, until, now);
  routes_.keep(next, until, now);
  if (datagram.from != self_) routes_.keep(datagram.from, until, now);
  actions.sends.push_back({next, encode(datagram)});
}

void Aodv::relay(Time now, NodeId from, Datagram datagram, Actions& actions) {
  if (datagram.to == self_) {
    routes_.keep(datagram.from, now + options_.active_route, now);
    return actions.arrived.push_back(std::move(datagram));
  }
  if (datagram.hops_left <= 1) return actions.drops.push_back(RouteDrop::hop_limit);
  --datagram.hops_left;
  if (const Route* route = routes_.find(datagram.to, now); route != nullptr) {
    const NodeId next = route->next;
    routes_.keep(from, now + options_.active_route, now);
    routes_.add_precursor(datagram.to, from, now);
    routes_.add_precursor(next, from, now);
    return forward(now, *routes_.find(datagram.to, now), datagram, actions);
  }
  actions.drops.push_back(RouteDrop::no_route);
  const Route* last = routes_.last(datagram.to, now);
  const bool known = last != nullptr && last->sequence_known;
  send_error(from, {{datagram.to, known ? last->sequence : 0}}, actions);
}

// Searches.

void Aodv::search(Time now, Datagram datagram, Actions& actions) {
  if (buffered_ >= options_.buffer) return actions.drops.push_back(RouteDrop::buffer_full);
  const NodeId destination = datagram.to;
  const auto [at, fresh] = searches_.try_emplace(destination);
  Search& search = at->second;
  search.packets.push_back(std::move(datagram));
  ++buffered_;
  if (!fresh) return;
  ++counts_.discoveries;
  search.ttl = options_.ttl_start;
  if (const Route* last = routes_.last(destination, now); last != nullptr && last->hops > 0) {
    search.ttl = static_cast<std::uint8_t>(
        std::min<unsigned>(options_.net_diameter, last->hops + options_.ttl_increment));
  }
  if (search.ttl > options_.ttl_threshold) search.ttl = options_.net_diameter;
  request(now, destination, search, actions);
}

/// Whether another request is within the rate limit. If not, `from` is the time of the next one.
bool Aodv::may_request(Time now, Time& from) {
  while (!requested_.empty() && requested_.front() + kSecond <= now) requested_.pop_front();
  if (requested_.size() < options_.request_rate) return true;
  from = requested_.front() + kSecond;
  return false;
}

void Aodv::request(Time now, NodeId destination, Search& search, Actions& actions) {
  search.waits = !may_request(now, search.deadline);
  if (search.waits) return;
  requested_.push_back(now);
  const Route* last = routes_.last(destination, now);
  RouteRequest request;
  request.unknown_sequence = last == nullptr || !last->sequence_known;
  request.id = ++request_id_;
  request.destination = destination;
  request.destination_sequence = request.unknown_sequence ? 0 : last->sequence;
  request.originator = self_;
  request.originator_sequence = ++sequence_;
  actions.sends.push_back({kEveryone, encode(request, search.ttl)});
  ++counts_.requests;
  if (search.ttl < options_.net_diameter) {
    search.deadline = now + options_.node_traversal * (2 * (search.ttl + options_.timeout_buffer));
  } else {
    search.deadline = now + options_.net_traversal() * (std::int64_t{1} << search.repeats);
    ++search.repeats;
  }
}

void Aodv::go_on_searching(Time now, Actions& actions) {
  for (auto at = searches_.begin(); at != searches_.end();) {
    auto& [destination, search] = *at;
    if (search.deadline > now) {
      ++at;
      continue;
    }
    if (!search.waits && search.repeats > options_.request_retries) {
      actions.drops.insert(actions.drops.end(), search.packets.size(), RouteDrop::no_route);
      buffered_ -= search.packets.size();
      at = searches_.erase(at);
      continue;
    }
    if (!search.waits && search.ttl < options_.net_diameter) {
      search.ttl = static_cast<std::uint8_t>(search.ttl + options_.ttl_increment);
      if (search.ttl > options_.ttl_threshold) search.ttl = options_.net_diameter;
    }
    request(now, destination, search, actions);
    ++at;
  }
}

/// Sends the packets that waited for this route.
void Aodv::found(Time now, NodeId destination, Actions& actions) {
  const auto at = searches_.find(destination);
  if (at == searches_.end() || routes_.find(destination, now) == nullptr) return;
  ++counts_.found;
  buffered_ -= at->second.packets.size();
  for (const Datagram& datagram : at->second.packets) {
    forward(now, *routes_.find(destination, now), datagram, actions);
  }
  searches_.erase(at);
}

// Messages of the protocol.

void Aodv::receive(Time now, NodeId from, const Decoded& packet, Actions& actions) {
  if (from == self_) return;
  if (const auto* datagram = std::get_if<Datagram>(&packet.message)) {
    return relay(now, from, *datagram, actions);
  }
  routes_.hear(from, now + options_.active_route, now);
  found(now, from, actions);
  if (const auto* request = std::get_if<RouteRequest>(&packet.message)) {
    take_request(now, from, *request, packet.hops_left, actions);
  } else if (const auto* reply = std::get_if<RouteReply>(&packet.message)) {
    take_reply(now, from, *reply, packet.hops_left, actions);
  } else if (const auto* error = std::get_if<RouteError>(&packet.message)) {
    take_error(now, from, *error, actions);
  }
}

void Aodv::take_request(Time now, NodeId from, RouteRequest request, std::uint8_t hops_left,
                        Actions& actions) {
  if (request.originator == self_ || request.hops >= options_.net_diameter) return;
  const Time forgotten = now + options_.net_traversal() * 2;
  if (!seen_.try_emplace({request.originator, request.id}, forgotten).second) return;
  ++request.hops;
  const Duration reverse =
      options_.net_traversal() * 2 - options_.node_traversal * (2 * request.hops);
  const Time expires = now + std::max(reverse, options_.active_route);
  routes_.offer({request.originator, request.originator_sequence, request.hops, from, expires},
                now);
  routes_.keep(request.originator, expires, now);
  found(now, request.originator, actions);
  if (answer(now, from, request, actions) || hops_left <= 1) return;
  if (const Route* last = routes_.last(request.destination, now);
      last != nullptr && last->sequence_known &&
      (request.unknown_sequence || newer(last->sequence, request.destination_sequence))) {
    request.destination_sequence = last->sequence;
    request.unknown_sequence = false;
  }
  delayed_.insert(
      {now + drawn(options_.jitter), order_++, request, static_cast<std::uint8_t>(hops_left - 1)});
}

/// Replies as the destination, or with a route that is recent enough. Returns true if it replied.
bool Aodv::answer(Time now, NodeId from, const RouteRequest& request, Actions& actions) {
  const Route* back = routes_.find(request.originator, now);
  if (back == nullptr) return false;
  const NodeId towards = back->next;
  RouteReply reply;
  reply.destination = request.destination;
  reply.originator = request.originator;
  if (request.destination == self_) {
    if (!request.unknown_sequence && newer(request.destination_sequence, sequence_)) {
      sequence_ = request.destination_sequence;
    }
    reply.destination_sequence = sequence_;
    reply.lifetime_ms = to_ms(options_.active_route * 2);
  } else {
    const Route* route = routes_.find(request.destination, now);
    if (route == nullptr || !route->sequence_known || route->next == from) return false;
    if (!request.unknown_sequence && newer(request.destination_sequence, route->sequence)) {
      return false;
    }
    reply.hops = route->hops;
    reply.destination_sequence = route->sequence;
    reply.lifetime_ms = to_ms(route->expires - now);
    const NodeId next = route->next;
    routes_.add_precursor(request.destination, towards, now);
    routes_.add_precursor(request.originator, next, now);
  }
  actions.sends.push_back({towards, encode(reply, options_.net_diameter)});
  ++counts_.replies;
  return true;
}

void Aodv::take_reply(Time now, NodeId from, const RouteReply& reply, std::uint8_t hops_left,
                      Actions& actions) {
  const bool hello = reply.originator == reply.destination;
  if (hello && reply.destination == from) heard_[from] = now;
  if (reply.destination == self_ || reply.hops >= options_.net_diameter) return;
  const auto hops = static_cast<std::uint8_t>(reply.hops + 1);
  const Time expires = now + Duration::from_ms(static_cast<std::int64_t>(reply.lifetime_ms));
  routes_.offer({reply.destination, reply.destination_sequence, hops, from, expires}, now);
  found(now, reply.destination, actions);
  if (hello || reply.originator == self_ || hops_left <= 1) return;
  const Route* back = routes_.find(reply.originator, now);
  const Route* route = back == nullptr ? nullptr : routes_.last(reply.destination, now);
  if (route == nullptr || !route->valid || !route->sequence_known) return;
  // Relays the own route, which is the offered one or better.
  const NodeId towards = routes_.find(reply.originator, now)->next;
  route = routes_.find(reply.destination, now);
  if (route->next == towards) return;
  const RouteReply relayed{route->hops, reply.destination, route->sequence, reply.originator,
                           to_ms(route->expires - now)};
  const NodeId next = route->next;
  routes_.add_precursor(reply.destination, towards, now);
  routes_.add_precursor(next, towards, now);
  routes_.keep(reply.originator, now + options_.active_route, now);
  actions.sends.push_back({towards, encode(relayed, static_cast<std::uint8_t>(hops_left - 1))});
  ++counts_.replies;
}

void Aodv::take_error(Time now, NodeId from, const RouteError& error, Actions& actions) {
  std::vector<RouteTable::Ended> ended;
  for (const RouteError::Lost& lost : error.lost) {
    if (lost.destination == self_) continue;
    if (auto one = routes_.end(lost.destination, from, lost.sequence, now)) {
      ended.push_back(std::move(*one));
    }
  }
  report(ended, actions);
}

// Broken links.

void Aodv::fail(Time now, NodeId to, const Decoded& packet, Actions& actions) {
  lose_link(now, to, actions);
  const auto* datagram = std::get_if<Datagram>(&packet.message);
  if (datagram == nullptr) return;
  if (datagram->from == self_) return search(now, *datagram, actions);
  actions.drops.push_back(RouteDrop::link_broken);
}

void Aodv::lose_link(Time now, NodeId to, Actions& actions) {
  heard_.erase(to);
  const auto ended = routes_.break_link(to, now);
  if (ended.empty()) return;
  ++counts_.broken;
  report(ended, actions);
}

/// Reports ended routes to the neighbours that use them.
void Aodv::report(const std::vector<RouteTable::Ended>& ended, Actions& actions) {
  std::map<NodeId, std::vector<RouteError::Lost>> by_neighbour;
  for (const RouteTable::Ended& route : ended) {
    for (const NodeId neighbour : route.precursors) {
      by_neighbour[neighbour].push_back({route.destination, route.sequence});
    }
  }
  for (auto& [neighbour, lost] : by_neighbour) send_error(neighbour, std::move(lost), actions);
}

void Aodv::send_error(NodeId to, std::vector<RouteError::Lost> lost, Actions& actions) {
  for (std::size_t at = 0; at < lost.size(); at += kMostLost) {
    const auto begin = lost.begin() + static_cast<std::ptrdiff_t>(at);
    const auto size = std::min(kMostLost, lost.size() - at);
    const RouteError error{{begin, begin + static_cast<std::ptrdiff_t>(size)}};
    actions.sends.push_back({to, encode(error)});
    ++counts_.errors;
  }
}

// Time.

void Aodv::wake(Time now, Actions& actions) {
  std::erase_if(seen_, [now](const auto& request) { return request.second <= now; });
  while (!delayed_.empty() && delayed_.begin()->due <= now) {
    const Delayed& next = *delayed_.begin();
    actions.sends.push_back({kEveryone, encode(next.request, next.hops_left)});
    ++counts_.requests;
    delayed_.erase(delayed_.begin());
  }
  go_on_searching(now, actions);
  if (hello_at_ > now) return;
  miss(now, actions);
  greet(now, actions);
  hello_at_ = now + options_.hello;
}

void Aodv::greet(Time now, Actions& actions) {
  if (!routes_.any_usable(now)) return;
  const Duration lifetime = options_.hello * options_.allowed_hello_loss;
  actions.sends.push_back(
      {kEveryone, encode(RouteReply{0, self_, sequence_, self_, to_ms(lifetime)}, 1)});
  ++counts_.hellos;
}

/// Breaks the links to neighbours whose hello messages have stopped.
void Aodv::miss(Time now, Actions& actions) {
  const Duration most = options_.hello * options_.allowed_hello_loss;
  std::vector<NodeId> lost;
  for (const auto& [neighbour, last] : heard_) {
    if (last + most < now) lost.push_back(neighbour);
  }
  for (const NodeId neighbour : lost) lose_link(now, neighbour, actions);
}

}  // namespace hyphos::cosim::routing
