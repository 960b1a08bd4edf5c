#include <algorithm>
#include <array>

#include "hyphos/plan.hpp"
#include "plan/build.hpp"
#include "plan/names.hpp"
#include "plan/paths.hpp"

namespace hyphos {
namespace {

/// Whether a node of `process` is among the declared ends; undeclared ends may be anywhere.
bool has_end(const Plan& plan, const std::optional<std::vector<std::string>>& ends,
             std::string_view process) {
  if (!ends) return true;
  return std::any_of(ends->begin(), ends->end(), [&](const std::string& name) {
    const NodePlan* node = plan.node(name);
    return node != nullptr && node->process == process;
  });
}

/// Where peers on the same host meet if neither the plan nor the network says: a name in the
/// abstract namespace, which leaves no file behind.
std::string local_endpoint(const Plan& plan, const std::string& process) {
  return "ipc://@hyphos." + plan.domain + "." + process;
}

Route way_between(const ChannelPlan& channel, const ProcessPlan& from, const ProcessPlan& to) {
  if (from.name == to.name) return Route::pointer;
  if (channel.reach == Reach::local) return Route::none;
  if (from.host == to.host) {
    return channel.transport == TransportChoice::zmq ? Route::zmq : Route::shm;
  }
  const bool may = channel.reach == Reach::network && channel.transport != TransportChoice::shm;
  return may ? Route::zmq : Route::none;
}

template <typename Link>
std::vector<std::string>& channels_of(std::vector<Link>& links, const std::string& endpoint) {
  for (Link& link : links) {
    if (link.endpoint == endpoint) return link.channels;
  }
  links.push_back({});
  links.back().endpoint = endpoint;
  return links.back().channels;
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

/// Adds what `channel` needs between `self` and one other process.
void connect(const Plan& plan, const ChannelPlan& channel, const ProcessPlan& self,
             const ProcessPlan& other, ChannelRoutes& routes, Connections& out) {
  const Route way = way_between(channel, self, other);
  if (way == Route::none) return;
  const bool sends = routes.publishes && has_end(plan, channel.subscribers, other.name);
  const bool receives = routes.subscribes && has_end(plan, channel.publishers, other.name);
  if (!sends && !receives) return;
  if (way == Route::shm) {
    routes.shm = true;
    return;
  }
  routes.zmq = true;
  const bool same_host = self.host == other.host;
  if (sends) {
    const bool local = same_host && !self.endpoint_given;
    const std::string endpoint = local ? local_endpoint(plan, self.name) : self.endpoint;
    add_once(channels_of(out.binds, endpoint), channel.name);
  }
  if (receives) {
    const bool local = same_host && !other.endpoint_given;
    const std::string endpoint = local ? local_endpoint(plan, other.name)
                                       : plan::connect_form(other.endpoint, *plan.host(other.host));
    add_once(channels_of(out.peers, endpoint), channel.name);
    for (PeerLink& peer : out.peers) {
      if (peer.endpoint == endpoint) peer.process = other.name;
    }
  }
}

void add_links(const Plan& plan, const std::string& process, Connections& out) {
  const auto mark = [&](const std::string& name) {
    for (ChannelRoutes& routes : out.channels) {
      if (routes.channel == name) routes.zmq = true;
    }
  };
  for (const LinkPlan& link : plan.network.publishers) {
    if (link.process != process) continue;
    std::vector<std::string>& names = channels_of(out.binds, link.endpoint);
    for (const std::string& name : link.channels) add_once(names, name), mark(name);
  }
  for (const LinkPlan& link : plan.network.subscribers) {
    if (link.process != process) continue;
    std::vector<std::string>& names = channels_of(out.peers, link.endpoint);
    for (const std::string& name : link.channels) add_once(names, name), mark(name);
    for (PeerLink& peer : out.peers) {
      if (peer.endpoint == link.endpoint) peer.server_key = link.server_key;
    }
  }
}

/// With multicast, processes outside of the plan may connect: all that may leave is offered.
void add_discoverable(const Plan& plan, const ProcessPlan& self, Connections& out) {
  for (std::size_t i = 0; i < plan.channels.size(); ++i) {
    const ChannelPlan& channel = plan.channels[i];
    if (channel.reach != Reach::network || channel.transport == TransportChoice::shm) continue;
    out.channels[i].zmq = true;
    if (out.channels[i].publishes) add_once(channels_of(out.binds, self.endpoint), channel.name);
  }
}

}  // namespace

std::string plan::connect_form(const std::string& bound, const HostPlan& host) {
  std::string why;
  std::optional<Endpoint> endpoint = parse_endpoint(bound, why);
  if (!endpoint || endpoint->ipc) return bound;
  const bool numeric = is_ipv4(endpoint->host) || is_ipv6(endpoint->host);
  // A wildcard or an interface name: peers use the host's address.
  if (endpoint->wildcard() || !numeric) endpoint->host = host.address;
  return endpoint->to_string();
}

Route route(const Plan& plan, const ChannelPlan& channel, std::string_view from_process,
            std::string_view to_process) {
  const ProcessPlan* from = plan.process(from_process);
  const ProcessPlan* to = plan.process(to_process);
  if (from == nullptr || to == nullptr) return Route::none;
  return way_between(channel, *from, *to);
}

std::vector<plan::Path> plan::paths_of(const Plan& plan, const ChannelPlan& channel) {
  std::vector<Path> out;
  if (!channel.publishers || !channel.subscribers) return out;
  for (const std::string& from : *channel.publishers) {
    for (const std::string& to : *channel.subscribers) {
      const Route way = route(plan, channel, plan.node(from)->process, plan.node(to)->process);
      out.push_back({from, to, way});
    }
  }
  return out;
}

std::vector<Route> plan::routes_of(const Plan& plan, const ChannelPlan& channel) {
  std::array<bool, 4> used{};
  for (const ProcessPlan& from : plan.processes) {
    if (!has_end(plan, channel.publishers, from.name)) continue;
    for (const ProcessPlan& to : plan.processes) {
      if (!has_end(plan, channel.subscribers, to.name)) continue;
      used[static_cast<std::size_t>(way_between(channel, from, to))] = true;
    }
  }
  const auto names_channel = [&](const LinkPlan& link) {
    return std::find(link.channels.begin(), link.channels.end(), channel.name) !=
           link.channels.end();
  };
  for (const auto* links : {&plan.network.publishers, &plan.network.subscribers}) {
    if (std::any_of(links->begin(), links->end(), names_channel)) {
      used[static_cast<std::size_t>(Route::zmq)] = true;
    }
  }
  std::vector<Route> out;
  for (const Route way : {Route::pointer, Route::shm, Route::zmq}) {
    if (used[static_cast<std::size_t>(way)]) out.push_back(way);
  }
  return out;
}

Result<Connections> connections(const Plan& plan, std::string_view process) {
  const ProcessPlan* self = plan.process(process);
  if (self == nullptr) {
    std::string names;
    for (const ProcessPlan& known : plan.processes) {
      names += (names.empty() ? "" : ", ") + known.name;
    }
    return Error{Code::not_found,
                 "the plan has no process '" + std::string(process) + "'; processes are: " + names,
                 plan.file};
  }
  Connections out;
  out.process = self->name;
  // Always of use: channels that the plan does not name, and tools, meet there.
  out.shm = true;
  for (const ChannelPlan& channel : plan.channels) {
    ChannelRoutes routes;
    routes.channel = channel.name;
    routes.publishes = has_end(plan, channel.publishers, self->name);
    routes.subscribes = has_end(plan, channel.subscribers, self->name);
    for (const ProcessPlan& other : plan.processes) {
      if (&other != self) connect(plan, channel, *self, other, routes, out);
    }
    out.channels.push_back(std::move(routes));
  }
  add_links(plan, self->name, out);
  if (plan.network.discovery.multicast) add_discoverable(plan, *self, out);
  out.zmq = !out.binds.empty() || !out.peers.empty() || plan.network.discovery.multicast;
  return out;
}

const ChannelRoutes* Connections::channel(std::string_view name) const {
  for (const ChannelRoutes& routes : channels) {
    if (routes.channel == name) return &routes;
  }
  return nullptr;
}

}  // namespace hyphos
