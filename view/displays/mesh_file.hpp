#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hyphos/result.hpp"
#include "view/scene/store.hpp"

namespace hyphos::view {

inline constexpr std::size_t kMostMeshBytes = std::size_t{256} << 20U;

/// The triangles of a mesh file: dae, stl, obj, glb and the other formats of assimp. Errors name
/// the file: not_found, corrupt, too_large, unsupported (built without assimp).
[[nodiscard]] Result<std::vector<MeshVertex>> load_mesh(const std::string& path);
/// The same from memory. `name` ends in the suffix of the format.
[[nodiscard]] Result<std::vector<MeshVertex>> read_mesh(std::span<const std::byte> bytes,
                                                        const std::string& name);

/// The file of "file:///x", "package://robot/x", or a path. Packages are folders in `folders`
/// (separated by ':'), or one of those folders itself. not_found names the places.
[[nodiscard]] Result<std::string> resolve_resource(std::string_view uri, std::string_view folders);

}  // namespace hyphos::view
