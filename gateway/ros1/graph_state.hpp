#pragma once

#include <map>
#include <set>
#include <string>

#include "gateway/ros1/value.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway::ros1 {

/// The state of a master: names of nodes by topic and by service.
struct GraphState {
  using Table = std::map<std::string, std::set<std::string>, std::less<>>;
  Table publishers;
  Table subscribers;
  Table services;
  /// topic types. "*": no node has given a type
  std::map<std::string, std::string, std::less<>> types;

  /// Parses the values that getSystemState and getTopicTypes return. Errors: corrupt.
  static Result<GraphState> parse(const Value& system_state, const Value& topic_types);

  [[nodiscard]] static bool has(const Table& table, const std::string& name,
                                const std::string& node);
  /// True if a node other than `node` has it.
  [[nodiscard]] static bool has_other(const Table& table, const std::string& name,
                                      const std::string& node);
};

}  // namespace hyphos::gateway::ros1
