#include <set>
#include <string_view>

#include "gateway/types/types.hpp"

namespace hyphos::gateway {

namespace {

/// "msg", "srv" or "action" of a name of ROS 2; empty of ROS 1, which puts nothing between.
std::string_view middle_of(std::string_view name) {
  const std::size_t first = name.find('/');
  const std::size_t last = name.rfind('/');
  return first == last ? std::string_view() : name.substr(first + 1, last - first - 1);
}

/// The action whose goal has this name; empty if it is no name of a goal.
std::string_view action_of(std::string_view goal) {
  const std::string_view end = middle_of(goal).empty() ? "Goal" : "_Goal";
  if (!goal.ends_with(end)) return {};
  goal.remove_suffix(end.size());
  return goal.ends_with('/') ? std::string_view() : goal;
}

}  // namespace

std::vector<std::string> Types::interfaces() const {
  std::set<std::string> names;
  for (const auto& [name, message] : messages_) {
    // What services and actions of ROS 2 are made of has names below theirs.
    const std::string_view middle = middle_of(name);
    if (middle.empty() || middle == "msg") names.insert(name);
    const std::string_view made_of = action_of(name);
    if (!made_of.empty() && action(made_of)) names.emplace(made_of);
  }
  for (const auto& [name, call] : calls_) {
    const std::string_view middle = middle_of(name);
    if (!middle.empty() && middle != "srv") continue;
    names.insert(name);
    for (const std::string_view part : {"Request", "Response"}) {
      names.erase(name + std::string(part));
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace hyphos::gateway
