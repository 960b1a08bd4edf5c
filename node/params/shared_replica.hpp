#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hyphos/params/params.pb.h"
#include "hyphos/plan.hpp"
#include "plan/param_tree.hpp"

namespace hyphos::params {

/// One process's copy of the tree that all nodes share. No I/O, not thread-safe.
///
/// Each value has a rank: a value that was set is above a start value, a start value of our own
/// plan is above those of others, then the later stamp wins, then the larger writer. The copies
/// exchange their values. The tree is the result of all values in the order of their ranks. So
/// copies that have the same values of one robot have the same tree, in whatever order the values
/// arrived.
class SharedReplica {
 public:
  struct Value {
    ParamValue value;
    bool removed = false;
    bool is_set = false;  ///< set at run time, not a start value
    std::uint64_t stamp = 0;
    std::uint64_t writer = 0;
  };
  /// The effect of a message from another copy.
  struct Merged {
    bool changed = false;      ///< the tree may differ
    bool set_changed = false;  ///< the values that were set differ
    std::string refused;       ///< the problem of the first refused value, or ""
    std::size_t refusals = 0;
  };

  explicit SharedReplica(std::uint64_t writer) : writer_(writer) {}

  /// Adds start values of this process. Errors: invalid_config, exhausted.
  Result<void> plan(const std::vector<plan::Leaf>& leaves, std::uint64_t stamp);
  /// Sets values, all or none. Errors: invalid_config, type_mismatch, exhausted.
  Result<void> set(const std::vector<plan::Leaf>& leaves, std::uint64_t now_ns);
  /// Removes a path and all below it. Errors: not_found, exhausted.
  Result<void> remove(const std::string& path, std::uint64_t now_ns);

  /// Takes the values of another copy. A value from more than an hour after `now_ns` is refused,
  /// because no later change could replace it.
  Merged merge(const v1::SharedParams& message, std::uint64_t now_ns);
  /// The start values of this process, and all values that were set.
  void encode(v1::SharedParams& out) const;
  /// The values that were set, for a file.
  void encode_set(v1::SharedParams& out) const;

  [[nodiscard]] const std::shared_ptr<const ParamValue>& tree() const { return tree_; }
  /// Rebuilds the tree. Returns the sorted paths whose values differ.
  std::vector<std::string> rebuild();

  /// Equal for messages with the same set values.
  [[nodiscard]] static std::uint64_t digest(const v1::SharedParams& message);

 private:
  using Values = std::map<std::string, Value>;

  [[nodiscard]] bool is_above(const Value& a, const Value& b) const;
  /// False if a value of a higher rank is there.
  bool insert(const std::string& path, Value value);
  [[nodiscard]] Result<void> check_room(const Values& added) const;
  [[nodiscard]] std::uint64_t next_stamp(std::uint64_t now_ns) const;

  const std::uint64_t writer_;
  Values values_;
  std::size_t bytes_ = 0;  // of the paths and values as YAML
  std::uint64_t newest_ = 0;
  std::shared_ptr<const ParamValue> tree_ = std::make_shared<const ParamValue>();
  std::map<std::string, std::string> leaves_;  // of the tree: path → YAML
};

}  // namespace hyphos::params
