#include "plan/replicas.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/config_reader.hpp"
#include "plan/build.hpp"
#include "plan/names.hpp"

namespace hyphos::plan {
namespace {

constexpr std::int64_t kMaxReplicas = 1024;
/// Of the expanded entries together, which are copies of one part of the file.
constexpr std::size_t kValueLimit = config::Limits{}.values;

using Counts = std::map<std::string, std::int64_t, std::less<>>;

std::string replica(const std::string& name, std::int64_t index) {
  return name + "." + std::to_string(index);
}

std::size_t size_of(const Value& value) {
  std::size_t size = 1;
  for (const Value& item : value.items) size += size_of(item);
  for (const Entry& entry : value.entries) size += size_of(entry.value);
  return size;
}

Value scalar(std::string text, const Source& source) {
  Value value;
  value.kind = Value::Kind::scalar;
  value.text = std::move(text);
  value.source = source;
  return value;
}

std::vector<Entry>* entries_of(Value* value) {
  return value != nullptr && value->is(Value::Kind::map) ? &value->entries : nullptr;
}

/// Takes the key `replicas` out of each entry of a section.
Counts take_counts(std::vector<Entry>* section, const std::string& path, Problems& problems) {
  Counts counts;
  if (section == nullptr) return counts;
  for (Entry& entry : *section) {
    // Any other name with a dot is an invalid name.
    const std::size_t dot = entry.key.find('.');
    if (dot != std::string::npos && name_problem(entry.key).empty()) {
      problems.error(entry.source, path + ": '" + entry.key +
                                       "': a name with a dot is that of a replica. Write " +
                                       entry.key.substr(0, dot) + " with replicas: K");
    }
    auto& keys = entry.value.entries;
    const auto is_it = [](const Entry& one) { return one.key == "replicas"; };
    const auto found = std::find_if(keys.begin(), keys.end(), is_it);
    if (found == keys.end()) continue;
    std::int64_t count = 0;
    if (!config::read_integer(found->value, count) || count < 1 || count > kMaxReplicas) {
      problems.error(found->value.source, path + "." + entry.key +
                                              ".replicas: expected a number from 1 to " +
                                              std::to_string(kMaxReplicas));
    } else {
      counts.emplace(entry.key, count);
    }
    keys.erase(found);
  }
  return counts;
}

/// Replaces each name in a list, or in a scalar that stands for a list of one, by its replicas.
void replace_names(Value* list, const Counts& counts) {
  if (list == nullptr) return;
  if (list->is(Value::Kind::scalar) && counts.contains(list->text)) {
    Value one = *list;
    list->kind = Value::Kind::list;
    list->items.assign(1, std::move(one));
  }
  std::vector<Value> items;
  for (Value& item : list->items) {
    const auto count = counts.find(item.text);
    if (count == counts.end()) {
      items.push_back(std::move(item));
      continue;
    }
    for (std::int64_t i = 0; i < count->second; ++i) {
      items.push_back(scalar(replica(item.text, i), item.source));
    }
  }
  list->items = std::move(items);
}

/// Replaces each key of a map by its replicas, with copies of the value.
void replace_keys(std::vector<Entry>* entries, const Counts& counts) {
  if (entries == nullptr) return;
  std::vector<Entry> out;
  for (Entry& entry : *entries) {
    const auto count = counts.find(entry.key);
    if (count == counts.end()) {
      out.push_back(std::move(entry));
      continue;
    }
    for (std::int64_t i = 0; i < count->second; ++i) {
      out.push_back({replica(entry.key, i), entry.source, entry.value});
    }
  }
  *entries = std::move(out);
}

class Expansion {
 public:
  Expansion(Value& root, Problems& problems)
      : root_(root),
        problems_(problems),
        nodes_(entries_of(root.find("nodes"))),
        processes_(entries_of(root.find("processes"))),
        node_counts_(take_counts(nodes_, "nodes", problems)),
        process_counts_(take_counts(processes_, "processes", problems)) {}

  void run() {
    if (node_counts_.empty() && process_counts_.empty()) return;
    find_inner_nodes();
    if (problems_.failed() || !is_small_enough()) return;
    expand_processes();
    expand_nodes();
    Counts all = node_counts_;
    for (const auto& [node, process] : inner_) all.emplace(node, process_counts_.at(process));
    if (auto* channels = entries_of(root_.find("channels"))) {
      for (Entry& channel : *channels) {
        replace_names(channel.value.find("publishers"), all);
        replace_names(channel.value.find("subscribers"), all);
      }
    }
    if (auto* groups = entries_of(root_.find("groups"))) {
      for (Entry& group : *groups) replace_names(group.value.find("nodes"), all);
    }
  }

