#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/config.hpp"

/// Builds one YAML tree from files and options: includes, the paper's listings, overrides.
namespace hyphos::plan {

/// Nests the listings of the HyperGraph ROS paper (arXiv 2025, Listings 1-3), which are printed
/// without indentation, and warns. Leaves nested listings unchanged.
void nest_flat_listing(config::Value& root, config::Problems& problems);

/// True if the file contains only `network` and `data_graph`, as a listing of the paper.
[[nodiscard]] bool is_listing(const config::Value& root);

/// Merges `over` into `base`: maps key by key, other values replaced. Reports an error if a
/// channel's type changes.
void merge_tree(config::Value& base, config::Value over, config::Problems& problems);

/// Sets one "key.key=value".
void apply_override(config::Value& root, std::string_view text, config::Problems& problems);

/// Parses `text` and all its includes. `path` is the file of the text. If it is empty, includes are
/// refused.
[[nodiscard]] config::Value load_tree(std::string_view text, const std::string& name,
                                      const std::filesystem::path& path,
                                      config::Problems& problems);

}  // namespace hyphos::plan
