#include <algorithm>
#include <iterator>
#include <utility>

#include "base/json.hpp"
#include "hyphos/plan.hpp"
#include "plan/paths.hpp"

namespace hyphos {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

void text(JsonWriter& json, std::string_view key, std::string_view value) {
  json.key(key);
  json.text(value);
}
void number(JsonWriter& json, std::string_view key, std::int64_t value) {
  json.key(key);
  json.number(value);
}
void real(JsonWriter& json, std::string_view key, double value) {
  json.key(key);
  json.real(value);
}
void boolean(JsonWriter& json, std::string_view key, bool value) {
  json.key(key);
  json.boolean(value);
}
void texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& values) {
  json.key(key);
  json.texts(values);
}
void pairs(JsonWriter& json, std::string_view key, const Pairs& values) {
  json.key(key);
  json.begin_object();
  for (const auto& [name, value] : values) text(json, name, value);
  json.end_object();
}

/// Writes a list under `key`. `write` writes the members of one object.
template <typename T, typename F>
void objects(JsonWriter& json, std::string_view key, const std::vector<T>& values, F write) {
  json.key(key);
  json.begin_list();
  for (const T& value : values) {
    json.begin_object();
    write(value);
    json.end_object();
  }
  json.end_list();
}

void write_param(JsonWriter& json, const ParamValue& param) {
  switch (param.kind) {
    case ParamValue::Kind::null:
      return json.null();
    case ParamValue::Kind::list:
      json.begin_list();
      for (const ParamValue& item : param.items) write_param(json, item);
      return json.end_list();
    case ParamValue::Kind::map:
      json.begin_object();
      for (const auto& [key, value] : param.entries) {
        json.key(key);
        write_param(json, value);
      }
      return json.end_object();
    case ParamValue::Kind::scalar:
      break;
  }
  if (const auto integer = param.as_integer()) return json.number(*integer);
  if (const auto real = param.as_real()) return json.real(*real);
  if (const auto flag = param.as_boolean()) return json.boolean(*flag);
  json.text(param.text);
}

/// The path that the runtime opens. "" stays "".
std::string resolved(const Plan& plan, const std::string& file) {
  return file.empty() ? file : plan.resolve(file).string();
}

void write_connections(JsonWriter& json, const Plan& plan, const std::string& process) {
  const Connections links = *connections(plan, process);
  json.key("connections");
  json.begin_object();
  boolean(json, "shm", links.uses("shm"));
  boolean(json, "zmq", links.uses("zmq"));
  texts(json, "transports", links.transports);
  objects(json, "binds", links.binds, [&](const BindLink& bind) {
    text(json, "transport", bind.transport);
    text(json, "endpoint", bind.endpoint);
    texts(json, "channels", bind.channels);
  });
  objects(json, "peers", links.peers, [&](const PeerLink& peer) {
    text(json, "process", peer.process);
    text(json, "transport", peer.transport);
    text(json, "endpoint", peer.endpoint);
    texts(json, "channels", peer.channels);
    text(json, "server_key", resolved(plan, peer.server_key));
  });
  objects(json, "channels", links.channels, [&](const ChannelRoutes& routes) {
    text(json, "channel", routes.channel);
    boolean(json, "publishes", routes.publishes);
    boolean(json, "subscribes", routes.subscribes);
    boolean(json, "shm", routes.uses("shm"));
    boolean(json, "zmq", routes.uses("zmq"));
    texts(json, "transports", routes.transports);
  });
  json.end_object();
}

void write_supervision(JsonWriter& json, const SupervisionPlan& supervision) {
  texts(json, "after", supervision.after);
  text(json, "ready", to_string(supervision.ready));
  number(json, "ready_timeout_ms", supervision.ready_timeout_ms);
  number(json, "stop_timeout_ms", supervision.stop_timeout_ms);
  text(json, "restart", to_string(supervision.restart));
  number(json, "backoff_ms", supervision.backoff_ms);
  number(json, "max_backoff_ms", supervision.max_backoff_ms);
  number(json, "max_restarts_per_minute", supervision.max_restarts_per_minute);
  json.key("health");
  json.begin_object();
  number(json, "heartbeat_ms", supervision.health.heartbeat_ms);
  texts(json, "channels", supervision.health.channels);
  text(json, "action", supervision.health.kill ? "kill" : "report");
  json.end_object();
}

