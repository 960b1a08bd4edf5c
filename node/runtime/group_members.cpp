// The nodes of one process: its plug-ins, and the start and end of its groups.
#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "base/log.hpp"
#include "hyphos/inspect.hpp"
#include "node/params/param_file.hpp"
#include "node/runtime/runtime_impl.hpp"

namespace hyphos {
namespace {

bool is_in(const std::string& name, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Result<void> Runtime::Impl::load_plugins() {
  if (auto good = usable(); !good) return good;
  if (!plan_) return Error{Code::invalid_config, "plug-ins need a plan (--hyphos-plan FILE)", ""};
  std::vector<std::string> names;
  for (const ProcessPlan& process : plan_->processes) {
    if (!options_.lockstep && process.name != options_.process) continue;
    names.insert(names.end(), process.nodes.begin(), process.nodes.end());
  }
  // Nodes of other processes that a change of their group has moved here.
  for (const GroupPlan& group : plan_->groups) {
    if (options_.lockstep || group.process == options_.process) continue;
    const auto& targets = group.moves_to;
    if (std::find(targets.begin(), targets.end(), options_.process) == targets.end()) continue;
    names.insert(names.end(), group.nodes.begin(), group.nodes.end());
  }
  for (const std::string& name : names) {
    const NodePlan& planned = *plan_->node(name);
    const bool loadable = planned.kind == NodeKind::plugin || planned.kind == NodeKind::gateway ||
                          planned.kind == NodeKind::builtin;
    if (!loadable || !is_here(planned)) continue;
    if (auto loaded = load_plugin(planned); !loaded) return loaded;
  }
  return success();
}

Result<void> Runtime::Impl::load_plugin(const NodePlan& planned) {
  const bool gateway = planned.kind == NodeKind::gateway;
  const bool beside = gateway || planned.kind == NodeKind::builtin;
  // An offline process has no clients for a gateway.
  if (gateway && options_.offline) return success();
  auto node = make_node(planned.name, std::shared_ptr<Impl>(std::shared_ptr<Impl>(), this));
  if (!node) return node.error();
  auto plugin = beside ? LoadedPlugin::load_beside(*node, gateway ? kGateways : kBuiltins)
                       : LoadedPlugin::load(plan_->program_file(planned), *node);
  if (!plugin) return plugin.error();
  node->params().done();
  const MutexLock lock(plugins_mutex_);
  plugins_.push_back(std::move(*plugin));
  return success();
}

std::filesystem::path Runtime::Impl::group_file() const {
  if (options_.state_folder.empty()) return {};
  return std::filesystem::path(options_.state_folder) / (options_.process + ".groups");
}

/// Reads the groups that earlier changes of this run have placed here ("on") or elsewhere ("off").
void Runtime::Impl::load_groups() {
  if (plan_->groups.empty() || options_.lockstep || options_.offline) return;
  const MutexLock lock(mutex_);
  std::ifstream in(group_file());
  for (std::string state, name; in >> state >> name;) {
    if (plan_->group(name) != nullptr) groups_here_[name] = state == "on";
  }
  const auto processes = inspect(domain_);
  if (!processes) return;
  for (const GroupPlan& group : plan_->groups) {
    const auto is_member = [&](const EndpointInfo& end) { return is_in(end.node, group.nodes); };
    for (const ProcessInfo& other : *processes) {
      const bool may_host = other.name == group.process || is_in(other.name, group.moves_to);
      if (group.moves_to.empty() || other.name == options_.process || !may_host) continue;
      if (std::none_of(other.endpoints.begin(), other.endpoints.end(), is_member)) continue;
      groups_here_[group.name] = false;
      log::info("group", "group '" + group.name + "' runs in process '" + other.name +
                             "', so it does not start here");
    }
  }
}

Result<void> Runtime::Impl::record_group(const std::string& group, bool here) {
  std::ostringstream text;
  {
    const MutexLock lock(mutex_);
    groups_here_[group] = here;
    for (const auto& [name, is_here] : groups_here_) {
      text << (is_here ? "on " : "off ") << name << '\n';
    }
  }
  const std::filesystem::path file = group_file();
  return file.empty() ? success() : params::write_file(file, text.str(), false);
}

bool Runtime::Impl::hosts(const NodePlan& node) {
  const GroupPlan* const group = plan_->group_of(node.name);
  // `hyphos validate` constructs all nodes offline.
  if (group == nullptr || options_.offline) return node.process == options_.process;
  const MutexLock lock(mutex_);
  const auto changed = groups_here_.find(group->name);
  if (changed == groups_here_.end()) return group->start && node.process == options_.process;
  return changed->second && plan_->may_run(node, options_.process);
}

bool Runtime::Impl::runs(const std::string& node) {
  std::shared_ptr<Node::Impl> found;
  {
    const MutexLock lock(mutex_);
    const auto at = nodes_.find(node);
    if (at != nodes_.end()) found = at->second.lock();
  }
  return found != nullptr && found->check_open().ok();
}

void Runtime::Impl::set_node_host(NodeHost host) {
  const MutexLock lock(mutex_);
  node_host_ = std::move(host);
}

Result<void> Runtime::Impl::can_change(const NodePlan& node) {
  std::string why;
  if (node.kind == NodeKind::executable || node.kind == NodeKind::external) {
    why = "its own program constructs it, so it starts and ends with its process";
  } else if (node.kind == NodeKind::python) {
    const MutexLock lock(mutex_);
    if (!node_host_) why = "process '" + options_.process + "' was not started by `hyphos run`";
  }
  if (why.empty()) return success();
  return Error{Code::unsupported,
               "node '" + node.name + "' cannot start or end while the robot runs: " + why,
               node.source.to_string()};
}

Result<void> Runtime::Impl::call_host(const NodePlan& node, bool run) {
  NodeHost host;
  {
    const MutexLock lock(mutex_);
    host = node_host_;
  }
  const std::string problem = host ? host(node.name, run) : "the process ends";
  if (problem.empty()) return success();
  return Error{Code::invalid_config, problem, node.source.to_string()};
}

Result<void> Runtime::Impl::start_node(const NodePlan& node) {
  if (runs(node.name)) return success();
  if (node.kind != NodeKind::python) return load_plugin(node);
  if (auto started = call_host(node, true); !started) return started;
  std::shared_ptr<Node::Impl> made;
  {
    const MutexLock lock(mutex_);
    made = nodes_[node.name].lock();
  }
  if (made) made->params()->done();
  return success();
}

Result<void> Runtime::Impl::stop_node(const NodePlan& node) {
  if (node.kind == NodeKind::python) {
    return runs(node.name) ? call_host(node, false) : success();
  }
  std::optional<LoadedPlugin> ended;  // destroyed without the lock
  {
    const MutexLock lock(plugins_mutex_);
    const auto at = std::find_if(plugins_.begin(), plugins_.end(),
                                 [&](const LoadedPlugin& one) { return one.name() == node.name; });
    if (at == plugins_.end()) return success();
    ended = std::move(*at);
    plugins_.erase(at);
  }
  return success();
}

Result<void> Runtime::Impl::start_group_here(const GroupPlan& group) {
  std::vector<const NodePlan*> started;
  for (const std::string& name : group.nodes) {
    const NodePlan& node = *plan_->node(name);
    if (!plan_->may_run(node, options_.process) || runs(name)) continue;
    auto done = can_change(node);
    if (done) done = start_node(node);
    if (done) {
      started.push_back(&node);
      continue;
    }
    for (auto one = started.rbegin(); one != started.rend(); ++one) (void)!stop_node(**one);
    return done;
  }
  return record_group(group.name, true);
}

Result<void> Runtime::Impl::stop_group_here(const GroupPlan& group) {
  std::vector<const NodePlan*> running;
  for (const std::string& name : group.nodes) {
    if (!runs(name)) continue;
    running.push_back(plan_->node(name));
    if (auto possible = can_change(*running.back()); !possible) return possible;
  }
  // Recorded first: a process that dies meanwhile does not start the group again.
  if (auto recorded = record_group(group.name, false); !recorded) return recorded;
  for (auto one = running.rbegin(); one != running.rend(); ++one) {
    if (auto stopped = stop_node(**one); !stopped) return stopped;
  }
  return success();
}

Result<std::vector<std::pair<std::string, Where>>> Runtime::Impl::open_group_here(
    const GroupPlan& group, bool open, Where where) {
  std::set<std::string> channels;
  for (const EndpointInfo& end : endpoints()) {
    const bool hidden = end.channel.starts_with('_') || end.channel.find("/_") != std::string::npos;
    const bool internal = hidden || end.channel.starts_with("hyphos/");
    if (internal || !is_in(end.node, group.nodes)) continue;
    if (end.channel != plan_->node(end.node)->channel_for("log")) channels.insert(end.channel);
  }
  std::vector<std::pair<std::string, Where>> changed;
  for (const std::string& name : channels) {
    auto done = graph_->with_channel(name, [&](graph::Channel& channel) {
      channel.set_open(where, open);
      changed.emplace_back(name, channel.open_places());
    });
    if (!done) return done.error();
  }
  return changed;
}

}  // namespace hyphos
