#include "node/runtime/links.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>

#include "base/config.hpp"
#include "plan/transports.hpp"
#include "shm/metrics.hpp"
#include "shm/participant.hpp"
#include "shm/type_files.hpp"
#include "transport/registry.hpp"

namespace hyphos {
namespace {

using transport::CurveKeys;
using transport::TransportContext;

constexpr std::size_t kZ85KeyLength = 40;

Result<std::string> read_key(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string key;
  if (!(in >> key) || key.size() != kZ85KeyLength) {
    return Error{Code::invalid_config,
                 "not a key file: it must hold one Z85 key of 40 characters "
                 "(hyphos keys PREFIX writes a pair)",
                 file.string()};
  }
  return key;
}

Result<std::optional<CurveKeys>> read_keys(const Plan& plan) {
  const CurvePlan& curve = plan.network.curve;
  if (!curve.enabled) return std::optional<CurveKeys>();
  CurveKeys keys;
  auto public_key = read_key(plan.resolve(curve.public_key_file));
  if (!public_key) return public_key.error();
  auto secret_key = read_key(plan.resolve(curve.secret_key_file));
  if (!secret_key) return secret_key.error();
  keys.public_key = std::move(*public_key);
  keys.secret_key = std::move(*secret_key);
  for (const std::string& file : curve.allowed_keys) {
    auto key = read_key(plan.resolve(file));
    if (!key) return key.error();
    keys.allowed.push_back(std::move(*key));
  }
  // Processes of one plan share its key pair.
  keys.allowed.push_back(keys.public_key);
  return std::optional<CurveKeys>(std::move(keys));
}

/// Adds the bind points and peers of one transport, with the peers' keys.
Result<void> add_addresses(const Plan& plan, const Connections& connections,
                           std::string_view transport, TransportContext& context) {
  context.bind.clear();
  context.connect.clear();
  for (const BindLink& bind : connections.binds) {
    if (bind.transport == transport) context.bind.push_back({bind.endpoint, bind.channels});
  }
  for (const PeerLink& link : connections.peers) {
    if (link.transport != transport) continue;
    transport::PeerAddress peer{link.endpoint, link.channels, std::nullopt};
    if (context.keys) {
      peer.server_key = context.keys->public_key;
      if (!link.server_key.empty()) {
        auto key = read_key(plan.resolve(link.server_key));
        if (!key) return key.error();
        peer.server_key = std::move(*key);
      }
    }
    context.connect.push_back(std::move(peer));
  }
  return success();
}

/// The IPv4 address of an interface given by name ("eth0") or by address.
Result<std::string> interface_address(const std::string& interface) {
  in_addr address{};
  if (inet_pton(AF_INET, interface.c_str(), &address) == 1) return interface;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return Error{Code::io, std::strerror(errno), "getifaddrs"};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(all, &freeifaddrs);
  std::string known;
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
    if (interface == each->ifa_name) {
      sockaddr_in found{};
      std::memcpy(&found, each->ifa_addr, sizeof(found));
      std::array<char, INET_ADDRSTRLEN> text{};
      inet_ntop(AF_INET, &found.sin_addr, text.data(), text.size());
      return std::string(text.data());
    }
    known += (known.empty() ? "" : ", ") + std::string(each->ifa_name);
  }
  return Error{Code::not_found,
               "network.discovery.interface: no interface '" + interface +
                   "' with an IPv4 address. Known: " + known,
               interface};
}

/// The endpoints for peers that the plan does not name: those that offer all channels that may
/// leave. Other endpoints are for named peers and offer fewer channels.
std::vector<std::string> public_endpoints(const Plan& plan, const OpenLink& link,
                                          const Connections& connections) {
  const std::string& wanted = plan.process(connections.process)->endpoint;
  const std::vector<std::string> bound = link.peering->endpoints();  // in the order of the binds
  std::vector<std::string> found;
  std::size_t index = 0;
  for (const BindLink& bind : connections.binds) {
    if (bind.transport != link.transport->name()) continue;
    if (bind.endpoint == wanted && index < bound.size()) found.push_back(bound[index]);
    ++index;
  }
  return found;
}

Result<std::unique_ptr<transport::Announcer>> open_announcer(const TransportContext& context,
                                                             const Plan& plan,
                                                             const Connections& connections,
                                                             const OpenLink& link) {
  const DiscoveryPlan& discovery = plan.network.discovery;
  transport::AnnounceConfig config;
  config.domain = context.domain;
  config.process_name = context.process_name;
  config.session = link.peering->session();
  config.endpoints = public_endpoints(plan, link, connections);
  config.group = discovery.group;
  config.port = static_cast<std::uint16_t>(discovery.port);
  config.period_ms = discovery.interval_ms;
  if (!discovery.interface.empty()) {
    auto address = interface_address(discovery.interface);
    if (!address) return address.error();
    config.interfaces.push_back(std::move(*address));
  }
  if (context.keys) config.curve_key = context.keys->public_key;
  auto announcer = transport::make_announcer(std::move(config));
  std::vector<transport::ChannelSpec> channels;
  for (const ChannelRoutes& routes : connections.channels) {
    if (!routes.publishes || !routes.uses(link.transport->name())) continue;
    const ChannelPlan& planned = *plan.channel(routes.channel);
    transport::ChannelSpec spec;
    spec.name = planned.name;
    spec.type.name = planned.type;
    spec.policy = planned.policy;
    channels.push_back(std::move(spec));
  }
  announcer->set_channels(channels);
  auto callbacks = transport::connect_announced(link.peering, context.keys.has_value(), false);
  auto started = announcer->start(std::move(callbacks.found), std::move(callbacks.lost));
  if (!started) return started.error();
  return announcer;
}

/// Creates the shared memory that tools read. It is made before any transport, for every process.
Result<std::shared_ptr<shm::Participant>> join_machine(const RuntimeOptions& options,
                                                       const std::string& domain) {
  shm::ParticipantOptions wanted;
  wanted.domain = domain;
  wanted.process_name = options.process;
  wanted.metrics_bytes = trace::Registry::kMinArea;
  return shm::Participant::create(wanted);
}

transport::FaultConfig to_faults(const FaultPlan& plan) {
  transport::FaultConfig faults;
  faults.seed = static_cast<std::uint64_t>(plan.seed);
  faults.loss = plan.loss;
  faults.duplicate = plan.duplicate;
  faults.reorder = plan.reorder;
  faults.delay_us = static_cast<std::int64_t>(plan.delay_ms * 1e3);
  faults.jitter_us = static_cast<std::int64_t>(plan.jitter_ms * 1e3);
  return faults;
}

}  // namespace

