#include <algorithm>
#include <map>
#include <utility>

#include "plan/build.hpp"
#include "plan/names.hpp"
#include "plan/param_tree.hpp"

namespace hyphos::plan {
namespace {

bool by_option(const ParamValue& value) {
  return value.source.line == 0 && value.source.file.starts_with("--set ");
}

/// Merges `over` into `base`: maps key by key, other values replaced. Values set by an option stay.
void merge_params(ParamValue& base, ParamValue over) {
  if (over.kind == ParamValue::Kind::null) return;
  if (base.kind != ParamValue::Kind::map || over.kind != ParamValue::Kind::map) {
    if (!by_option(base) || by_option(over)) base = std::move(over);
    return;
  }
  for (ParamEntry& entry : over.entries) {
    const auto is_it = [&](const ParamEntry& known) { return known.key == entry.key; };
    const auto known = std::find_if(base.entries.begin(), base.entries.end(), is_it);
    if (known == base.entries.end()) {
      base.entries.push_back(std::move(entry));
    } else {
      merge_params(known->value, std::move(entry.value));
    }
  }
}

}  // namespace

ParamValue to_param(const Value& value) {
  ParamValue out;
  out.source = to_line(value.source);
  switch (value.kind) {
    case Value::Kind::null:
      out.text = value.text;
      break;
    case Value::Kind::scalar:
      out.kind = ParamValue::Kind::scalar;
      out.quoted = !value.plain;
      out.text = value.text;
      break;
    case Value::Kind::list:
      out.kind = ParamValue::Kind::list;
      for (const Value& item : value.items) out.items.push_back(to_param(item));
      break;
    case Value::Kind::map:
      out.kind = ParamValue::Kind::map;
      for (const Entry& entry : value.entries) {
        out.entries.push_back({entry.key, to_param(entry.value)});
      }
      break;
  }
  return out;
}

std::string read_persist(const Section& section, const std::string& node) {
  const Value* value = section.find("persist");
  bool on = false;
  if (value == nullptr || value->is(Value::Kind::null)) return {};
  if (read_boolean(*value, on)) return on ? "state/" + node + ".params.yaml" : std::string();
  const std::string file = section.text("persist", "");
  if (!value->is(Value::Kind::scalar)) return {};
  if (const std::string why = file_name_problem(file); !why.empty()) section.error("persist", why);
  return file;
}

void read_shared_params(const Value* value, Draft& draft) {
  if (value == nullptr || value->is(Value::Kind::null)) return;
  if (!value->is(Value::Kind::map)) {
    draft.error(value->source,
                "shared_params: expected a map, or the names of files with maps, found " +
                    describe(*value));
    return;
  }
  draft.plan.shared_params = to_param(*value);
  const std::vector<Leaf> leaves = leaves_at("", draft.plan.shared_params);
  for (const Leaf& leaf : leaves) {
    if (const std::string why = leaf_problem(leaf); !why.empty()) {
      draft.error(to_source(leaf.second.source), "shared_params: " + why);
    }
  }
  if (const std::string why = size_problem(leaves); !why.empty()) {
    draft.error(value->source, "shared_params: " + why);
  }
  if (draft.plan.hosts.size() < 2 || draft.channel(std::string(kSharedParamsChannel))) return;
  ChannelPlan channel;
  channel.internal = true;
  channel.name = kSharedParamsChannel;
  channel.transport = draft.transport;
  channel.policy = shared_params_policy();
  channel.source = to_line(value->source);
  std::vector<std::string> ends;  // one node of each process
  for (const ProcessPlan& process : draft.plan.processes) {
    if (!process.nodes.empty()) ends.push_back(process.nodes.front());
  }
  channel.publishers = ends;
  channel.subscribers = std::move(ends);
  draft.add_channel(std::move(channel));
}

void check_persist(Draft& draft) {
  std::map<std::string, std::string> files;
  for (const NodePlan& node : draft.plan.nodes) {
    if (node.persist.empty()) continue;
    const std::string file = draft.plan.resolve(node.persist).string();
    const auto [first, is_new] = files.emplace(file, node.name);
    if (is_new) continue;
    draft.error(to_source(node.source), "nodes." + node.name + ".persist: '" + node.persist +
                                            "' is the file of node '" + first->second +
                                            "' already. Give each node its own file");
  }
}

void override_params(const Value* processes, Draft& draft) {
  for (const ProcessPlan& process : draft.plan.processes) {
    const Value* entry = processes == nullptr ? nullptr : processes->find(process.name);
    const Value* params = entry == nullptr ? nullptr : entry->find("params");
    const std::string path = "processes." + process.name + ".params";
    for (const Entry& one : named_entries(params, path, kMaxNodes, draft.problems)) {
      const auto is_it = [&](const NodePlan& node) { return node.name == one.key; };
      auto& nodes = draft.plan.nodes;
      const auto node = std::find_if(nodes.begin(), nodes.end(), is_it);
      if (node == nodes.end() || node->process != process.name) {
        const std::vector<std::string_view> here(process.nodes.begin(), process.nodes.end());
        draft.error(one.source, path + ": node '" + one.key + "' is not in this process" +
                                    suggestion(draft.problems, one.key, "its nodes", here));
      } else if (!one.value.is(Value::Kind::map) && !one.value.is(Value::Kind::null)) {
        draft.error(one.value.source,
                    path + "." + one.key + ": expected a map, found " + describe(one.value));
      } else {
        merge_params(node->params, to_param(one.value));
      }
    }
  }
}

}  // namespace hyphos::plan
