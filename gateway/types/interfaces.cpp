#include <set>
#include <string_view>

#include "gateway/types/types.hpp"

namespace hyphos::gateway {

namespace {

/// "msg", "srv" or "action" from a ROS 2 name. Empty for ROS 1, whose names have two parts.
std::string_view middle_of(std::string_view name) {
  const std::size_t first = name.find('/');
  const std::size_t last = name.rfind('/');
  return first == last ? std::string_view() : name.substr(first + 1, last - first - 1);
}

/// The action whose goal has this name. Empty if the name is not a goal's.
std::string_view action_of(std::string_view goal) {
  const std::string_view end = middle_of(goal).empty() ? "Goal" : "_Goal";
  if (!goal.ends_with(end)) return {};
  goal.remove_suffix(end.size());
  return goal.ends_with('/') ? std::string_view() : goal;
}

}  // namespace

std::vector<std::string> Types::interfaces() const {
  std::set<std::string> names;
  const auto all = layers();
  for (const Layer* layer : all) {
    for (const auto& [name, message] : layer->messages) {
      // Parts of ROS 2 services and actions have the middle part "srv" or "action".
      const std::string_view middle = middle_of(name);
      if (middle.empty() || middle == "msg") names.insert(name);
      const std::string_view made_of = action_of(name);
      if (!made_of.empty() && action(made_of)) names.emplace(made_of);
    }
  }
  for (const Layer* layer : all) {
    for (const auto& [name, call] : layer->calls) {
      const std::string_view middle = middle_of(name);
      if (!middle.empty() && middle != "srv") continue;
      names.insert(name);
      for (const std::string_view part : {"Request", "Response"}) {
        names.erase(name + std::string(part));
      }
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace hyphos::gateway
