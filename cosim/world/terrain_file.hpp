#pragma once

#include "cosim/core/terrain.hpp"

namespace hyphos::cosim {

/// A terrain with the heights of its file, if it has one. Sizes in a file are bounded before memory
/// is taken for them. Errors: not_found, permission, io, invalid_config (with the line), each with
/// the file as `where`.
[[nodiscard]] Result<Terrain> load_terrain(const TerrainOptions& options);

}  // namespace hyphos::cosim
