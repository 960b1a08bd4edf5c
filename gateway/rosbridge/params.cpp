#include "gateway/rosbridge/params.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <type_traits>
#include <utility>
#include <variant>

#include "gateway/rosbridge/json_text.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

template <typename Number>
std::string digits(Number number) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), end};
}

std::string json_of(bool yes) { return yes ? "true" : "false"; }
std::string json_of(std::int64_t whole) { return digits(whole); }
std::string json_of(double real) { return std::isfinite(real) ? digits(real) : "null"; }
std::string json_of(const std::string& text) { return json_string(text); }
std::string json_of(const ParamBytes& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    const auto value = std::to_integer<unsigned>(byte);
    text += {kDigits[value >> 4U], kDigits[value & 15U]};
  }
  return json_string(text);
}
template <typename Item>
std::string json_of(const std::vector<Item>& list) {
  std::string text;
  for (const auto& item : list) text += (text.empty() ? "" : ",") + json_of(Item(item));
  return "[" + text + "]";
}

std::string json_of(const ParamValue& value) {
  std::string text;
  switch (value.kind) {
    case ParamValue::Kind::null:
      return "null";
    case ParamValue::Kind::list:
      for (const ParamValue& item : value.items) text += (text.empty() ? "" : ",") + json_of(item);
      return "[" + text + "]";
    case ParamValue::Kind::map:
      for (const ParamEntry& entry : value.entries) {
        text += (text.empty() ? "" : ",") + json_string(entry.key) + ":" + json_of(entry.value);
      }
      return "{" + text + "}";
    case ParamValue::Kind::scalar:
      break;
  }
  if (!value.quoted) {
    if (const auto whole = value.as_integer()) return json_of(*whole);
    if (const auto real = value.as_real()) return json_of(*real);
    if (const auto yes = value.as_boolean()) return json_of(*yes);
  }
  return json_string(value.text);
}

/// A name and the names below it. A value hides the names below it.
struct Tree {
  std::map<std::string, Tree> below;
  std::optional<std::string> value;

  void add(std::string_view name, std::string json) {
    if (name.empty()) {
      value = std::move(json);
      return;
    }
    name.remove_prefix(1);  // '/'
    const std::size_t end = std::min(name.find('/'), name.size());
    below[std::string(name.substr(0, end))].add(name.substr(end), std::move(json));
  }
  [[nodiscard]] std::string json() const {
    if (value) return *value;
    std::string text;
    for (const auto& [name, tree] : below) {
      text += (text.empty() ? "" : ",") + json_string(name) + ":" + tree.json();
    }
    return "{" + text + "}";
  }
};

}  // namespace

std::string ParamNames::normal(std::string_view name) {
  while (name.starts_with('/')) name.remove_prefix(1);
  while (name.ends_with('/')) name.remove_suffix(1);
  const std::size_t colon = name.find(':');
  if (colon != std::string_view::npos) {
    return ros_param(name.substr(0, colon), name.substr(colon + 1));
  }
  return "/" + std::string(name);
}

ParamNames::ParamNames(const NodeParams::Sets& sets, const ParamValue& shared) {
  const auto add = [this](const std::string& name, const std::string& node, const ParamInfo& info) {
    const auto json = std::visit([](const auto& value) { return json_of(value); }, info.value);
    found_.emplace(name, Found{node, info.name, info.value, json});
  };
  for (const auto& [node, params] : sets) {
    for (const auto& info : params.infos()) {
      const std::string below_node = ros_param(node, info->name);
      const std::string own = ros_param(node, *info);
      if (own == below_node) {
        add(own, node, *info);
      } else {
        aliases_.emplace(below_node, own);
      }
    }
  }
  // Names of ROS 1 have no node, so they do not replace a name of one.
  for (const auto& [node, params] : sets) {
    for (const auto& info : params.infos()) add(ros_param(node, *info), node, *info);
  }
  each_leaf(shared, "", [this](const std::string& path, const ParamValue& leaf) {
    std::string name = "/" + path;
    std::replace(name.begin(), name.end(), '.', '/');
    found_.emplace(std::move(name), Found{"", path, {}, json_of(leaf)});
  });
}

std::vector<std::string> ParamNames::all() const {
  std::vector<std::string> names;
  for (const auto& [name, found] : found_) names.push_back(name);
  return names;
}

const ParamNames::Found* ParamNames::find(std::string_view name) const {
  auto at = found_.find(normal(name));
  if (at == found_.end()) {
    const auto alias = aliases_.find(normal(name));
    if (alias != aliases_.end()) at = found_.find(alias->second);
  }
  return at == found_.end() ? nullptr : &at->second;
}

std::optional<std::string> ParamNames::json(std::string_view name) const {
  if (const Found* one = find(name)) return one->json;
  std::string within = normal(name);
  if (within == "/") within.clear();
  Tree tree;
  for (const auto& [other, found] : found_) {
    if (other.starts_with(within + "/")) tree.add(other.substr(within.size()), found.json);
  }
  if (tree.below.empty()) return std::nullopt;
  return tree.json();
}

}  // namespace hyphos::gateway::rosbridge
