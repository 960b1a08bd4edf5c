#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <thread>
#include <utility>

#include "plan/build.hpp"
#include "plan/names.hpp"

namespace hyphos::plan {
namespace {

/// An endpoint that some process binds, with its place in the plan.
struct Bound {
  Endpoint endpoint;
  std::string process;
  std::string machine;
  std::string key;  ///< of the plan, for the error
  SourceLine source;
};

std::string where_is(const Plan& plan, const NodePlan& node) {
  return "'" + node.name + "' (process " + node.process + ", host " +
         plan.process(node.process)->host + ")";
}

/// Every declared subscriber must be reachable by at least one declared publisher, also after a
/// group has moved.
void check_reach(const Plan& plan, const ChannelPlan& channel, const std::string& after,
                 Draft& draft) {
  if (!channel.publishers || !channel.subscribers || channel.publishers->empty()) return;
  for (const std::string& name : *channel.subscribers) {
    const NodePlan& to = *plan.node(name);
    const auto reaches = [&](const std::string& from) {
      return route(plan, channel, plan.node(from)->process, to.process) != kNoRoute;
    };
    if (std::any_of(channel.publishers->begin(), channel.publishers->end(), reaches)) continue;
    const NodePlan& from = *plan.node(channel.publishers->front());
    const bool by_scope = channel.reach != Reach::network;
    draft.error(to_source(channel.source),
                "channels." + channel.name + ": " + after + "subscriber " + where_is(plan, to) +
                    " gets nothing from publisher " + where_is(plan, from) + ", because " +
                    (by_scope ? "scope is " + std::string(to_string(channel.reach)) +
                                    ". Widen scope, or place them together"
                              : "transport is " + channel.transport + ". Write transport: auto"));
  }
}

void check_reach_after_moves(Draft& draft) {
  for (const GroupPlan& group : draft.plan.groups) {
    const auto is_member = [&](const std::string& node) {
      return std::count(group.nodes.begin(), group.nodes.end(), node) > 0;
    };
    for (const std::string& target : group.moves_to) {
      Plan moved = draft.plan;
      for (NodePlan& node : moved.nodes) {
        if (is_member(node.name)) node.process = target;
      }
      const std::string after = "after group '" + group.name + "' has moved to '" + target + "', ";
      for (const ChannelPlan& channel : draft.plan.channels) {
        const std::vector<std::string> none;
        const auto& from = channel.publishers.value_or(none);
        const auto& to = channel.subscribers.value_or(none);
        if (std::any_of(from.begin(), from.end(), is_member) ||
            std::any_of(to.begin(), to.end(), is_member)) {
          check_reach(moved, channel, after, draft);
        }
      }
    }
  }
}

void add_bound(const ProcessPlan& process, const std::string& text, const std::string& key,
               const SourceLine& source, const Plan& plan, std::vector<Bound>& bound) {
  std::string why;
  const std::optional<Endpoint> endpoint = parse_endpoint(text, why);
  if (!endpoint) return;
  const HostPlan& host = *plan.host(process.host);
  // Hosts on loopback addresses share this machine's ports, unless each has its own namespace.
  const bool shared = is_loopback(host.address) && host.netns.empty();
  bound.push_back({*endpoint, process.name, shared ? "(loopback)" : host.name, key, source});
}

void check_bound_twice(Draft& draft) {
  const Plan& plan = draft.plan;
  std::vector<Bound> bound;
  for (const ProcessPlan& process : plan.processes) {
    const Connections links = *connections(plan, process.name);
    const bool used = std::any_of(links.binds.begin(), links.binds.end(), [&](const BindLink& b) {
      return b.endpoint == process.endpoint;
    });
    if (process.endpoint_given || used) {
      add_bound(process, process.endpoint, "processes." + process.name + ".endpoint",
                process.source, plan, bound);
    }
  }
  const std::size_t own = bound.size();
  for (const LinkPlan& link : plan.network.publishers) {
    add_bound(*plan.process(link.process), link.endpoint, "network.publisher.ip", link.source, plan,
              bound);
  }
  for (std::size_t i = 0; i < bound.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Bound& a = bound[j];
      const Bound& b = bound[i];
      if (a.machine != b.machine || !collide(a.endpoint, b.endpoint)) continue;
      const std::string first = a.endpoint.to_string();
      const std::string second = b.endpoint.to_string();
      // A process may use one endpoint both for its peers and for the `network:` listing.
      if (a.process == b.process && first == second && j < own) continue;
      draft.error(
          to_source(b.source),
          b.key + ": process '" + b.process + "' binds " + second +
              (first == second ? std::string(" a second time") : ", which collides with " + first) +
              ". " + a.key + " of process '" + a.process + "' at " + a.source.to_string() +
              " uses it already. Give one of them another port");
    }
  }
}

/// A bound endpoint must be reachable by the peers on other hosts.
void check_peers(Draft& draft) {
  const Plan& plan = draft.plan;
  const auto loopback_without_netns = [](const HostPlan& host) {
    return is_loopback(host.address) && host.netns.empty();
  };
  const bool one_machine =
      std::all_of(plan.hosts.begin(), plan.hosts.end(), loopback_without_netns);
  for (const ProcessPlan& process : plan.processes) {
    const Connections links = *connections(plan, process.name);
    for (const PeerLink& peer : links.peers) {
      const ProcessPlan* other = peer.process.empty() ? nullptr : plan.process(peer.process);
      if (other == nullptr || other->host == process.host) continue;
      const std::string path = "processes." + other->name + ".endpoint";
      std::string why;
      const std::optional<Endpoint> endpoint = parse_endpoint(peer.endpoint, why);
      if (!endpoint) {
        draft.error(to_source(other->source), path +
                                                  ": no port below 65536 is left for this process. "
                                                  "Lower network.base_port, or set an endpoint");
      } else if (endpoint->ipc) {
        draft.error(to_source(other->source),
                    path + ": " + peer.endpoint + " cannot be reached by process '" + process.name +
                        "' on host '" + process.host + "'. Write tcp://*:PORT");
      } else if (is_loopback(endpoint->host) && !one_machine) {
        draft.error(to_source(other->source), path + ": " + peer.endpoint +
                                                  " cannot be reached by process '" + process.name +
                                                  "' on host '" + process.host + "'. Give host '" +
                                                  other->host + "' an address of its network");
      }
    }
  }
}

void warn_about_silence(Draft& draft) {
  Plan& plan = draft.plan;
  if (draft.several_hosts && plan.channels.empty()) {
    draft.problems.warn({std::make_shared<const std::string>(plan.file), 1, 1},
                        "channels: none are named, so nothing passes between the hosts");
  }
  for (const ProcessPlan& process : plan.processes) {
    const auto is_target = [&](const GroupPlan& group) {
      return std::count(group.moves_to.begin(), group.moves_to.end(), process.name) > 0;
    };
    if (!process.nodes.empty() || plan.nodes.empty()) continue;
    if (std::any_of(plan.groups.begin(), plan.groups.end(), is_target)) continue;
    draft.problems.warn(to_source(process.source),
                        "processes." + process.name +
                            ": no node is placed here, so `hyphos run` does not start it");
  }
}

/// A Python script that the system cannot execute directly: it lacks the permission, or the line
/// that names its interpreter. A shell would run it as a shell script.
bool is_idle_script(const std::filesystem::path& file) {
  if (file.extension() != ".py" || !std::filesystem::is_regular_file(file)) return false;
  std::array<char, 2> begin{};
  std::ifstream(file).read(begin.data(), begin.size());
  return access(file.c_str(), X_OK) != 0 || begin[0] != '#' || begin[1] != '!';
}

void need_file(const std::filesystem::path& file, int mode, const SourceLine& source,
               const std::string& path, Draft& draft) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    const bool plugin = path.ends_with(".plugin");
    draft.error(to_source(source),
                path + ": '" + file.string() + "' does not exist" +
                    (plugin ? ". Build it, or add its folder to plugin_path" : ""));
  } else if (std::filesystem::is_directory(file, ignored)) {
    draft.error(to_source(source), path + ": '" + file.string() + "' is a folder, not a file");
  } else if (mode == X_OK && is_idle_script(file)) {
    const std::string name = file.filename().string();
    draft.error(
        to_source(source),
        path + ": '" + file.string() +
            "' is a Python file without '#!' or without permission to run. Write python: " + name +
            ":CLASS for a class, or executable: python3 with args: [" + name + "] for a program");
  } else if (access(file.c_str(), mode) != 0) {
    draft.error(to_source(source),
                path + ": '" + file.string() + "' cannot be " +
                    (mode == X_OK ? "executed. Run: chmod +x " : "read. Run: chmod +r ") +
                    file.string());
  }
}

}  // namespace

