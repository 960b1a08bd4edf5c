#include <algorithm>
#include <set>
#include <utility>

#include "plan/build.hpp"
#include "plan/names.hpp"

namespace hyphos::plan {
namespace {

std::vector<std::string> read_members(const Section& section, const GroupPlan& group,
                                      Draft& draft) {
  std::vector<std::string> members;
  const std::string path = section.path("nodes");
  for (const Word& word : section.words("nodes")) {
    const GroupPlan* const other = draft.plan.group_of(word.text);
    if (draft.plan.node(word.text) == nullptr) {
      draft.error(word.source,
                  path + ": unknown node '" + word.text + "'" +
                      suggestion(draft.problems, word.text, "nodes", draft.node_names()));
    } else if (std::count(members.begin(), members.end(), word.text) > 0) {
      draft.error(word.source, path + ": node '" + word.text + "' is listed twice");
    } else if (other != nullptr) {
      draft.error(word.source, path + ": node '" + word.text + "' is in group '" + other->name +
                                   "' already, at " + other->source.to_string() + ". Keep one");
    } else {
      members.push_back(word.text);
    }
  }
  if (section.words("nodes").empty()) {
    draft.error(to_source(group.source),
                path + ": missing: a group needs nodes" +
                    suggestion(draft.problems, "", "nodes", draft.node_names()));
  }
  return members;
}

/// Places the nodes of a group with `process:` there.
void place(const Section& section, const GroupPlan& group, Draft& draft) {
  if (!section.has("process")) return;
  const std::string name = section.text("process", "");
  ProcessPlan* const process = draft.process(name);
  if (process == nullptr) {
    section.error("process",
                  "unknown process '" + name + "'" +
                      suggestion(draft.problems, name, "processes", draft.process_names()));
    return;
  }
  for (NodePlan& node : draft.plan.nodes) {
    if (std::count(group.nodes.begin(), group.nodes.end(), node.name) == 0) continue;
    if (node.process.empty()) {
      node.process = name;
      process->nodes.push_back(node.name);
    } else if (node.process != name) {
      section.error("process", "'" + name + "', but node '" + node.name + "' at " +
                                   node.source.to_string() + " is in process '" + node.process +
                                   "'. Keep one");
    }
  }
}

/// The reason why a node cannot move while its process runs, or "".
std::string fixed_because(const NodePlan& node) {
  if (node.kind == NodeKind::executable) return "is an executable, which is a process of its own";
  if (node.kind == NodeKind::external) return "has no program that the plan names";
  return "";
}

void check_target(const ProcessPlan& target, const Word& word, const std::string& path,
                  Draft& draft) {
  if (target.kind == ProcessKind::executable) {
    draft.error(word.source, path + ": process '" + target.name +
                                 "' is an executable, which runs no other node. Name another one");
  }
}

void finish_group(GroupPlan& group, const std::vector<Word>& moves, Draft& draft) {
  const std::string path = "groups." + group.name + ".moves_to";
  std::set<std::string> processes;
  bool has_python = false;
  for (const std::string& name : group.nodes) {
    const NodePlan& node = *draft.plan.node(name);
    processes.insert(node.process);
    has_python = has_python || node.kind == NodeKind::python;
    const std::string why = fixed_because(node);
    if (moves.empty() || why.empty()) continue;
    draft.error(moves.front().source, path + ": node '" + name + "' " + why +
                                          ", so it cannot move while the robot runs. Write it as a "
                                          "plugin or python node, or remove moves_to");
  }
  if (processes.size() == 1) group.process = *processes.begin();
  if (!moves.empty() && processes.size() > 1) {
    std::string names;
    for (const std::string& name : processes) names += (names.empty() ? "" : ", ") + name;
    draft.error(moves.front().source, path + ": the nodes are in several processes (" + names +
                                          "). Give the group one: process: " + *processes.begin());
  }
  for (const Word& word : moves) {
    ProcessPlan* const target = draft.process(word.text);
    auto& known = group.moves_to;
    if (target == nullptr) {
      draft.error(word.source,
                  path + ": unknown process '" + word.text + "'" +
                      suggestion(draft.problems, word.text, "processes", draft.process_names()));
    } else if (word.text == group.process) {
      draft.error(word.source, path + ": process '" + word.text +
                                   "' is the process of the group, to which it can always move");
    } else if (std::count(known.begin(), known.end(), word.text) > 0) {
      draft.error(word.source, path + ": process '" + word.text + "' is listed twice");
    } else {
      check_target(*target, word, path, draft);
      if (has_python && target->kind == ProcessKind::native) target->kind = ProcessKind::python;
      known.push_back(word.text);
    }
  }
}

}  // namespace

void read_groups(const Value* value, Draft& draft) {
  for (const Entry& entry : named_entries(value, "groups", kMaxGroups, draft.problems)) {
    const std::string path = "groups." + entry.key;
    if (const std::string why = name_problem(entry.key); !why.empty()) {
      draft.error(entry.source, "groups: '" + entry.key + "': " + why);
    }
    const Section section(&entry.value, path, draft.problems,
                          {"nodes", "process", "moves_to", "start"});
    GroupPlan group;
    group.name = entry.key;
    group.source = to_line(entry.source);
    group.nodes = read_members(section, group, draft);
    group.start = section.boolean("start", true);
    place(section, group, draft);
    draft.group_moves.push_back(section.words("moves_to"));
    draft.plan.groups.push_back(std::move(group));
  }
}

void finish_groups(Draft& draft) {
  for (std::size_t i = 0; i < draft.plan.groups.size(); ++i) {
    finish_group(draft.plan.groups[i], draft.group_moves[i], draft);
  }
}

/// Processes of one machine need no entry in the plan for a service. Between machines, an entry
/// opens the connection.
void add_group_channels(Draft& draft) {
  std::set<std::string> processes;
  std::set<std::string> hosts;
  const auto add = [&](const std::string& name) {
    const ProcessPlan* const process = draft.process(name);
    if (process == nullptr) return;
    processes.insert(name);
    hosts.insert(process->host);
  };
  for (const GroupPlan& group : draft.plan.groups) {
    for (const std::string& node : group.nodes) add(draft.plan.node(node)->process);
    for (const std::string& process : group.moves_to) add(process);
  }
  if (hosts.size() < 2) return;
  for (const std::string& process : processes) {
    ChannelPlan channel;
    channel.internal = true;
    channel.policy = call_policy();
    channel.source = draft.plan.groups.front().source;
    for (const char* const end : {"/request", "/reply"}) {
      channel.name = call_channel_base(group_service(process), false) + end;
      draft.add_channel(channel);
    }
  }
}

}  // namespace hyphos::plan
