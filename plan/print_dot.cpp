#include <algorithm>
#include <map>

#include "hyphos/plan.hpp"
#include "plan/paths.hpp"
#include "plan/transports.hpp"

namespace hyphos {
namespace {

/// A quoted Graphviz string.
std::string quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + '"';
}

std::string node_id(std::string_view name) { return quote("node " + std::string(name)); }
std::string channel_id(std::string_view name) { return quote("channel " + std::string(name)); }
std::string outside_id(std::string_view at) { return quote("outside " + std::string(at)); }

/// How far a route reaches. 0 if there is no route.
enum class Way : std::uint8_t { none, pointer, host, network };

Way way_of(Route route) {
  if (route == kNoRoute) return Way::none;
  if (route == kByPointer) return Way::pointer;
  const plan::TransportTraits* transport = plan::transport(route);
  return transport != nullptr && transport->between_hosts ? Way::network : Way::host;
}

/// Solid inside a process and dashed over the network, as in Fig. 1 of the HyperGraph ROS paper.
/// Shared memory, which the paper does not have, is dotted.
std::string edge_style(Way way) {
  switch (way) {
    case Way::none:
      return "[style=solid, color=\"#c62828\", arrowhead=tee]";
    case Way::pointer:
      return "[style=solid, color=\"#263238\"]";
    case Way::host:
      return "[style=\"dotted,bold\", color=\"#1565c0\"]";
    case Way::network:
      return "[style=dashed, color=\"#e65100\", penwidth=1.4]";
  }
  return "";
}

std::string open_words(const ChannelPlan& channel, std::string_view before,
                       std::string_view after) {
  if (channel.open == Where::both) return "";
  return std::string(before) + std::string(to_string(channel.open)) + std::string(after);
}

std::string channel_line(const ChannelPlan& channel) {
  const bool declared = channel.publishers || channel.subscribers;
  const std::string label = channel.name + open_words(channel, " (open ", ")");
  return channel_id(channel.name) + " [label=" + quote(label) +
         ", shape=box, height=0.25, width=0.3, margin=\"0.06,0.03\", fontsize=10, style=\"filled" +
         (declared ? "" : ",dashed") + "\", fillcolor=\"" +
         (channel.open == Where::both ? "#fff8e1" : "#eeeeee") +
         "\", tooltip=" + quote(channel.type) + "];\n";
}

std::string node_line(const NodePlan& node) {
  return node_id(node.name) + " [label=" + quote(node.name) +
         ", shape=circle, style=filled, fillcolor=\"#e3f2fd\", fontsize=11, margin=\"0.03\", "
         "tooltip=" +
         quote(to_string(node.kind)) + "];\n";
}

/// The place of a channel in the drawing: with its publishers, if they are together.
struct Homes {
  std::map<std::string, std::string> process;  // channel → process
  std::map<std::string, std::string> host;     // channel → host, if in several processes of it
};

Homes find_homes(const Plan& plan) {
  Homes homes;
  for (const ChannelPlan& channel : plan.channels) {
    if (channel.internal || !channel.publishers || channel.publishers->empty()) continue;
    const NodePlan& first = *plan.node(channel.publishers->front());
    const std::string& host = plan.process(first.process)->host;
    const auto in_process = [&](const std::string& name) {
      return plan.node(name)->process == first.process;
    };
    const auto on_host = [&](const std::string& name) {
      return plan.process(plan.node(name)->process)->host == host;
    };
    const auto& all = *channel.publishers;
    if (std::all_of(all.begin(), all.end(), in_process)) {
      homes.process[channel.name] = first.process;
    } else if (std::all_of(all.begin(), all.end(), on_host)) {
      homes.host[channel.name] = host;
    }
  }
  return homes;
}

/// The members of a group in one process.
std::string group_cluster(const Plan& plan, const GroupPlan& group, const ProcessPlan& process) {
  std::string members;
  for (const std::string& name : group.nodes) {
    const NodePlan& node = *plan.node(name);
    if (node.process == process.name) members += "        " + node_line(node);
  }
  if (members.empty()) return "";
  std::string label = "group " + group.name;
  for (const std::string& target : group.moves_to) {
    label += (target == group.moves_to.front() ? ", moves to " : ", ") + target;
  }
  return "      subgraph " + quote("cluster group " + group.name + " " + process.name) +
         " {\n        label=" + quote(label) +
         "; style=\"rounded,dashed\"; color=\"#6a1b9a\"; bgcolor=\"#f8f4fa\"; fontsize=11;\n" +
         members + "      }\n";
}

std::string process_cluster(const Plan& plan, const ProcessPlan& process, const Homes& homes) {
  std::string out = "    subgraph " + quote("cluster process " + process.name) + " {\n";
  out += "      label=" + quote("process " + process.name) +
         "; style=rounded; color=\"#78909c\"; bgcolor=\"#ffffff\"; fontsize=12;\n";
  for (const std::string& name : process.nodes) {
    if (plan.group_of(name) == nullptr) out += "      " + node_line(*plan.node(name));
  }
  for (const GroupPlan& group : plan.groups) out += group_cluster(plan, group, process);
  for (const ChannelPlan& channel : plan.channels) {
    const auto home = homes.process.find(channel.name);
    if (home != homes.process.end() && home->second == process.name) {
      out += "      " + channel_line(channel);
    }
  }
  if (process.nodes.empty()) {
    out += "      " + quote("empty " + process.name) + " [label=\"\", shape=point, style=invis];\n";
  }
  return out + "    }\n";
}

std::string host_cluster(const Plan& plan, const HostPlan& host, const Homes& homes) {
  std::string out = "  subgraph " + quote("cluster host " + host.name) + " {\n";
  out += "    label=" + quote("host " + host.name + " (" + host.address + ")") +
         "; style=rounded; color=\"#455a64\"; bgcolor=\"#f5f7f8\"; fontsize=13;\n";
  for (const ProcessPlan& process : plan.processes) {
    if (process.host == host.name) out += process_cluster(plan, process, homes);
  }
  for (const ChannelPlan& channel : plan.channels) {
    const auto home = homes.host.find(channel.name);
    if (home != homes.host.end() && home->second == host.name)
      out += "    " + channel_line(channel);
  }
  return out + "  }\n";
}

/// The edges of one hyperedge: publishers → box → subscribers.
std::string channel_edges(const Plan& plan, const ChannelPlan& channel) {
  std::string out;
  const std::vector<std::string> none;
  for (const std::string& name : channel.publishers.value_or(none)) {
    out += "  " + node_id(name) + " -> " + channel_id(channel.name) + " " +
           edge_style(Way::pointer) + ";\n";
  }
  // With several publishers, the box joins several routes. The farthest one is drawn.
  std::map<std::string, Way> ways;
  for (const plan::Path& path : plan::paths_of(plan, channel)) {
    const auto [way, is_new] = ways.emplace(path.to, way_of(path.route));
    if (!is_new) way->second = std::max(way->second, way_of(path.route));
  }
  for (const std::string& name : channel.subscribers.value_or(none)) {
    const auto way = ways.find(name);
    out += "  " + channel_id(channel.name) + " -> " + node_id(name) + " " +
           edge_style(way == ways.end() ? Way::pointer : way->second) + ";\n";
  }
  return out;
}

/// One edge from each client to the server, with an arrow at both ends.
std::string call_edges(const Plan& plan, const CallPlan& call) {
  std::string out;
  const ChannelPlan& request =
      *plan.channel(call_channel_base(call.name, call.action) + "/request");
  for (const plan::Path& path : plan::paths_of(plan, request)) {
    std::string style = edge_style(way_of(path.route));
    style.insert(style.rfind(']'), ", dir=both, arrowtail=odot, label=" + quote(call.name));
    out += "  " + node_id(path.from) + " -> " + node_id(path.to) + " " + style + ";\n";
  }
  return out;
}

std::string outside_edges(const Plan& plan) {
  std::string out;
  const auto outside = [&](const LinkPlan& link, const std::string& label) {
    out += "  " + outside_id(link.endpoint) + " [label=" + quote(label) +
           ", shape=box, style=\"rounded,filled\", fillcolor=\"#fbe9e7\", fontsize=10];\n";
  };
  for (const LinkPlan& link : plan.network.publishers) {
    outside(link, "peers that connect to\n" + link.endpoint);
    for (const std::string& name : link.channels) {
      out += "  " + channel_id(name) + " -> " + outside_id(link.endpoint) + " " +
             edge_style(Way::network) + ";\n";
    }
  }
  for (const LinkPlan& link : plan.network.subscribers) {
    outside(link, link.endpoint);
    for (const std::string& name : link.channels) {
      out += "  " + outside_id(link.endpoint) + " -> " + channel_id(name) + " " +
             edge_style(Way::network) + ";\n";
    }
  }
  return out;
}

std::string legend() {
  std::string out =
      "  subgraph \"cluster legend\" {\n"
      "    label=\"carried by\"; style=rounded; color=\"#cfd8dc\"; fontsize=10;\n"
      "    node [shape=plaintext, fontsize=9, width=0, height=0, margin=\"0.06,0.02\"];\n";
  struct Entry {
    Way way;
    const char* id;
    const char* label;
  };
  for (const auto& [way, id, label] : {Entry{Way::pointer, "pointer", "pointer (one process)"},
                                       Entry{Way::host, "shm", "shared memory (one host)"},
                                       Entry{Way::network, "zmq", "network"}}) {
    const std::string from = quote(std::string("from ") + id);
    const std::string to = quote(std::string("to ") + id);
    out += "    " + from + " [label=\"\"]; " + to + " [label=" + quote(label) + "];\n    " + from +
           " -> " + to + " " + edge_style(way) + ";\n";
  }
  return out + "  }\n";
}

}  // namespace

std::string to_dot(const Plan& plan) {
  const Homes homes = find_homes(plan);
  std::string out = "digraph " + quote(plan.robot) + " {\n";
  out +=
      "  rankdir=LR; compound=true; nodesep=0.25; ranksep=0.5;\n"
      "  graph [fontname=\"Helvetica\"]; node [fontname=\"Helvetica\"];\n"
      "  edge [fontname=\"Helvetica\", arrowsize=0.7];\n";
  for (const HostPlan& host : plan.hosts) out += host_cluster(plan, host, homes);
  for (const ChannelPlan& channel : plan.channels) {
    if (channel.internal) continue;
    if (homes.process.contains(channel.name) || homes.host.contains(channel.name)) continue;
    out += "  " + channel_line(channel);
  }
  for (const ChannelPlan& channel : plan.channels) {
    if (!channel.internal) out += channel_edges(plan, channel);
  }
  for (const CallPlan& call : plan.calls) out += call_edges(plan, call);
  out += outside_edges(plan) + legend();
  return out + "}\n";
}

}  // namespace hyphos
