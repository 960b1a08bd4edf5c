#pragma once

#include <string>
#include <string_view>

#include "base/config_reader.hpp"
#include "cosim/core/geometry.hpp"

namespace hyphos::cosim {

/// Reads [x, y, z] in metres. `path` names the value in errors. Null: the origin.
[[nodiscard]] Vec3 read_point(const config::Value* value, const std::string& path,
                              config::Problems& problems);
/// The same for a key of a section.
[[nodiscard]] Vec3 read_point(const config::Section& section, std::string_view key,
                              config::Problems& problems);

}  // namespace hyphos::cosim
