#include "node/links.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "shm/metrics.hpp"
#include "transport/shm.hpp"
#include "transport/zmq.hpp"

namespace hyphos {
namespace {

using transport::CurveKeys;
using transport::ZmqConfig;
using transport::ZmqPeer;
using transport::ZmqTransport;

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

Result<std::optional<CurveKeys>> read_curve(const Plan& plan) {
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

Result<std::shared_ptr<ZmqTransport>> open_zmq(const RuntimeOptions& options, const Plan& plan,
                                               const Connections& connections) {
  ZmqConfig config;
  config.process_name = options.process;
  auto curve = read_curve(plan);
  if (!curve) return curve.error();
  config.curve = std::move(*curve);
  std::vector<std::string> published;
  for (const BindLink& bind : connections.binds) {
    config.bind.push_back(bind.endpoint);
    published.insert(published.end(), bind.channels.begin(), bind.channels.end());
  }
  config.publish_channels = std::move(published);
  for (const PeerLink& link : connections.peers) {
    ZmqPeer peer{link.endpoint, link.channels, std::nullopt};
    if (config.curve) {
      peer.server_key = config.curve->public_key;
      if (!link.server_key.empty()) {
        auto key = read_key(plan.resolve(link.server_key));
        if (!key) return key.error();
        peer.server_key = std::move(*key);
      }
    }
    config.connect.push_back(std::move(peer));
  }
  std::shared_ptr<ZmqTransport> zmq = transport::make_zmq(std::move(config));
  if (auto started = zmq->start(); !started) return started.error();
  return zmq;
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
                   "' with an IPv4 address; there are: " + known,
               interface};
}

Result<std::unique_ptr<transport::Announcer>> open_announcer(
    const RuntimeOptions& options, const Plan& plan, const Connections& connections,
    const std::string& domain, const std::shared_ptr<ZmqTransport>& zmq) {
  const DiscoveryPlan& discovery = plan.network.discovery;
  transport::AnnounceConfig config;
  config.domain = domain;
  config.process_name = options.process;
  config.session = zmq->session();
  config.endpoints = zmq->endpoints();
  config.group = discovery.group;
  config.port = static_cast<std::uint16_t>(discovery.port);
  config.period_ms = discovery.interval_ms;
  if (!discovery.interface.empty()) {
    auto address = interface_address(discovery.interface);
    if (!address) return address.error();
    config.interfaces.push_back(std::move(*address));
  }
  auto curve = read_curve(plan);
  if (!curve) return curve.error();
  if (*curve) config.curve_key = (*curve)->public_key;
  auto announcer = transport::make_announcer(std::move(config));
  std::vector<transport::ChannelSpec> channels;
  for (const ChannelRoutes& routes : connections.channels) {
    if (!routes.publishes || !routes.zmq) continue;
    const ChannelPlan& planned = *plan.channel(routes.channel);
    transport::ChannelSpec spec;
    spec.name = planned.name;
    spec.type.name = planned.type;
    spec.policy = planned.policy;
    channels.push_back(std::move(spec));
  }
  announcer->set_channels(channels);
  auto callbacks = transport::connect_announced(zmq, curve->has_value(), false);
  auto started = announcer->start(std::move(callbacks.found), std::move(callbacks.lost));
  if (!started) return started.error();
  return announcer;
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
  // Shared memory is always there: tools find the process and its counters through it.
  transport::ShmConfig config;
  config.domain = domain;
  config.process_name = options.process;
  std::shared_ptr<transport::ShmTransport> shm = transport::make_shm(std::move(config));
  if (auto started = shm->start(); !started) return started.error();
  links.registry = std::make_shared<trace::Registry>(shm->metrics(), shm, options.process,
                                                     shm->participant_id());
  links.transports.push_back(shm);
  if (connections != nullptr && connections->zmq) {
    auto zmq = open_zmq(options, *plan, *connections);
    if (!zmq) return zmq.error();
    links.transports.push_back(*zmq);
    if (plan->network.discovery.multicast) {
      auto announcer = open_announcer(options, *plan, *connections, domain, *zmq);
      if (!announcer) return announcer.error();
      links.announcer = std::move(*announcer);
    }
  }
  return links;
}

Result<void> set_peer_open(graph::Graph& graph, const std::string& channel, const std::string& peer,
                           bool open) {
  auto* zmq = dynamic_cast<ZmqTransport*>(graph.transport("zmq"));
  if (zmq == nullptr) {
    return Error{Code::unsupported, "this process has no network peers: its plan names none", peer};
  }
  // Not peers(): it names only those with whom a channel is open.
  if (!zmq->has_peer(peer)) {
    std::string known;
    for (const auto& p : zmq->peers()) known += (known.empty() ? "" : ", ") + p.endpoint;
    return Error{Code::not_found, "no peer '" + peer + "'; with open channels there are: " + known,
                 peer};
  }
  zmq->subscribe_channel(channel, open, peer);
  zmq->publish_channel(channel, open, peer);
  return success();
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

}  // namespace hyphos
