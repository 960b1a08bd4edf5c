#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/config.hpp"
#include "hyphos/plan.hpp"

/// Parameters as a tree: maps of maps, whose leaves are scalars, lists, nulls and empty maps. Pure
/// functions.
namespace hyphos::plan {

/// The channel through which processes exchange the tree that all nodes share.
inline constexpr const char* kSharedParamsChannel = "_params/shared";
[[nodiscard]] Policy shared_params_policy();

/// Text in quotes, in one line.
[[nodiscard]] std::string quoted(const std::string& text);
/// A value in one line of YAML that reads back as the same value.
[[nodiscard]] std::string flow_yaml(const ParamValue& value);
/// Parses one value. Errors: invalid_config, with every place. `name` identifies the text.
[[nodiscard]] Result<ParamValue> parse_value(std::string_view text, const std::string& name,
                                             const config::Limits& limits = {});

/// A value that is not a map with keys, and its path: "profile.name".
using Leaf = std::pair<std::string, ParamValue>;
/// The leaves of a value at `path`, in the order of the file. A dot inside a key divides it. None
/// for an empty map at "".
[[nodiscard]] std::vector<Leaf> leaves_at(const std::string& path, const ParamValue& value);
/// The problem of a path, or "".
[[nodiscard]] std::string path_problem(std::string_view path);
/// The problem of a leaf, or "". Its text begins with the path.
[[nodiscard]] std::string leaf_problem(const Leaf& leaf);
/// The problem of many leaves together, or "".
[[nodiscard]] std::string size_problem(const std::vector<Leaf>& leaves);

/// Sets the value at a path. Replaces other values in the way. An empty map keeps a map.
void set_leaf(ParamValue& tree, std::string_view path, const ParamValue& value);
/// Removes a path and all below it. Maps that become empty stay.
void remove_path(ParamValue& tree, std::string_view path);

}  // namespace hyphos::plan
