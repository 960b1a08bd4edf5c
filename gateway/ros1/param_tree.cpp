#include "gateway/ros1/param_tree.hpp"

#include "gateway/ros1/names.hpp"

namespace hyphos::gateway::ros1 {
namespace {

// Splits off the first step: "a" for "/a/b". The rest is "/b".
std::string_view step(std::string_view& name) {
  while (name.starts_with('/')) name.remove_prefix(1);
  const std::string_view first = name.substr(0, name.find('/'));
  name.remove_prefix(first.size());
  while (name.starts_with('/')) name.remove_prefix(1);
  return first;
}

void collect(const Value& value, const std::string& name, std::vector<std::string>& names) {
  const auto* members = value.get_if<Value::Struct>();
  if (members == nullptr) {
    names.push_back(name);
    return;
  }
  for (const auto& [part, item] : *members) {
    std::string whole = name;
    collect(item, whole.append("/").append(part), names);
  }
}

}  // namespace

Result<void> ParamTree::set(std::string_view name, Value value) {
  std::size_t steps = 0;
  std::string_view path = name;
  while (!step(path).empty()) ++steps;
  if (steps > kMaxDepth) {
    return Error{Code::invalid_config,
                 "the parameter is in " + std::to_string(steps) + " namespaces, more than " +
                     std::to_string(kMaxDepth),
                 std::string(name.substr(0, 100))};
  }
  // An upper bound that needs no walk through the tree: each step counts as if it were new.
  const Value* before = get(name);
  const std::size_t replaced = before == nullptr ? 0 : memory_of(*before);
  const std::size_t kept = replaced < bytes_ ? bytes_ - replaced : 0;
  const std::size_t after = kept + name.size() + steps * sizeof(Value) + memory_of(value);
  if (after > kMaxBytes) {
    return Error{Code::overloaded,
                 "all parameters together would need " + std::to_string(after) +
                     " bytes, more than " + std::to_string(kMaxBytes),
                 std::string(name)};
  }
  Value* at = &root_;
  std::string_view rest = name;
  for (std::string_view part = step(rest); !part.empty(); part = step(rest)) {
    if (at->get_if<Value::Struct>() == nullptr) *at = Value::Struct();
    at = &(*at->get_if<Value::Struct>())[std::string(part)];
  }
  if (at == &root_ && value.get_if<Value::Struct>() == nullptr) {
    return Error{Code::invalid_config,
                 "the parameter / contains all others, so it must be a struct", "/"};
  }
  *at = std::move(value);
  bytes_ = after;
  return success();
}

const Value* ParamTree::get(std::string_view name) const {
  const Value* at = &root_;
  for (std::string_view part = step(name); !part.empty(); part = step(name)) {
    const auto* members = at->get_if<Value::Struct>();
    if (members == nullptr) return nullptr;
    const auto found = members->find(part);
    if (found == members->end()) return nullptr;
    at = &found->second;
  }
  return at;
}

bool ParamTree::erase(std::string_view name) {
  Value* at = &root_;
  std::string_view part = step(name);
  if (part.empty()) {
    root_ = Value::Struct();
    bytes_ = 0;
    return true;
  }
  for (;;) {
    auto* members = at->get_if<Value::Struct>();
    if (members == nullptr) return false;
    const auto found = members->find(part);
    if (found == members->end()) return false;
    part = step(name);
    if (part.empty()) {
      const std::size_t size = memory_of(found->second);
      bytes_ -= size < bytes_ ? size : bytes_;
      members->erase(found);
      return true;
    }
    at = &found->second;
  }
}

std::vector<std::string> ParamTree::names() const {
  std::vector<std::string> names;
  collect(root_, "", names);
  return names;
}

std::optional<std::string> ParamTree::search(std::string_view name_space,
                                             std::string_view key) const {
  if (key.starts_with('/')) {
    return get(key) == nullptr ? std::nullopt : std::optional<std::string>(key);
  }
  std::string_view rest = key;
  const std::string first(step(rest));
  if (first.empty()) return std::nullopt;
  for (std::string at = resolve_name(name_space, "/");; at = resolve_name(namespace_of(at), "/")) {
    const std::string beside = at + "/";
    if (get(beside + first) != nullptr) return resolve_name(beside + std::string(key), "/");
    if (at == "/") return std::nullopt;
  }
}

}  // namespace hyphos::gateway::ros1