Result<Links> open_links(const RuntimeOptions& options, const Plan* plan,
                         const Connections* connections, const std::string& domain) {
  Links links;
  if (options.offline) {
    links.registry =
        std::make_shared<trace::Registry>(std::span<std::byte>{}, nullptr, options.process, 0);
    return links;
  }
  auto self = join_machine(options, domain);
  if (!self) return self.error();
  links.registry = std::make_shared<trace::Registry>(
      (*self)->metrics(), *self, options.process, (*self)->id(),
      [self = self->get()](std::size_t bytes) { return self->grow_metrics(bytes); });
  links.publish_types = [files = std::make_shared<shm::TypeFiles>(*self)](std::string_view set) {
    return files->add(set);
  };
  TransportContext context;
  context.process_name = options.process;
  context.domain = domain;
  context.participant = std::move(*self);
  context.guest = plan == nullptr;
  context.on_peer_clock = [registry = links.registry](const PeerClock& peer) {
    registry->set_peer_clock(peer);
  };
  if (plan != nullptr) {
    if (plan->hosts.size() > 1) context.host = plan->process(options.process)->host;
    auto keys = read_keys(*plan);
    if (!keys) return keys.error();
    context.keys = std::move(*keys);
    if (plan->network.faults) context.faults = to_faults(*plan->network.faults);
  }
  const std::vector<std::string> wanted =
      connections != nullptr
          ? connections->transports
          : std::vector<std::string>{std::string(plan::transports().front().name)};
  for (const std::string& name : wanted) {
    if (connections != nullptr) {
      auto added = add_addresses(*plan, *connections, name, context);
      if (!added) return added.error();
    }
    auto made = transport::make_transport(name, context);
    if (!made) return made.error();
    if (auto started = made->transport->start(); !started) return started.error();
    links.open.push_back({std::move(made->transport), std::move(made->peering)});
    if (plan == nullptr || !plan->network.discovery.multicast || links.announcer) continue;
    if (links.open.back().peering == nullptr) continue;
    auto announcer = open_announcer(context, *plan, *connections, links.open.back());
    if (!announcer) return announcer.error();
    links.announcer = std::move(*announcer);
  }
  return links;
}

