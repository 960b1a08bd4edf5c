#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/ros1/value.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway::ros1 {

/// The parameters of a master: a tree whose inner nodes are structs. Names are global and resolved.
/// "/" is the whole tree. Not thread-safe.
class ParamTree {
 public:
  /// Approximate size of names and values in bytes. Without a bound, any client of the master could
  /// fill it.
  static constexpr std::size_t kMaxBytes = std::size_t{16} << 20;
  /// Maximum number of namespaces in a name, because the tree is walked by recursion.
  static constexpr std::size_t kMaxDepth = 32;

  /// Replaces the old value, and any value at a position where a namespace is needed. Errors:
  /// overloaded (the tree would exceed kMaxBytes), invalid_config (the value for "/" is not a
  /// struct, or the name is too deep).
  Result<void> set(std::string_view name, Value value);
  /// Null if it is not set. Valid until the next change.
  [[nodiscard]] const Value* get(std::string_view name) const;
  /// Returns false if it was not set. The root becomes empty, but stays.
  bool erase(std::string_view name);
  /// The names of all values, without namespaces.
  [[nodiscard]] std::vector<std::string> names() const;

  /// Finds the nearest parameter for `key` ("a/b") from `name_space` upwards. As in ROS, the first
  /// namespace that has an "a" decides, even if it has no "b".
  [[nodiscard]] std::optional<std::string> search(std::string_view name_space,
                                                  std::string_view key) const;

 private:
  Value root_ = Value::Struct();
  std::size_t bytes_ = 0;
};

}  // namespace hyphos::gateway::ros1
