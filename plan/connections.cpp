#include <algorithm>
#include <array>
#include <unordered_map>

#include "hyphos/plan.hpp"
#include "plan/build.hpp"
#include "plan/names.hpp"
#include "plan/paths.hpp"

namespace hyphos {
namespace {

/// Which processes hold a declared end, by index; undeclared ends may be anywhere.
class EndsByProcess {
 public:
  explicit EndsByProcess(const Plan& plan) : plan_(plan) {
    std::unordered_map<std::string_view, std::size_t> index;
    for (const ProcessPlan& process : plan.processes) index.emplace(process.name, index.size());
    for (const NodePlan& node : plan.nodes) process_of_[node.name] = index[node.process];
  }

  [[nodiscard]] std::vector<bool> of(const std::optional<std::vector<std::string>>& ends) const {
    std::vector<bool> out(plan_.processes.size(), !ends.has_value());
    if (!ends) return out;
    for (const std::string& name : *ends) {
      if (const auto at = process_of_.find(name); at != process_of_.end()) out[at->second] = true;
    }
    return out;
  }

 private:
  const Plan& plan_;
  std::unordered_map<std::string_view, std::size_t> process_of_;
};

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
  // Channels come in order, so a repetition is nearly always the last one.
  if (!names.empty() && names.back() == name) return;
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

/// Adds what `channel` needs between `self` and one other process.
void connect(const Plan& plan, const ChannelPlan& channel, const ProcessPlan& self,
             const ProcessPlan& other, bool sends, bool receives, ChannelRoutes& routes,
             Connections& out) {
  if (!sends && !receives) return;
  const Route way = way_between(channel, self, other);
  if (way == Route::none) return;
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
  const EndsByProcess ends(plan);
  const std::vector<bool> publish = ends.of(channel.publishers);
  const std::vector<bool> subscribe = ends.of(channel.subscribers);
  for (std::size_t from = 0; from < plan.processes.size(); ++from) {
    for (std::size_t to = 0; publish[from] && to < plan.processes.size(); ++to) {
      if (!subscribe[to]) continue;
      const Route way = way_between(channel, plan.processes[from], plan.processes[to]);
      used[static_cast<std::size_t>(way)] = true;
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
  const EndsByProcess ends(plan);
  const auto own = static_cast<std::size_t>(self - plan.processes.data());
  for (const ChannelPlan& channel : plan.channels) {
    const std::vector<bool> publish = ends.of(channel.publishers);
    const std::vector<bool> subscribe = ends.of(channel.subscribers);
    ChannelRoutes routes{channel.name, publish[own], subscribe[own], false, false};
    for (std::size_t i = 0; i < plan.processes.size(); ++i) {
      if (i == own) continue;
      connect(plan, channel, *self, plan.processes[i], publish[own] && subscribe[i],
              publish[i] && subscribe[own], routes, out);
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
