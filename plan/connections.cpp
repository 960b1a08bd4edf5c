#include <algorithm>
#include <unordered_map>

#include "hyphos/plan.hpp"
#include "plan/build.hpp"
#include "plan/names.hpp"
#include "plan/paths.hpp"
#include "plan/transports.hpp"

namespace hyphos {
namespace {

/// Maps a declared list of nodes to the processes in which they may run, by index. Undeclared nodes
/// may be in any process.
class EndsByProcess {
 public:
  explicit EndsByProcess(const Plan& plan) : plan_(plan) {
    std::unordered_map<std::string_view, std::size_t> index;
    for (const ProcessPlan& process : plan.processes) index.emplace(process.name, index.size());
    for (const NodePlan& node : plan.nodes) processes_of_[node.name] = {index[node.process]};
    for (const GroupPlan& group : plan.groups) {
      for (const std::string& node : group.nodes) {
        for (const std::string& target : group.moves_to) {
          processes_of_[node].push_back(index[target]);
        }
      }
    }
  }

  [[nodiscard]] std::vector<bool> of(const std::optional<std::vector<std::string>>& ends) const {
    std::vector<bool> out(plan_.processes.size(), !ends.has_value());
    if (!ends) return out;
    for (const std::string& name : *ends) {
      const auto at = processes_of_.find(name);
      if (at == processes_of_.end()) continue;
      for (const std::size_t process : at->second) out[process] = true;
    }
    return out;
  }

