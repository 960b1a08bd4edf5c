#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "hyphos/plan.hpp"
#include "hyphos/remote_params.hpp"

/// The implementation behind hyphos/remote_params.hpp, also used by nodes that save their own
/// values.
namespace hyphos::params {

/// The leaves of `params:` with their names, "laser.rate_hz".
[[nodiscard]] std::vector<std::pair<std::string, const ParamValue*>> leaves_of(
    const ParamValue& params);

struct FileParams {
  std::string node;
  ParamValue params;
};
struct ParamFile {
  std::vector<FileParams> nodes;
  bool other_keys = false;  ///< the file has other keys, too
};
[[nodiscard]] Result<ParamFile> read_file(const std::filesystem::path& path);

/// Replaces a file atomically by one with this text: readers see the old or the new content. With
/// `durable`, also after a power failure. Not for one path from two threads at once.
[[nodiscard]] Result<void> write_file(const std::filesystem::path& path, const std::string& text,
                                      bool durable);

}  // namespace hyphos::params