void write_process(JsonWriter& json, const Plan& plan, const ProcessPlan& process) {
  text(json, "name", process.name);
  text(json, "host", process.host);
  text(json, "kind", to_string(process.kind));
  texts(json, "nodes", process.nodes);
  number(json, "threads", process.threads);
  json.key("cpu_affinity");
  json.begin_list();
  for (const int cpu : process.cpu_affinity) json.number(cpu);
  json.end_list();
  text(json, "log_level", process.log_level);
  pairs(json, "env", process.env);
  texts(json, "prefix", process.prefix);
  text(json, "endpoint", process.endpoint);
  boolean(json, "endpoint_given", process.endpoint_given);
  write_supervision(json, process.supervision);
  text(json, "source", process.source.to_string());
  write_connections(json, plan, process.name);
}

void write_node(JsonWriter& json, const NodePlan& node) {
  text(json, "name", node.name);
  text(json, "process", node.process);
  text(json, "kind", to_string(node.kind));
  text(json, "program", node.program);
  text(json, "python_class", node.python_class);
  texts(json, "args", node.args);
  json.key("params");
  if (node.params.kind == ParamValue::Kind::null) {
    json.begin_object();
    json.end_object();
  } else {
    write_param(json, node.params);
  }
  text(json, "persist", node.persist);
  pairs(json, "remap", node.remap);
  texts(json, "services", node.services);
  texts(json, "calls", node.calls);
  texts(json, "actions", node.actions);
  texts(json, "goals", node.goals);
  json.key("load");
  json.begin_object();
  real(json, "work_us", node.load.work_us);
  json.key("work_us_of");
  json.begin_object();
  for (const auto& [channel, work_us] : node.load.work_us_of) real(json, channel, work_us);
  json.end_object();
  json.end_object();
  text(json, "source", node.source.to_string());
}

void write_channel(JsonWriter& json, const Plan& plan, const ChannelPlan& channel) {
  const Policy& policy = channel.policy;
  text(json, "name", channel.name);
  text(json, "type", channel.type);
  text(json, "reliability", to_string(policy.reliability));
  text(json, "overflow", to_string(policy.overflow));
  number(json, "depth", policy.depth);
  text(json, "priority", to_string(policy.priority));
  boolean(json, "latched", policy.latched);
  number(json, "latched_depth", policy.latched_depth);
  number(json, "deadline_ms", policy.deadline_ms);
  number(json, "block_timeout_ms", policy.block_timeout_ms);
  number(json, "lifespan_ms", policy.lifespan_ms);
  text(json, "scope", to_string(channel.reach));
  text(json, "transport", channel.transport);
  for (const auto& [key, ends] : {std::pair{"publishers", &channel.publishers},
                                  std::pair{"subscribers", &channel.subscribers}}) {
    json.key(key);
    if (*ends) {
      json.texts(**ends);
    } else {
      json.null();
    }
  }
  json.key("load");
  if (channel.load) {
    json.begin_object();
    real(json, "rate_hz", channel.load->rate_hz);
    text(json, "after", channel.load->after);
    number(json, "every", channel.load->every);
    number(json, "size_bytes", channel.load->size_bytes);
    real(json, "work_us", channel.load->work_us);
    json.end_object();
  } else {
    json.null();
  }
  boolean(json, "closed", channel.open == Where::nowhere);
  text(json, "open", to_string(channel.open));
  boolean(json, "implied", channel.implied);
  text(json, "source", channel.source.to_string());
  objects(json, "routes", plan::paths_of(plan, channel), [&](const plan::Path& path) {
    text(json, "from", path.from);
    text(json, "to", path.to);
    text(json, "route", path.route);
  });
}