 private:
  const Plan& plan_;
  std::unordered_map<std::string_view, std::vector<std::size_t>> processes_of_;
};

/// The default endpoint between processes of one host: a name in the abstract namespace, which
/// leaves no file behind.
std::string local_endpoint(const Plan& plan, const std::string& process) {
  return "ipc://@hyphos." + plan.domain + "." + process;
}

Route way_between(const ChannelPlan& channel, const ProcessPlan& from, const ProcessPlan& to) {
  if (from.name == to.name) return kByPointer;
  const plan::TransportTraits* way = plan::carrier(channel, from.host == to.host);
  return way != nullptr ? way->name : kNoRoute;
}

template <typename Link>
Link& link_at(std::vector<Link>& links, std::string_view transport, const std::string& endpoint) {
  for (Link& link : links) {
    if (link.endpoint == endpoint && link.transport == transport) return link;
  }
  links.push_back({});
  links.back().transport = transport;
  links.back().endpoint = endpoint;
  return links.back();
}

void add_once(std::vector<std::string>& names, std::string_view name) {
  // Channels come in order, so a repeated name is nearly always the last one.
  if (!names.empty() && names.back() == name) return;
  if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
}

/// Sorts by preference, independent of the order of discovery.
void sort_transports(std::vector<std::string>& names) {
  std::vector<std::string> sorted;
  for (const plan::TransportTraits& each : plan::transports()) {
    if (std::find(names.begin(), names.end(), each.name) != names.end()) {
      sorted.emplace_back(each.name);
    }
  }
  names = std::move(sorted);
}

/// Adds the connections that `channel` needs between `self` and one other process.
void connect(const Plan& plan, const ChannelPlan& channel, const ProcessPlan& self,
             const ProcessPlan& other, bool sends, bool receives, ChannelRoutes& routes,
             Connections& out) {
  if (!sends && !receives) return;
  const Route way = way_between(channel, self, other);
  if (way == kNoRoute || way == kByPointer) return;
  add_once(routes.transports, way);
  if (!plan::transport(way)->endpoints) return;
  const bool same_host = self.host == other.host;
  if (sends) {
    const bool local = same_host && !self.endpoint_given;
    const std::string endpoint = local ? local_endpoint(plan, self.name) : self.endpoint;
    add_once(link_at(out.binds, way, endpoint).channels, channel.name);
  }
  if (receives) {
    const bool local = same_host && !other.endpoint_given;
    const std::string endpoint = local ? local_endpoint(plan, other.name)
                                       : plan::connect_form(other.endpoint, *plan.host(other.host));
    PeerLink& peer = link_at(out.peers, way, endpoint);
    add_once(peer.channels, channel.name);
    peer.process = other.name;
  }
}

void add_links(const Plan& plan, const std::string& process, Connections& out) {
  // Returns the transport for messages of the channel that leave the host, and adds it to the
  // channel's routes.
  const auto way_out = [&](const std::string& name) {
    const plan::TransportTraits* way = plan::carrier(*plan.channel(name), false);
    for (ChannelRoutes& routes : out.channels) {
      if (way != nullptr && routes.channel == name) add_once(routes.transports, way->name);
    }
    return way;
  };
  for (const LinkPlan& link : plan.network.publishers) {
    if (link.process != process) continue;
    for (const std::string& name : link.channels) {
      const plan::TransportTraits* way = way_out(name);
      if (way != nullptr) add_once(link_at(out.binds, way->name, link.endpoint).channels, name);
    }
  }
  for (const LinkPlan& link : plan.network.subscribers) {
    if (link.process != process) continue;
    for (const std::string& name : link.channels) {
      const plan::TransportTraits* way = way_out(name);
      if (way == nullptr) continue;
      PeerLink& peer = link_at(out.peers, way->name, link.endpoint);
      add_once(peer.channels, name);
      peer.server_key = link.server_key;
    }
  }
}

/// With multicast, processes outside of the plan may connect, so every channel that may leave is
/// offered.
void add_discoverable(const Plan& plan, const ProcessPlan& self, Connections& out) {
  for (std::size_t i = 0; i < plan.channels.size(); ++i) {
    const ChannelPlan& channel = plan.channels[i];
    const plan::TransportTraits* way = plan::carrier(channel, false);
    if (way == nullptr) continue;
    add_once(out.channels[i].transports, way->name);
    add_once(out.transports, way->name);
    if (!way->endpoints || !out.channels[i].publishes) continue;
    add_once(link_at(out.binds, way->name, self.endpoint).channels, channel.name);
  }
}

}  // namespace

std::string plan::connect_form(const std::string& bound, const HostPlan& host) {
  std::string why;
  std::optional<Endpoint> endpoint = parse_endpoint(bound, why);
  if (!endpoint || endpoint->ipc) return bound;
  const bool numeric = is_ipv4(endpoint->host) || is_ipv6(endpoint->host);
  // For a wildcard or an interface name, peers use the host's address.
  if (endpoint->wildcard() || !numeric) endpoint->host = host.address;
  return endpoint->to_string();
}

Route route(const Plan& plan, const ChannelPlan& channel, std::string_view from_process,
            std::string_view to_process) {
  const ProcessPlan* from = plan.process(from_process);
  const ProcessPlan* to = plan.process(to_process);
  if (from == nullptr || to == nullptr) return kNoRoute;
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
  std::vector<std::string> used;
  const EndsByProcess ends(plan);
  const std::vector<bool> publish = ends.of(channel.publishers);
  const std::vector<bool> subscribe = ends.of(channel.subscribers);
  for (std::size_t from = 0; from < plan.processes.size(); ++from) {
    for (std::size_t to = 0; publish[from] && to < plan.processes.size(); ++to) {
      if (!subscribe[to]) continue;
      add_once(used, way_between(channel, plan.processes[from], plan.processes[to]));
    }
  }
  const auto names_channel = [&](const LinkPlan& link) {
    return std::find(link.channels.begin(), link.channels.end(), channel.name) !=
           link.channels.end();
  };
  for (const auto* links : {&plan.network.publishers, &plan.network.subscribers}) {
    const TransportTraits* way = carrier(channel, false);
    if (way != nullptr && std::any_of(links->begin(), links->end(), names_channel)) {
      add_once(used, way->name);
    }
  }
  std::vector<Route> out;
  const auto is_used = [&](Route way) {
    return std::find(used.begin(), used.end(), way) != used.end();
  };
  if (is_used(kByPointer)) out.push_back(kByPointer);
  for (const TransportTraits& each : transports()) {
    if (is_used(each.name)) out.push_back(each.name);
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
    return Error{
        Code::not_found,
        "the plan has no process '" + std::string(process) + "' (processes are: " + names + ")",
        plan.file};
  }
  Connections out;
  out.process = self->name;
  const EndsByProcess ends(plan);
  const auto own = static_cast<std::size_t>(self - plan.processes.data());
  for (const ChannelPlan& channel : plan.channels) {
    const std::vector<bool> publish = ends.of(channel.publishers);
    const std::vector<bool> subscribe = ends.of(channel.subscribers);
    ChannelRoutes routes{channel.name, publish[own], subscribe[own], {}};
    for (std::size_t i = 0; i < plan.processes.size(); ++i) {
      if (i == own) continue;
      connect(plan, channel, *self, plan.processes[i], publish[own] && subscribe[i],
              publish[i] && subscribe[own], routes, out);
    }
    out.channels.push_back(std::move(routes));
  }
  add_links(plan, self->name, out);
  if (plan.network.discovery.multicast) add_discoverable(plan, *self, out);
  add_once(out.transports, plan::transports().front().name);
  for (ChannelRoutes& routes : out.channels) {
    sort_transports(routes.transports);
    for (const std::string& name : routes.transports) add_once(out.transports, name);
  }
  // Other processes can only discover this one if it has an endpoint to which they can connect.
  const plan::TransportTraits* outward = plan::carrier(ChannelPlan{}, false);
  if (plan.network.discovery.multicast && outward != nullptr) {
    add_once(out.transports, outward->name);
  }
  sort_transports(out.transports);
  return out;
}

bool ChannelRoutes::uses(std::string_view transport) const {
  return std::find(transports.begin(), transports.end(), transport) != transports.end();
}

bool Connections::uses(std::string_view transport) const {
  return std::find(transports.begin(), transports.end(), transport) != transports.end();
}

const ChannelRoutes* Connections::channel(std::string_view name) const {
  for (const ChannelRoutes& routes : channels) {
    if (routes.channel == name) return &routes;
  }
  return nullptr;
}

}  // namespace hyphos
