#include <utility>
#include <vector>

#include "gateway/ros1/left_out.hpp"
#include "gateway/ros1/names.hpp"
#include "gateway/ros1/param_value.hpp"
#include "gateway/ros1/params.hpp"

namespace hyphos::gateway::ros1 {
namespace {

bool is_related(std::string_view one, std::string_view other) {
  if (one.size() > other.size()) std::swap(one, other);
  return one == "/" || one == other || (other.starts_with(one) && other[one.size()] == '/');
}

}  // namespace

ParamsOut::ParamsOut(const Context& context, net::Loop& calls, NodeParams& nodes,
                     ServerParams& server, Patterns which)
    : context_(context), calls_(calls), nodes_(nodes), server_(server), which_(std::move(which)) {}

std::string ParamsOut::any() const { return joined_.empty() ? "" : joined_.begin()->first; }

void ParamsOut::look() {
  gather();
  if (!server_.known()) return;
  std::set<std::string> gone;
  for (const auto& [name, joined] : joined_) {
    if (!joined.here) gone.insert(joined.node);
  }
  for (const std::string& node : gone) withdraw(node);
  for (auto& [name, joined] : joined_) settle(name, joined);
}

void ParamsOut::gather() {
  for (auto& [name, joined] : joined_) joined.here = false;
  for (const auto& [node, set] : nodes_.all()) {
    for (const auto& info : set.infos()) {
      add(ros_param(node, info->name), node, info->name, to_ros(info->value));
    }
  }
  each_leaf(*nodes_.shared(), "", [this](const std::string& path, const ParamValue& leaf) {
    add(ros_param("", path).substr(1), "", path, to_ros(leaf));
  });
}

void ParamsOut::add(const std::string& name, const std::string& node, const std::string& param,
                    Result<Value> value) {
  if (!is_global_name(name) || !which_.match(name)) return;
  if (!value) {
    return report_left_out(context_, logged_, "parameter", name, value.error());
  }
  Joined& joined = joined_[name];
  if (joined.here) return;  // for "left-arm" and "left_arm", the first one owns the name
  joined.node = node;
  joined.param = param;
  joined.value = std::move(*value);
  joined.here = true;
}

// Deletes all names that a node no longer has. If nothing else is in its namespace, deletes the
// namespace too.
void ParamsOut::withdraw(const std::string& node) {
  std::vector<std::string> gone;
  for (const auto& [name, joined] : joined_) {
    if (joined.node == node && !joined.here) gone.push_back(name);
  }
  if (node.empty()) {  // the shared tree has no namespace of its own
    for (const std::string& name : gone) {
      joined_.erase(name);
      if (server_.tree().get(name) != nullptr) server_.erase(name);
    }
    return;
  }
  const std::string within = ros_param(node, "").substr(0, node.size() + 1);
  std::map<std::string, const Value*> left;
  if (const Value* all = server_.tree().get(within)) collect_leaves(*all, within, left);
  for (const std::string& name : gone) left.erase(name);
  for (const std::string& name : gone) {
    joined_.erase(name);
    if (!left.empty() && server_.tree().get(name) != nullptr) server_.erase(name);
  }
  if (left.empty() && server_.tree().get(within) != nullptr) server_.erase(within);
}

void ParamsOut::settle(const std::string& name, Joined& joined) {
  if (joined.busy) return;
  const Value* server = server_.tree().get(name);
  if (server != nullptr && *server == joined.value) {
    joined.agreed = joined.value;
  } else if (server == nullptr || joined.agreed != joined.value) {
    write(name, joined);
  } else {
    verify(name, joined);
  }
}

void ParamsOut::write(const std::string& name, Joined& joined) {
  joined.agreed = joined.value;
  server_.set(name, joined.value);
}

void ParamsOut::verify(const std::string& name, Joined& joined) {
  joined.busy = true;
  server_.ask(name, [this, name](bool is_set) {
    const auto found = joined_.find(name);
    if (found == joined_.end()) return;
    Joined& mine = found->second;
    mine.busy = false;
    const Value* server = server_.tree().get(name);
    if (!is_set || server == nullptr) return;  // a notification about its end will follow
    if (*server == mine.value || mine.agreed != mine.value) return settle(name, mine);
    ask(name, mine);
  });
}

void ParamsOut::ask(const std::string& name, Joined& joined) {
  const Value asked = *server_.tree().get(name);
  if (joined.node.empty()) {
    const auto tree = tree_from_ros(asked);
    if (!tree) return refused(name, joined, tree.error());
    joined.busy = true;
    const Result<void> answer = nodes_.set_shared(joined.param, *tree);
    calls_.post([this, name, asked, answer] { answered(name, asked, answer); });
    return;
  }
  auto value = from_ros(asked);
  if (!value) return refused(name, joined, value.error());
  joined.busy = true;
  nodes_.set(joined.node, joined.param, std::move(*value),
             [this, name, asked](const Result<void>& answer) {
               calls_.post([this, name, asked, answer] { answered(name, asked, answer); });
             });
}

void ParamsOut::answered(const std::string& name, const Value& asked, const Result<void>& answer) {
  if (!joined_.contains(name)) return;
  gather();
  Joined& joined = joined_.find(name)->second;
  joined.busy = false;
  if (!answer) return refused(name, joined, answer.error());
  joined.agreed = joined.value;
  const Value* server = server_.tree().get(name);
  // The node may have converted an integer to a floating-point number. ROS must see the node's
  // value.
  if (server != nullptr && *server == asked && asked != joined.value) return write(name, joined);
  settle(name, joined);
}

void ParamsOut::refused(const std::string& name, Joined& joined, const Error& why) {
  context_.facade.clients().count({context_.node, context_.group}, "param",
                                  name + ": " + why.message);
  write(name, joined);
}

void ParamsOut::changed(const std::string& name) {
  for (auto& [each, joined] : joined_) {
    if (is_related(name, each)) settle(each, joined);
  }
}

void ParamsOut::stop() {
  for (auto& [name, joined] : joined_) joined.here = false;
  while (!joined_.empty()) withdraw(std::string(joined_.begin()->second.node));
}

}  // namespace hyphos::gateway::ros1
