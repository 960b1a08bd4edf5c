#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/config.hpp"

/// From files and options to one YAML tree: includes, the paper's listings, overrides.
namespace hyphos::plan {

/// Turns the listings of the HyperGraph ROS paper (arXiv 2025, Listings 1-3) as they are printed,
/// without indentation, into what they mean, and warns. Nested listings are left as they are.
void nest_flat_listing(config::Value& root, config::Problems& problems);

/// True if nothing but `network` and `data_graph` stands there: a file of the paper.
[[nodiscard]] bool is_listing(const config::Value& root);

/// Lays `over` on `base`: maps key by key, all else replaced. Complains if a channel changes type.
void merge_tree(config::Value& base, config::Value over, config::Problems& problems);

/// Sets one "key.key=value".
void apply_override(config::Value& root, std::string_view text, config::Problems& problems);

/// Parses `text` and everything it includes. `path` is where the text came from; empty: includes
/// are refused.
[[nodiscard]] config::Value load_tree(std::string_view text, const std::string& name,
                                      const std::filesystem::path& path,
                                      config::Problems& problems);

}  // namespace hyphos::plan
