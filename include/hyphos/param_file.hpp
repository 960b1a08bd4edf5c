#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hyphos/export.hpp"
#include "hyphos/result.hpp"

/// Parameters in files. They have the form of a plan, so that a plan can include them:
/// `nodes: {<node>: {params: {...}}}`.
namespace hyphos {

/// One value in a file.
struct ParamLine {
  std::string node;
  std::string name;     ///< with dots: "laser.rate_hz"
  std::string yaml;     ///< the value, in one line; see parse_param()
  std::string where;    ///< read: "saved.yaml:4:7"
  std::string comment;  ///< written behind the value if not empty
};

/// All values under `nodes.<node>.params` of a file and of what it includes; other keys of a plan
/// are passed over. Errors: not_found and others of the file; invalid_config with every place.
[[nodiscard]] HYPHOS_EXPORT Result<std::vector<ParamLine>> read_params(
    const std::filesystem::path& file);
/// The text of a file with these values, sorted; `heading` stands before them as a comment.
[[nodiscard]] HYPHOS_EXPORT std::string params_text(std::vector<ParamLine> lines,
                                                    const std::string& heading);
/// Lays the values over those that the file has, and replaces it: whoever reads it sees the old one
/// or the new one. Refuses a file that holds anything but parameters (a whole plan).
[[nodiscard]] HYPHOS_EXPORT Result<void> save_params(const std::filesystem::path& file,
                                                     const std::vector<ParamLine>& lines);

}  // namespace hyphos
