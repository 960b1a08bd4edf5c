#include <algorithm>
#include <limits>
#include <utility>

#include "plan/build.hpp"
#include "plan/names.hpp"
#include "plan/transports.hpp"

namespace hyphos::plan {
namespace {

constexpr std::int64_t kMaxIntervalMs = 60'000;
constexpr double kMaxFaultMs = 60'000;

/// Reads one map under `publisher` or `subscribers`.
void read_link(const Value& value, const std::string& path, bool publisher, Draft& draft) {
  const Section section =
      publisher
          ? Section(&value, path, draft.problems, {"ip", "channels", "process"})
          : Section(&value, path, draft.problems, {"ip", "channels", "process", "server_key"});
  if (!value.is(Value::Kind::map)) {
    if (value.is(Value::Kind::null)) draft.error(value.source, path + ": needs ip and channels");
    return;
  }
  LinkPlan link;
  link.source = to_line(section.has("ip") ? section.at("ip") : value.source);
  const std::string ip = section.text("ip", "");
  // "x" in the paper means no endpoint: the entry connects nothing, and its channels stay inside.
  const bool no_endpoint = ip == "x";
  std::string why;
  const std::optional<Endpoint> endpoint = parse_endpoint(ip, why);
  if (ip.empty()) {
    section.error("ip", "missing: write the endpoint, as in ip: \"tcp://*:5553\"");
  } else if (no_endpoint) {
    link.endpoint.clear();
  } else if (!endpoint) {
    section.error("ip", "'" + ip + "': " + why);
  } else if (!publisher && endpoint->wildcard()) {
    section.error("ip", "'" + ip +
                            "' is every address of this machine. A subscriber needs the "
                            "publisher's address, as in tcp://192.168.10.5:" +
                            std::to_string(endpoint->port));
  } else if (publisher && endpoint->host == "localhost") {
    section.error("ip", "a name cannot be bound, use 127.0.0.1");
  } else {
    link.endpoint = endpoint->to_string();
  }
  link.channels = draft.refer_to_channels(section.words("channels"), section.path("channels"));
  if (!section.has("channels"))
    section.error("channels", "missing: list the channels of this link");
  for (const std::string& name : link.channels) {
    const ChannelPlan& channel = *draft.channel(name);
    const TransportTraits* way = carrier(channel, false);
    if (way != nullptr && way->endpoints) continue;
    section.error(
        "channels",
        "channel '" + name + "' has " +
            (channel.reach != Reach::network ? "scope " + std::string(to_string(channel.reach))
                                             : "transport " + channel.transport) +
            " at " + channel.source.to_string() + ", so it cannot pass here. Change one");
  }
  link.server_key = section.text("server_key", "");
  const bool single = draft.plan.processes.size() == 1;
  link.process = section.text("process", single ? draft.plan.processes.front().name : "");
  if (link.process.empty()) {
    section.error("process",
                  "missing: the plan has several processes" +
                      suggestion(draft.problems, "", "processes", draft.process_names()));
  } else if (draft.plan.process(link.process) == nullptr) {
    section.error("process",
                  "unknown process '" + link.process + "'" +
                      suggestion(draft.problems, link.process, "processes", draft.process_names()));
  }
  if (no_endpoint) return;
  auto& links = publisher ? draft.plan.network.publishers : draft.plan.network.subscribers;
  links.push_back(std::move(link));
}

void read_links(const Section& network, std::string_view key, bool publisher, Draft& draft) {
  const Value* value = network.find(key);
  if (value == nullptr) return;
  const std::string path = network.path(key);
  if (!value->is(Value::Kind::list)) return read_link(*value, path, publisher, draft);
  if (value->items.size() > kMaxProcesses) {
    return draft.error(value->source, path + ": more than " + std::to_string(kMaxProcesses));
  }
  for (const Value& item : value->items) read_link(item, path, publisher, draft);
}

void read_discovery(const Value* value, Draft& draft) {
  const Section section(value, "network.discovery", draft.problems,
                        {"multicast", "group", "port", "interface", "interval_ms"});
  DiscoveryPlan& discovery = draft.plan.network.discovery;
  discovery.multicast = section.boolean("multicast", discovery.multicast);
  discovery.group = section.text("group", discovery.group);
  if (!is_multicast_ipv4(discovery.group)) {
    section.error("group", "expected an address from 224.0.0.0 to 239.255.255.255, found '" +
                               discovery.group + "'");
  }
  discovery.port = static_cast<int>(section.integer("port", discovery.port, 1, 65535));
  discovery.interface = section.text("interface", "");
  constexpr std::size_t kMaxInterface = 15;  // IFNAMSIZ including its NUL
  if (discovery.interface.size() > kMaxInterface ||
      discovery.interface.find_first_of(" \t\n/") != std::string::npos) {
    section.error("interface", "expected the name of a network interface, as in eth0");
  }
  discovery.interval_ms = section.integer("interval_ms", discovery.interval_ms, 10, kMaxIntervalMs);
}

void read_curve(const Value* value, Draft& draft) {
  const Section section(value, "network.curve", draft.problems,
                        {"public_key_file", "secret_key_file", "allowed_keys"});
  if (value == nullptr || value->is(Value::Kind::null)) return;
  CurvePlan& curve = draft.plan.network.curve;
  curve.enabled = true;
  const auto file = [&](const char* key) {
    const std::string name = section.text(key, "");
    if (!section.has(key)) {
      section.error(key, "missing: CURVE needs both files of a key pair, one Z85 key in each");
    } else if (const std::string why = file_name_problem(name); !why.empty()) {
      section.error(key, why);
    }
    return name;
  };
  curve.public_key_file = file("public_key_file");
  curve.secret_key_file = file("secret_key_file");
  for (const Word& word : section.words("allowed_keys")) {
    if (const std::string why = file_name_problem(word.text); !why.empty()) {
      draft.error(word.source, section.path("allowed_keys") + ": " + why);
    }
    curve.allowed_keys.push_back(word.text);
  }
}

void read_faults(const Value* value, Draft& draft) {
  const Section section(value, "network.faults", draft.problems,
                        {"loss", "duplicate", "reorder", "delay_ms", "jitter_ms", "seed"});
  if (value == nullptr || value->is(Value::Kind::null)) return;
  FaultPlan& faults = draft.plan.network.faults.emplace();
  faults.loss = section.real("loss", 0, 0, 1);
  faults.duplicate = section.real("duplicate", 0, 0, 1);
  faults.reorder = section.real("reorder", 0, 0, 1);
  faults.delay_ms = section.real("delay_ms", 0, 0, kMaxFaultMs);
  faults.jitter_ms = section.real("jitter_ms", 0, 0, kMaxFaultMs);
  faults.seed = section.integer("seed", 1, 0, std::numeric_limits<std::int64_t>::max());
}

/// Derives the endpoints of processes without one: the host's address, and a consecutive port.
void derive_endpoints(Plan& plan) {
  for (std::size_t i = 0; i < plan.processes.size(); ++i) {
    ProcessPlan& process = plan.processes[i];
    const HostPlan* host = plan.host(process.host);
    const std::size_t port = static_cast<std::size_t>(plan.network.base_port) + i;
    if (process.endpoint_given || host == nullptr || port > 65535) continue;
    // A host name may not be bindable, but "*" always is.
    const bool numeric = is_ipv4(host->address) || is_ipv6(host->address);
    const Endpoint endpoint{false, numeric ? host->address : "*", static_cast<int>(port)};
    process.endpoint = endpoint.to_string();
  }
}

}  // namespace

void read_network(const Value* value, Draft& draft) {
  const Section section(value, "network", draft.problems,
                        {"publisher", "subscribers", "base_port", "discovery", "curve", "faults"});
  NetworkPlan& network = draft.plan.network;
  network.base_port =
      static_cast<int>(section.integer("base_port", network.base_port, 1024, 65535));
  read_discovery(section.find("discovery"), draft);
  read_curve(section.find("curve"), draft);
  read_faults(section.find("faults"), draft);
  read_links(section, "publisher", true, draft);
  read_links(section, "subscribers", false, draft);
  for (LinkPlan& link : network.subscribers) {
    if (link.server_key.empty() || network.curve.enabled) continue;
    draft.error(to_source(link.source),
                "network.subscribers.server_key: needs our own keys. Add network.curve");
  }
  derive_endpoints(draft.plan);
}

}  // namespace hyphos::plan
