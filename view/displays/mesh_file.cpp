#include "view/displays/mesh_file.hpp"

#include <filesystem>
#include <fstream>

#include "view/core/words.hpp"

#ifdef HYPHOS_VIEW_ASSIMP
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include <assimp/Importer.hpp>
#endif

namespace hyphos::view {
namespace {

namespace fs = std::filesystem;

#ifdef HYPHOS_VIEW_ASSIMP
constexpr unsigned kSteps = aiProcess_Triangulate | aiProcess_PreTransformVertices |
                            aiProcess_GenSmoothNormals | aiProcess_SortByPType;

std::uint8_t to_byte(float value) {
  return static_cast<std::uint8_t>(std::clamp(value, 0.0F, 1.0F) * 255);
}

Color material_color(const aiScene& scene, unsigned index) {
  aiColor4D diffuse(0.8F, 0.8F, 0.8F, 1);
  if (index < scene.mNumMaterials) {
    aiGetMaterialColor(scene.mMaterials[index], AI_MATKEY_COLOR_DIFFUSE, &diffuse);
  }
  return {to_byte(diffuse.r), to_byte(diffuse.g), to_byte(diffuse.b), 255};
}

Result<std::vector<MeshVertex>> triangles_of(const aiScene* scene, const char* fault,
                                             const std::string& name) {
  if (scene == nullptr) return Error{Code::corrupt, std::string("no mesh: ") + fault, name};
  std::vector<MeshVertex> out;
  for (unsigned m = 0; m < scene->mNumMeshes; ++m) {
    const aiMesh& mesh = *scene->mMeshes[m];
    const Color color = material_color(*scene, mesh.mMaterialIndex);
    for (unsigned f = 0; f < mesh.mNumFaces; ++f) {
      const aiFace& face = mesh.mFaces[f];
      if (face.mNumIndices != 3) continue;
      MeshVertex corners[3];
      bool good = true;
      for (unsigned i = 0; i < 3; ++i) {
        const unsigned at = face.mIndices[i];
        if (at >= mesh.mNumVertices) {
          good = false;
          break;
        }
        const aiVector3D& p = mesh.mVertices[at];
        corners[i] = {{p.x, p.y, p.z}, Vec3f::UnitZ(), color};
        if (mesh.HasNormals()) {
          corners[i].normal = {mesh.mNormals[at].x, mesh.mNormals[at].y, mesh.mNormals[at].z};
        }
        good = good && corners[i].at.allFinite();
      }
      if (good) out.insert(out.end(), std::begin(corners), std::end(corners));
    }
  }
  if (out.empty()) return Error{Code::corrupt, "the file has no triangle", name};
  return out;
}
#endif

}  // namespace

Result<std::vector<MeshVertex>> read_mesh(std::span<const std::byte> bytes,
                                          const std::string& name) {
  if (bytes.size() > kMostMeshBytes) {
    return Error{
        Code::too_large,
        "the mesh has " + grouped(bytes.size()) + " bytes, the limit is " + grouped(kMostMeshBytes),
        name};
  }
#ifdef HYPHOS_VIEW_ASSIMP
  Assimp::Importer importer;
  const std::string suffix = fs::path(name).extension().string();
  const aiScene* const scene = importer.ReadFileFromMemory(
      bytes.data(), bytes.size(), kSteps, suffix.empty() ? "" : suffix.c_str() + 1);
  return triangles_of(scene, importer.GetErrorString(), name);
#else
  return Error{Code::unsupported,
               "this viewer was built without assimp. Install libassimp-dev and build again", name};
#endif
}

Result<std::vector<MeshVertex>> load_mesh(const std::string& path) {
  std::error_code fault;
  const auto size = fs::file_size(path, fault);
  if (fault) return Error{Code::not_found, "cannot read the mesh: " + fault.message(), path};
  if (size > kMostMeshBytes) {
    return Error{
        Code::too_large,
        "the mesh has " + grouped(size) + " bytes, the limit is " + grouped(kMostMeshBytes), path};
  }
#ifdef HYPHOS_VIEW_ASSIMP
  // By its path, as .dae and .obj refer to files beside them.
  Assimp::Importer importer;
  const aiScene* const scene = importer.ReadFile(path, kSteps);
  return triangles_of(scene, importer.GetErrorString(), path);
#else
  return read_mesh({}, path);
#endif
}

Result<std::string> resolve_resource(std::string_view uri, std::string_view folders) {
  const std::string whole(uri);
  if (uri.starts_with("file://")) return std::string(uri.substr(7));
  if (!uri.starts_with("package://")) {
    if (uri.find("://") == std::string_view::npos) return whole;
    return Error{Code::unsupported, "only file:// and package:// are read", whole};
  }
  const std::string_view rest = uri.substr(10);
  const std::string_view below = rest.substr(std::min(rest.find('/') + 1, rest.size()));
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    folders.remove_prefix(std::min(folder.size() + 1, folders.size()));
    for (const std::string_view each : {rest, below}) {
      const fs::path path = fs::path(folder) / each;
      std::error_code fault;
      if (fs::is_regular_file(path, fault)) return path.string();
    }
  }
  return Error{Code::not_found, "no folder of 'packages' has this file", whole};
}

}  // namespace hyphos::view