 private:
  /// Finds the nodes of processes with replicas. Each replica of the process has its own one.
  void find_inner_nodes() {
    const auto add = [&](const std::string& node, const std::string& process, const Source& at) {
      if (node_counts_.contains(node)) {
        problems_.error(at, "nodes." + node + ".replicas: its process '" + process +
                                "' has replicas already, with one such node in each. Keep one");
      }
      inner_.emplace(node, process);
    };
    if (processes_ != nullptr) {
      for (const Entry& process : *processes_) {
        if (!process_counts_.contains(process.key)) continue;
        if (const Value* endpoint = process.value.find("endpoint")) {
          problems_.error(endpoint->source,
                          "processes." + process.key +
                              ".endpoint: the replicas would bind the same endpoint. Remove it: "
                              "each then has base_port + its index");
        }
        const Value* nodes = process.value.find("nodes");
        if (nodes == nullptr) continue;
        if (nodes->is(Value::Kind::scalar)) add(nodes->text, process.key, nodes->source);
        for (const Value& node : nodes->items) add(node.text, process.key, node.source);
      }
    }
    if (nodes_ == nullptr) return;
    for (const Entry& node : *nodes_) {
      const Value* process = node.value.find("process");
      if (process != nullptr && process_counts_.contains(process->text)) {
        add(node.key, process->text, process->source);
      }
    }
  }

  /// Checked before anything is copied, because a small file can ask for many copies.
  bool is_small_enough() {
    std::size_t values = 0;
    const auto add = [&](const std::vector<Entry>* section, const auto& count_of) {
      if (section == nullptr) return;
      for (const Entry& entry : *section) {
        values += static_cast<std::size_t>(count_of(entry.key)) * size_of(entry.value);
      }
    };
    const auto of_process = [&](const std::string& name) -> std::int64_t {
      const auto found = process_counts_.find(name);
      return found == process_counts_.end() ? 1 : found->second;
    };
    add(processes_, of_process);
    add(nodes_, [&](const std::string& name) -> std::int64_t {
      if (const auto inner = inner_.find(name); inner != inner_.end()) {
        return of_process(inner->second);
      }
      const auto found = node_counts_.find(name);
      return found == node_counts_.end() ? 1 : found->second;
    });
    if (values <= kValueLimit) return true;
    problems_.error(root_.source, "replicas: the plan would have more than " +
                                      std::to_string(kValueLimit) + " values. Use fewer replicas");
    return false;
  }

  void expand_processes() {
    if (processes_ == nullptr) return;
    std::vector<Entry> out;
    for (Entry& process : *processes_) {
      replace_names(process.value.find("after"), process_counts_);
      const auto count = process_counts_.find(process.key);
      if (count == process_counts_.end()) {
        replace_names(process.value.find("nodes"), node_counts_);
        replace_keys(entries_of(process.value.find("params")), node_counts_);
        out.push_back(std::move(process));
        continue;
      }
      for (std::int64_t i = 0; i < count->second; ++i) {
        Entry copy{replica(process.key, i), process.source, process.value};
        if (Value* nodes = copy.value.find("nodes")) {
          if (nodes->is(Value::Kind::scalar)) nodes->text = replica(nodes->text, i);
          for (Value& node : nodes->items) node.text = replica(node.text, i);
        }
        if (auto* params = entries_of(copy.value.find("params"))) {
          for (Entry& node : *params) node.key = replica(node.key, i);
        }
        out.push_back(std::move(copy));
      }
    }
    *processes_ = std::move(out);
  }

  void expand_nodes() {
    if (nodes_ == nullptr) return;
    std::vector<Entry> out;
    for (Entry& node : *nodes_) {
      const auto inner = inner_.find(node.key);
      const auto own = node_counts_.find(node.key);
      if (inner == inner_.end() && own == node_counts_.end()) {
        out.push_back(std::move(node));
        continue;
      }
      const std::int64_t count =
          inner != inner_.end() ? process_counts_.at(inner->second) : own->second;
      for (std::int64_t i = 0; i < count; ++i) {
        Entry copy{replica(node.key, i), node.source, node.value};
        Value* process = copy.value.find("process");
        if (inner != inner_.end() && process != nullptr) process->text = replica(process->text, i);
        out.push_back(std::move(copy));
      }
    }
    *nodes_ = std::move(out);
  }

  Value& root_;
  Problems& problems_;
  std::vector<Entry>* const nodes_;
  std::vector<Entry>* const processes_;
  const Counts node_counts_;  // of nodes with their own `replicas`
  const Counts process_counts_;
  std::map<std::string, std::string> inner_;  // node → its process with replicas
};

}  // namespace

void expand_replicas(Value& root, Problems& problems) { Expansion(root, problems).run(); }

}  // namespace hyphos::plan
