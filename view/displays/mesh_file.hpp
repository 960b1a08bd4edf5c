#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hyphos/result.hpp"
#include "view/displays/pixels.hpp"
#include "view/scene/painter.hpp"
#include "view/scene/store.hpp"

namespace hyphos::view {

inline constexpr std::size_t kMostMeshBytes = std::size_t{256} << 20U;
/// Of all textures of a file, 256 MiB.
inline constexpr std::uint64_t kMostTexels = std::uint64_t{64} << 20U;

/// Triangles with one texture, or none.
struct MeshPart {
  std::vector<MeshVertex> triangles;
  int image = -1;  ///< index of MeshFile::images, below 0: none
};

/// The content of a mesh file.
struct MeshFile {
  std::vector<MeshPart> parts;
  std::vector<Pixels> images;
  std::vector<std::string> problems;  ///< textures that are missing or damaged, as sentences
  bool colored = false;               ///< false: no material, and all triangles are white
};

/// The triangles and textures of a mesh file: dae, stl, obj, glb and the other formats of assimp.
/// Axes are those of the file, as in RViz, also where it names another upward axis. Lengths are in
/// metres. Textures are JPEG or PNG, inside the file or beside it. Errors name the file: not_found,
/// corrupt, too_large, unsupported (built without assimp).
[[nodiscard]] Result<MeshFile> load_mesh(const std::string& path);
/// The same from memory. `name` ends in the suffix of the format. Textures are inside the file.
[[nodiscard]] Result<MeshFile> read_mesh(std::span<const std::byte> bytes, const std::string& name);
/// A JPEG or PNG file, for a texture. Errors name the file: not_found, corrupt, too_large, io.
[[nodiscard]] Result<Pixels> load_image(const std::string& path, std::uint64_t most = kMostTexels);

/// Makes all triangles white and without a texture, for the colour of a marker.
void remove_materials(MeshFile& file);

/// A mesh in GPU memory.
class MeshModel {
 public:
  MeshModel(Store& store, const MeshFile& file);
  void paint(Painter& painter, const Pose& pose, const Vec3& scale, Color tint) const;
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] bool colored() const { return colored_; }

 private:
  std::vector<std::unique_ptr<Texture>> textures_;
  std::vector<std::unique_ptr<Mesh>> meshes_;
  bool colored_;
};

/// The file of "file:///x", "package://robot/x", or a path. Packages are folders in `folders`
/// (separated by ':'), or one of those folders itself. not_found names the places.
[[nodiscard]] Result<std::string> resolve_resource(std::string_view uri, std::string_view folders);

}  // namespace hyphos::view
