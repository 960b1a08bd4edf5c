#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/ros1/value.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway::ros1 {

/// The parameters of a master: a tree, whose inner nodes are structs. Names are global and
/// resolved; "/" is the whole. Not thread-safe.
class ParamTree {
 public:
  /// Bytes of names and values, roughly: whoever can reach the master could fill it.
  static constexpr std::size_t kMaxBytes = std::size_t{16} << 20;
  /// Namespaces in a name: the tree is walked by recursion.
  static constexpr std::size_t kMaxDepth = 32;

  /// What was there before is replaced, and so is a value that stands where a namespace is needed.
  /// Errors: overloaded (the tree would be larger than kMaxBytes), invalid_config ("/" is to be
  /// something other than a struct; the name is too deep).
  Result<void> set(std::string_view name, Value value);
  /// nullptr: it is not set. Lives until the next change.
  [[nodiscard]] const Value* get(std::string_view name) const;
  /// False: it was not set. The root becomes empty and stays.
  bool erase(std::string_view name);
  /// The names of all values, not of the namespaces.
  [[nodiscard]] std::vector<std::string> names() const;

  /// The nearest parameter that `key` ("a/b") means from `name_space` upwards: the first namespace
  /// that has an "a" decides, whether it has a "b" there or not, as in ROS.
  [[nodiscard]] std::optional<std::string> search(std::string_view name_space,
                                                  std::string_view key) const;

 private:
  Value root_ = Value::Struct();
  std::size_t bytes_ = 0;
};

}  // namespace hyphos::gateway::ros1
