#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "hyphos/plan.hpp"
#include "hyphos/remote_params.hpp"

/// What stands behind hyphos/remote_params.hpp, and is used by a node that keeps its own values.
namespace hyphos::params {

/// The leaves of `params:` with their names, "laser.rate_hz".
[[nodiscard]] std::vector<std::pair<std::string, const ParamValue*>> leaves_of(
    const ParamValue& params);
/// One value as it would be written in a file.
[[nodiscard]] std::string to_yaml(const ParamValue& leaf);

struct FileParams {
  std::string node;
  ParamValue params;
};
struct ParamFile {
  std::vector<FileParams> nodes;
  bool other_keys = false;  ///< something else stands in it, too
};
[[nodiscard]] Result<ParamFile> read_file(const std::filesystem::path& path);

/// Replaces a file by one with this text: whoever reads sees the old or the new one. With `durable`
/// also after a power failure. Not for one path from two threads at once.
[[nodiscard]] Result<void> write_file(const std::filesystem::path& path, const std::string& text,
                                      bool durable);

}  // namespace hyphos::params
