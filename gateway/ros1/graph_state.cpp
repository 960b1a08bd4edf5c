#include "gateway/ros1/graph_state.hpp"

#include <utility>

namespace hyphos::gateway::ros1 {
namespace {

Error malformed_state(const char* what) {
  return {Code::corrupt, std::string("the master's ") + what + " does not have the format of ROS 1",
          ""};
}

const Value::Array* array(const Value& value) { return value.get_if<Value::Array>(); }

bool read(const Value& value, GraphState::Table& table) {
  const auto* rows = array(value);
  if (rows == nullptr) return false;
  for (const Value& row : *rows) {
    const auto* parts = array(row);
    if (parts == nullptr || parts->size() != 2) return false;
    const auto* nodes = array((*parts)[1]);
    if (nodes == nullptr) return false;
    auto& names = table[(*parts)[0].text()];
    for (const Value& node : *nodes) names.insert(node.text());
  }
  return true;
}

}  // namespace

Result<GraphState> GraphState::parse(const Value& system_state, const Value& topic_types) {
  GraphState state;
  const auto* parts = array(system_state);
  if (parts == nullptr || parts->size() != 3 || !read((*parts)[0], state.publishers) ||
      !read((*parts)[1], state.subscribers) || !read((*parts)[2], state.services)) {
    return malformed_state("system state");
  }
  const auto* rows = array(topic_types);
  if (rows == nullptr) return malformed_state("list of types");
  for (const Value& row : *rows) {
    const auto* pair = array(row);
    if (pair == nullptr || pair->size() != 2) return malformed_state("list of types");
    state.types.insert_or_assign((*pair)[0].text(), (*pair)[1].text());
  }
  return state;
}

bool GraphState::has(const Table& table, const std::string& name, const std::string& node) {
  const auto found = table.find(name);
  return found != table.end() && found->second.contains(node);
}

bool GraphState::has_other(const Table& table, const std::string& name, const std::string& node) {
  const auto found = table.find(name);
  return found != table.end() && found->second.size() > (found->second.contains(node) ? 1U : 0U);
}

}  // namespace hyphos::gateway::ros1