Result<void> set_peer_open(const std::vector<OpenLink>& links, const std::string& channel,
                           const std::vector<std::string>& transports, const std::string& peer,
                           bool open, const std::vector<PeerLink>& planned) {
  std::set<std::string> known;  // names and endpoints
  for (const PeerLink& link : planned) known.insert({link.process, link.endpoint});
  bool any = false;
  for (const OpenLink& link : links) {
    if (link.peering == nullptr) continue;
    any = true;
    // peers() would name only peers with an open channel.
    if (link.peering->has_peer(peer)) {
      const std::string name(link.transport->name());
      if (std::find(transports.begin(), transports.end(), name) == transports.end()) {
        return Error{Code::unsupported,
                     "channel '" + channel + "' does not use " + name +
                         " here, so it cannot be opened or closed for '" + peer +
                         "'. Name it under network.publisher, network.subscribers or channels",
                     channel};
      }
      link.peering->subscribe_channel(channel, open, peer);
      link.peering->publish_channel(channel, open, peer);
      return success();
    }
    for (const auto& p : link.transport->peers()) {
      known.insert(p.who);
      if (p.is_publisher) known.insert(p.endpoint);
    }
  }
  known.erase("");
  if (any) {
    std::string names;
    for (const std::string& name : known) names += (names.empty() ? "" : ", ") + name;
    const std::vector<std::string_view> words(known.begin(), known.end());
    const std::string near(config::nearest(peer, words));
    return Error{Code::not_found,
                 "no peer '" + peer + "'." + (near.empty() ? "" : " Did you mean '" + near + "'?") +
                     " Known peers: " + (names.empty() ? std::string("none") : names),
                 peer};
  }
  return Error{Code::unsupported, "this process has no network peers: its plan names none", peer};
}

Result<std::vector<ProcessInfo>> inspect(const std::string& domain) {
  auto views = shm::open_metrics(domain);
  if (!views) return views.error();
  std::vector<ProcessInfo> processes;
  for (const auto& view : *views) {
    if (!view.alive) continue;
    auto process = trace::read_area(view.bytes());
    if (process) processes.push_back(std::move(*process));
  }
  return processes;
}

Result<std::vector<AnnouncedTypes>> announced_types(const std::string& domain) {
  auto found = shm::read_types(domain);
  if (!found) return found.error();
  std::vector<AnnouncedTypes> all;
  for (auto& one : *found) {
    all.push_back({one.participant, one.pid, std::move(one.process), std::move(one.definitions)});
  }
  return all;
}

Result<std::vector<RecordedEvents>> recorded_events(
    const std::string& domain, const std::map<std::uint64_t, std::uint64_t>& since) {
  auto views = shm::open_metrics(domain);
  if (!views) return views.error();
  std::vector<RecordedEvents> out;
  for (const auto& view : *views) {
    const auto known = since.find(view.participant);
    auto events = trace::read_events(view.bytes(), known != since.end() ? known->second : 0);
    if (!events) continue;
    events->participant = view.participant;  // the key of `since`
    out.push_back(std::move(*events));
  }
  return out;
}

}  // namespace hyphos