void write_network(JsonWriter& json, const Plan& plan) {
  const NetworkPlan& network = plan.network;
  number(json, "base_port", network.base_port);
  for (const auto& [key, links] : {std::pair{"publishers", &network.publishers},
                                   std::pair{"subscribers", &network.subscribers}}) {
    objects(json, key, *links, [&](const LinkPlan& link) {
      text(json, "process", link.process);
      text(json, "endpoint", link.endpoint);
      texts(json, "channels", link.channels);
      text(json, "server_key", resolved(plan, link.server_key));
    });
  }
  json.key("discovery");
  json.begin_object();
  boolean(json, "multicast", network.discovery.multicast);
  text(json, "group", network.discovery.group);
  number(json, "port", network.discovery.port);
  text(json, "interface", network.discovery.interface);
  number(json, "interval_ms", network.discovery.interval_ms);
  json.end_object();
  json.key("curve");
  json.begin_object();
  boolean(json, "enabled", network.curve.enabled);
  text(json, "public_key_file", resolved(plan, network.curve.public_key_file));
  text(json, "secret_key_file", resolved(plan, network.curve.secret_key_file));
  json.key("allowed_keys");
  json.begin_list();
  for (const std::string& file : network.curve.allowed_keys) json.text(resolved(plan, file));
  json.end_list();
  json.end_object();
  if (!network.faults) return;
  json.key("faults");
  json.begin_object();
  const FaultPlan& faults = *network.faults;
  for (const auto& [name, value] : {std::pair{"loss", faults.loss},
                                    {"duplicate", faults.duplicate},
                                    {"reorder", faults.reorder},
                                    {"delay_ms", faults.delay_ms},
                                    {"jitter_ms", faults.jitter_ms}}) {
    real(json, name, value);
  }
  number(json, "seed", faults.seed);
  json.end_object();
}

}  // namespace

std::string to_json(const Plan& plan) {
  JsonWriter json;
  json.begin_object();
  number(json, "hyphos", 1);
  text(json, "file", plan.file);
  text(json, "directory", plan.directory.string());
  text(json, "robot", plan.robot);
  text(json, "domain", plan.domain);
  json.key("plugin_path");
  json.begin_list();
  for (const auto& place : plan.plugin_path) json.text(place.string());
  json.end_list();
  json.key("protos");
  json.begin_list();
  for (const auto& place : plan.protos) json.text(place.string());
  json.end_list();
  objects(json, "hosts", plan.hosts, [&](const HostPlan& host) {
    text(json, "name", host.name);
    text(json, "address", host.address);
    text(json, "netns", host.netns);
    text(json, "ssh", host.ssh);
    texts(json, "ssh_options", host.ssh_options);
    text(json, "workdir", host.workdir);
    text(json, "plan", host.plan);
    text(json, "command", host.command);
  });
  objects(json, "processes", plan.processes,
          [&](const ProcessPlan& process) { write_process(json, plan, process); });
  objects(json, "nodes", plan.nodes, [&](const NodePlan& node) { write_node(json, node); });
  objects(json, "groups", plan.groups, [&](const GroupPlan& group) {
    text(json, "name", group.name);
    texts(json, "nodes", group.nodes);
    text(json, "process", group.process);
    texts(json, "moves_to", group.moves_to);
    boolean(json, "start", group.start);
    text(json, "source", group.source.to_string());
  });
  std::vector<ChannelPlan> shown;
  std::copy_if(plan.channels.begin(), plan.channels.end(), std::back_inserter(shown),
               [](const ChannelPlan& channel) { return !channel.internal; });
  objects(json, "channels", shown,
          [&](const ChannelPlan& channel) { write_channel(json, plan, channel); });
  objects(json, "services", plan.calls, [&](const CallPlan& call) {
    text(json, "name", call.name);
    text(json, "kind", call.action ? "action" : "service");
    text(json, "server", call.server);
    texts(json, "clients", call.clients);
    text(json, "source", call.source.to_string());
  });
  json.key("network");
  json.begin_object();
  write_network(json, plan);
  json.end_object();
  json.key("record");
  json.begin_object();
  boolean(json, "enabled", plan.record.enabled);
  boolean(json, "all", plan.record.all);
  texts(json, "channels", plan.record.channels);
  text(json, "path", plan.resolve(plan.record.path).string());
  json.end_object();
  json.key("clock");
  json.begin_object();
  text(json, "mode", to_string(plan.clock.mode));
  text(json, "channel", plan.clock.channel);
  real(json, "speed", plan.clock.speed);
  json.end_object();
  if (plan.shared_params.kind == ParamValue::Kind::map) {
    json.key("shared_params");
    write_param(json, plan.shared_params);
  }
  texts(json, "warnings", plan.warnings);
  json.end_object();
  return std::move(json).take();
}

}  // namespace hyphos
