#include <algorithm>
#include <array>
#include <cstdio>

#include "hyphos/plan.hpp"
#include "plan/param_tree.hpp"
#include "plan/paths.hpp"

namespace hyphos {
namespace {

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

std::string or_dash(std::string text) { return text.empty() ? "-" : text; }

/// Width in characters, not bytes, so that columns line up.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

/// Rows of cells, printed in columns as wide as their widest cell. The first row is the heading.
class Table {
 public:
  explicit Table(std::vector<std::string> heading) { add(std::move(heading)); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  [[nodiscard]] std::string print() const {
    std::vector<std::size_t> widths(rows_.front().size());
    for (const auto& row : rows_) {
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
    }
    std::string out;
    for (const auto& row : rows_) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        out += row[i];
        if (i + 1 < row.size()) out.append(widths[i] - width(row[i]) + 2, ' ');
      }
      out += '\n';
    }
    return out + '\n';
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::string policy_text(const ChannelPlan& channel) {
  const Policy& policy = channel.policy;
  std::string out(to_string(policy.reliability));
  out += ", depth " + std::to_string(policy.depth) + ", " + std::string(to_string(policy.overflow));
  if (policy.block_timeout_ms > 0) out += " " + std::to_string(policy.block_timeout_ms) + " ms";
  if (policy.latched) out += ", latched";
  if (policy.latched && policy.latched_depth > 1) {
    out += " (last " + std::to_string(policy.latched_depth) + ")";
  }
  if (policy.deadline_ms > 0) out += ", deadline " + std::to_string(policy.deadline_ms) + " ms";
  if (policy.lifespan_ms > 0) out += ", lifespan " + std::to_string(policy.lifespan_ms) + " ms";
  if (policy.priority != Priority::normal) {
    out += ", " + std::string(to_string(policy.priority)) + " priority";
  }
  if (channel.reach != Reach::network) out += ", scope " + std::string(to_string(channel.reach));
  if (channel.open != Where::both) {
    out += ", open " + std::string(to_string(channel.open)) + " at start";
  }
  return out;
}

std::string ends_text(const std::optional<std::vector<std::string>>& ends) {
  if (!ends) return "any node";
  return ends->empty() ? "none" : join(*ends);
}

std::string carried_by(const Plan& plan, const ChannelPlan& channel) {
  std::vector<std::string> words;
  for (const Route way : plan::routes_of(plan, channel)) words.emplace_back(way);
  return or_dash(join(words));
}

std::string program_text(const NodePlan& node) {
  std::string out = node.program;
  if (!node.python_class.empty()) out += ":" + node.python_class;
  for (const std::string& arg : node.args) out += " " + arg;
  return or_dash(std::move(out));
}

std::string remap_text(const NodePlan& node) {
  std::vector<std::string> words;
  for (const auto& [from, to] : node.remap) words.push_back(from + " -> " + to);
  return or_dash(join(words));
}

std::string processes_table(const Plan& plan) {
  Table table({"PROCESS", "HOST", "KIND", "THREADS", "CPUS", "NODES"});
  for (const ProcessPlan& process : plan.processes) {
    std::vector<std::string> cpus;
    for (const int cpu : process.cpu_affinity) cpus.push_back(std::to_string(cpu));
    table.add({process.name, process.host, std::string(to_string(process.kind)),
               process.threads == 0 ? "one per core, at least 2" : std::to_string(process.threads),
               cpus.empty() ? "all" : join(cpus), or_dash(join(process.nodes))});
  }
  return table.print();
}

bool has_channels(const Plan& plan) {
  return std::any_of(plan.channels.begin(), plan.channels.end(),
                     [](const ChannelPlan& channel) { return !channel.internal; });
}

std::string calls_table(const Plan& plan) {
  if (plan.calls.empty()) return "";
  Table table({"SERVICE", "KIND", "SERVER", "CLIENTS", "BY"});
  for (const CallPlan& call : plan.calls) {
    const ChannelPlan& request =
        *plan.channel(call_channel_base(call.name, call.action) + "/request");
    table.add({call.name, call.action ? "action" : "service", call.server,
               or_dash(join(call.clients)), carried_by(plan, request)});
  }
  return table.print();
}

/// Channel names for users: the two channels of a service become one name.
std::vector<std::string> shown(const std::vector<std::string>& channels) {
  std::vector<std::string> names;
  for (const std::string& channel : channels) {
    std::string name = channel;
    if (name.starts_with("hyphos/")) {
      const std::size_t from = name.find('/', 7);
      name = name.substr(7, from - 7) + " " + name.substr(from + 1);
      name.resize(name.rfind('/'));
      if (name.find(" _") != std::string::npos) continue;  // of Hyphos itself
    }
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

std::string health_text(const SupervisionPlan& supervision) {
  const HealthPlan& health = supervision.health;
  if (!health.enabled()) return "-";
  std::vector<std::string> words;
  if (health.heartbeat_ms > 0) {
    words.push_back("heartbeat " + std::to_string(health.heartbeat_ms) + " ms");
  }
  if (!health.channels.empty()) words.push_back("deadline of " + join(health.channels));
  return join(words) + (health.kill ? ": kill" : ": report");
}

std::string restart_text(const SupervisionPlan& supervision) {
  std::string out(to_string(supervision.restart));
  if (supervision.restart == Restart::never) return out;
  return out + " after " + std::to_string(supervision.backoff_ms) + ".." +
         std::to_string(supervision.max_backoff_ms) + " ms, at most " +
         std::to_string(supervision.max_restarts_per_minute) + " a minute";
}

/// Empty unless the plan sets more than a plain start.
std::string supervision_table(const Plan& plan) {
  Table table({"PROCESS", "AFTER", "READY", "RESTART", "HEALTH"});
  bool any = false;
  for (const ProcessPlan& process : plan.processes) {
    const SupervisionPlan& supervision = process.supervision;
    any = any || !supervision.after.empty() || supervision.restart != Restart::never ||
          supervision.health.enabled();
    table.add({process.name, or_dash(join(supervision.after)),
               std::string(to_string(supervision.ready)), restart_text(supervision),
               health_text(supervision)});
  }
  return any ? table.print() : "";
}

std::string faults_text(const FaultPlan& faults) {
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(),
                "faults: loss %g, duplicate %g, reorder %g, delay %g ms, jitter %g ms", faults.loss,
                faults.duplicate, faults.reorder, faults.delay_ms, faults.jitter_ms);
  return text.data();
}

std::string network_lines(const Plan& plan) {
  std::string out;
  for (const ProcessPlan& process : plan.processes) {
    const Connections links = *connections(plan, process.name);
    for (const BindLink& bind : links.binds) {
      out += "  " + process.name + " sends at " + bind.endpoint + ": " +
             join(shown(bind.channels)) + "\n";
    }
    for (const PeerLink& peer : links.peers) {
      out += "  " + process.name + " receives from " +
             (peer.process.empty() ? std::string() : peer.process + " at ") + peer.endpoint + ": " +
             join(shown(peer.channels)) + "\n";
    }
  }
  const DiscoveryPlan& discovery = plan.network.discovery;
  if (discovery.multicast) {
    out += "  multicast discovery on " + discovery.group + ":" + std::to_string(discovery.port) +
           (discovery.interface.empty() ? "" : " through " + discovery.interface) + "\n";
  }
  if (plan.network.curve.enabled) out += "  encrypted and authenticated with CURVE\n";
  if (plan.network.faults) out += "  " + faults_text(*plan.network.faults) + "\n";
  return out.empty() ? "" : "NETWORK\n" + out + "\n";
}

std::string record_line(const Plan& plan) {
  if (!plan.record.enabled) return "";
  return "RECORD " + (plan.record.all ? std::string("all channels") : join(plan.record.channels)) +
         " into " + plan.resolve(plan.record.path).string() + "\n\n";
}

std::string clock_line(const Plan& plan) {
  if (plan.clock.mode == ClockMode::real) return "";
  char speed[32];
  std::snprintf(speed, sizeof speed, "%g", plan.clock.speed);
  return "CLOCK simulated, from channel " + plan.clock.channel + ", speed " + speed + "\n\n";
}

std::string shared_line(const Plan& plan) {
  const std::size_t count = plan::leaves_at("", plan.shared_params).size();
  return count == 0 ? "" : "SHARED PARAMETERS " + std::to_string(count) + " values\n\n";
}

std::string groups_table(const Plan& plan) {
  if (plan.groups.empty()) return "";
  Table table({"GROUP", "NODES", "PROCESS", "MOVES TO", "STARTS"});
  for (const GroupPlan& group : plan.groups) {
    table.add({group.name, join(group.nodes), group.process.empty() ? "several" : group.process,
               or_dash(join(group.moves_to)), group.start ? "with the robot" : "later"});
  }
  return table.print();
}

}  // namespace

std::string to_text(const Plan& plan) {
  std::string out =
      "robot " + plan.robot + ", domain " + plan.domain + ", from " + plan.file + "\n\n";
  Table hosts({"HOST", "ADDRESS", "NETNS", "SSH"});
  for (const HostPlan& host : plan.hosts) {
    hosts.add({host.name, host.address, or_dash(host.netns), or_dash(host.ssh)});
  }
  out += hosts.print() + processes_table(plan) + supervision_table(plan);
  if (!plan.nodes.empty()) {
    Table nodes({"NODE", "PROCESS", "KIND", "PROGRAM", "REMAP"});
    for (const NodePlan& node : plan.nodes) {
      nodes.add({node.name, node.process, std::string(to_string(node.kind)), program_text(node),
                 remap_text(node)});
    }
    out += nodes.print();
  }
  out += groups_table(plan);
  if (has_channels(plan)) {
    Table channels({"CHANNEL", "TYPE", "FROM", "TO", "BY", "POLICY"});
    for (const ChannelPlan& channel : plan.channels) {
      if (channel.internal) continue;
      channels.add({channel.name, or_dash(channel.type), ends_text(channel.publishers),
                    ends_text(channel.subscribers), carried_by(plan, channel),
                    policy_text(channel)});
    }
    out += channels.print();
  }
  out += calls_table(plan);
  out += network_lines(plan) + record_line(plan) + clock_line(plan) + shared_line(plan);
  for (const std::string& warning : plan.warnings) out += "warning: " + warning + "\n";
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace hyphos