void check_size(Draft& draft) {
  const Plan& plan = draft.plan;
  std::size_t pairs = 0;
  const auto count = [&](const std::optional<std::vector<std::string>>& ends) {
    return ends ? ends->size() : plan.processes.size();
  };
  for (const ChannelPlan& channel : plan.channels) {
    pairs += count(channel.publishers) * count(channel.subscribers);
    if (pairs <= kMaxPairs) continue;
    draft.error(
        to_source(channel.source),
        "channels." + channel.name + ": the channels up to here have more than " +
            std::to_string(kMaxPairs) +
            " pairs of publishers and subscribers. Declare publishers and subscribers, or use "
            "fewer channels or processes");
    return;
  }
}

void check_whole(Draft& draft) {
  for (const ChannelPlan& channel : draft.plan.channels) {
    check_reach(draft.plan, channel, "", draft);
  }
  if (!draft.problems.failed()) check_reach_after_moves(draft);
  check_peers(draft);
  check_bound_twice(draft);
  warn_about_silence(draft);
}

void check_files(const std::vector<std::string>& hosts, Draft& draft) {
  const Plan& plan = draft.plan;
  const auto is_here = [&](const std::string& process) {
    const ProcessPlan* placed = plan.process(process);
    return hosts.empty() || placed == nullptr ||
           std::count(hosts.begin(), hosts.end(), placed->host) > 0;
  };
  for (const NodePlan& node : plan.nodes) {
    const GroupPlan* const group = plan.group_of(node.name);
    const bool moves_here =
        group != nullptr && std::any_of(group->moves_to.begin(), group->moves_to.end(), is_here);
    if (!is_here(node.process) && !moves_here) continue;
    const std::string path = "nodes." + node.name + "." + std::string(to_string(node.kind));
    const std::filesystem::path file = plan.program_file(node);
    if (node.kind == NodeKind::plugin) need_file(file, R_OK, node.source, path, draft);
    if (node.kind == NodeKind::executable) need_file(file, X_OK, node.source, path, draft);
    if (node.kind == NodeKind::python && node.program.ends_with(".py")) {
      need_file(file, R_OK, node.source, path, draft);
    }
  }
  const unsigned cpus = std::thread::hardware_concurrency();
  for (const ProcessPlan& process : plan.processes) {
    if (!is_here(process.name)) continue;
    for (const int cpu : process.cpu_affinity) {
      if (cpus == 0 || static_cast<unsigned>(cpu) < cpus) continue;
      draft.error(to_source(process.source),
                  "processes." + process.name + ".cpu_affinity: CPU " + std::to_string(cpu) +
                      " does not exist on this machine, CPUs are 0 to " + std::to_string(cpus - 1));
    }
  }
  const CurvePlan& curve = plan.network.curve;
  if (!curve.enabled) return;
  const SourceLine source{plan.file, 0, 0};
  need_file(plan.resolve(curve.public_key_file), R_OK, source, "network.curve.public_key_file",
            draft);
  need_file(plan.resolve(curve.secret_key_file), R_OK, source, "network.curve.secret_key_file",
            draft);
  for (const std::string& key : curve.allowed_keys) {
    need_file(plan.resolve(key), R_OK, source, "network.curve.allowed_keys", draft);
  }
  for (const LinkPlan& link : plan.network.subscribers) {
    if (link.server_key.empty()) continue;
    need_file(plan.resolve(link.server_key), R_OK, link.source, "network.subscribers.server_key",
              draft);
  }
}

}  // namespace hyphos::plan
