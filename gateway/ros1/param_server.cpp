#include "gateway/ros1/param_server.hpp"

#include <algorithm>
#include <utility>

#include "gateway/ros1/names.hpp"

namespace hyphos::gateway::ros1 {
namespace {

bool is_below(std::string_view name, std::string_view name_space) {
  if (name_space == "/") return true;
  return name.size() > name_space.size() && name.starts_with(name_space) &&
         name[name_space.size()] == '/';
}

std::string resolved(const Methods::Params& params, std::size_t at) {
  return resolve_name(params[at].text(), params[0].text());
}

Value not_set(const std::string& name) {
  return outcome(-1, "parameter " + name + " is not set", 0);
}

}  // namespace

ParamServer::ParamServer(const Registrations& nodes, Tell tell)
    : nodes_(nodes), tell_(std::move(tell)) {}

std::optional<std::pair<std::string, Value>> ParamServer::update_for(const std::string& watched,
                                                                     const std::string& name,
                                                                     const Value& value) {
  if (watched == name || is_below(name, watched)) return std::pair(name, value);
  if (!is_below(watched, name)) return std::nullopt;
  // The watched name is inside the value: it may be new, changed or deleted.
  const Value* at = &value;
  std::string_view rest = std::string_view(watched).substr(name == "/" ? 1 : name.size() + 1);
  while (at != nullptr && !rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    const auto* members = at->get_if<Value::Struct>();
    if (members == nullptr) {
      at = nullptr;
    } else {
      const auto found = members->find(part);
      at = found == members->end() ? nullptr : &found->second;
    }
  }
  return std::pair(watched, at == nullptr ? Value(Value::Struct()) : *at);
}

void ParamServer::tell_others(const std::string& node, const std::string& name,
                              const Value& value) {
  for (const auto& [watched, watchers] : nodes_.param_watchers()) {
    const auto update = update_for(watched, name, value);
    if (!update) continue;
    for (const auto& [watcher, uri] : watchers) {
      if (watcher != node) tell_(uri, update->first, update->second);
    }
  }
}

Value ParamServer::set(const Methods::Params& params) {
  const std::string name = resolved(params, 1);
  const Result<void> done = tree_.set(name, params[2]);
  if (!done) return outcome(-1, done.error().message, 0);
  tell_others(caller_of(params), name, params[2]);
  return outcome(1, "parameter " + name + " set", 0);
}

Value ParamServer::erase(const Methods::Params& params) {
  const std::string name = resolved(params, 1);
  if (!tree_.erase(name)) return not_set(name);
  tell_others(caller_of(params), name, Value::Struct());
  return outcome(1, "parameter " + name + " deleted", 0);
}

Value ParamServer::value(const std::string& name) const {
  const Value* found = tree_.get(name);
  return found == nullptr ? Value(Value::Struct()) : *found;
}

void ParamServer::add_to(Methods& methods) {
  using Params = Methods::Params;
  methods.add("setParam", "caller_id key value*", [this](const Params& p) { return set(p); });
  methods.add("deleteParam", "caller_id key", [this](const Params& p) { return erase(p); });
  methods.add("getParam", "caller_id key", [this](const Params& p) {
    const std::string name = resolved(p, 1);
    const Value* value = tree_.get(name);
    return value == nullptr ? not_set(name) : outcome(1, "parameter " + name, *value);
  });
  methods.add("hasParam", "caller_id key", [this](const Params& p) {
    const std::string name = resolved(p, 1);
    return outcome(1, name, tree_.get(name) != nullptr);
  });
  methods.add("searchParam", "caller_id key", [this](const Params& p) {
    const auto found = tree_.search(p[0].text(), p[1].text());
    if (!found) return outcome(-1, "no parameter matches " + p[1].text(), "");
    return outcome(1, "found", *found);
  });
  methods.add("getParamNames", "caller_id", [this](const Params&) {
    Value::Array names;
    for (std::string& name : tree_.names()) names.emplace_back(std::move(name));
    return outcome(1, "names of parameters", std::move(names));
  });
}

}  // namespace hyphos::gateway::ros1
