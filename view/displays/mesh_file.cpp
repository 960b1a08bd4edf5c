#include "view/displays/mesh_file.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <utility>

#include "view/core/words.hpp"

#ifdef HYPHOS_VIEW_ASSIMP
#include <assimp/config.h>
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

/// The files of ROS name an upward axis, which RViz ignores.
void keep_axes(Assimp::Importer& importer) {
  importer.SetPropertyBool(AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, true);
}

/// The colour of a material. None for the one that assimp adds to a file without materials.
std::optional<Color> material_color(const aiScene& scene, unsigned index) {
  if (index >= scene.mNumMaterials) return std::nullopt;
  const aiMaterial& material = *scene.mMaterials[index];
  aiString name;
  if (material.Get(AI_MATKEY_NAME, name) == aiReturn_SUCCESS &&
      name == aiString(AI_DEFAULT_MATERIAL_NAME)) {
    return std::nullopt;
  }
  aiColor4D diffuse(0.8F, 0.8F, 0.8F, 1);
  aiGetMaterialColor(&material, AI_MATKEY_COLOR_DIFFUSE, &diffuse);
  return Color{to_byte(diffuse.r), to_byte(diffuse.g), to_byte(diffuse.b), 255};
}

/// A texture that assimp has decoded.
Pixels plain_image(const aiTexture& texture) {
  Pixels made;
  made.width = static_cast<int>(texture.mWidth);
  made.height = static_cast<int>(texture.mHeight);
  for (std::size_t i = 0; i < std::size_t{texture.mWidth} * texture.mHeight; ++i) {
    const aiTexel& texel = texture.pcData[i];
    for (const unsigned char each : {texel.r, texel.g, texel.b, texel.a}) {
      made.bytes.push_back(static_cast<std::byte>(each));
    }
  }
  return made;
}

/// Reads each texture of a scene once.
class Images {
 public:
  Images(const aiScene& scene, fs::path folder, MeshFile& out)
      : scene_(scene), folder_(std::move(folder)), out_(out) {}

  /// The index of the image of a material, below 0 without one.
  int of(unsigned material) {
    aiString name;
    if (material >= scene_.mNumMaterials ||
        scene_.mMaterials[material]->GetTexture(aiTextureType_DIFFUSE, 0, &name) !=
            aiReturn_SUCCESS) {
      return -1;
    }
    const auto [known, added] = known_.try_emplace(name.C_Str(), -1);
    if (!added) return known->second;
    auto image = read(name.C_Str());
    if (!image) {
      out_.problems.push_back("texture '" + known->first + "': " + image.error().message);
      return -1;
    }
    left_ -= std::min(left_, static_cast<std::uint64_t>(image->width) *
                                 static_cast<std::uint64_t>(image->height));
    known->second = static_cast<int>(out_.images.size());
    out_.images.push_back(std::move(*image));
    return known->second;
  }

 private:
  [[nodiscard]] Result<Pixels> read(const char* name) const {
    const aiTexture* const inside = scene_.GetEmbeddedTexture(name);
    if (inside == nullptr && folder_.empty()) {
      return Error{Code::not_found, "is not inside the file", name};
    }
    if (inside == nullptr) return load_image((folder_ / name).string(), left_);
    if (std::uint64_t{inside->mWidth} * std::max(inside->mHeight, 1U) > left_ &&
        inside->mHeight != 0) {
      return Error{Code::too_large, "has too many pixels", name};
    }
    if (inside->mHeight != 0) return plain_image(*inside);
    return decode_file(
        std::as_bytes(std::span(reinterpret_cast<const char*>(inside->pcData), inside->mWidth)),
        name, left_);
  }

  const aiScene& scene_;
  const fs::path folder_;
  MeshFile& out_;
  std::map<std::string, int> known_;
  std::uint64_t left_ = kMostTexels;
};

void add_triangles(const aiMesh& mesh, Color color, std::vector<MeshVertex>& out) {
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
      if (mesh.HasTextureCoords(0)) {
        // assimp counts from the bottom.
        corners[i].u = mesh.mTextureCoords[0][at].x;
        corners[i].v = 1 - mesh.mTextureCoords[0][at].y;
      }
      good = good && corners[i].at.allFinite() && std::isfinite(corners[i].u) &&
             std::isfinite(corners[i].v);
    }
    if (good) out.insert(out.end(), std::begin(corners), std::end(corners));
  }
}

Result<MeshFile> content_of(const aiScene* scene, const char* fault, const std::string& name,
                            const fs::path& folder) {
  if (scene == nullptr) return Error{Code::corrupt, std::string("no mesh: ") + fault, name};
  MeshFile out;
  Images images(*scene, folder, out);
  for (unsigned m = 0; m < scene->mNumMeshes; ++m) {
    const aiMesh& mesh = *scene->mMeshes[m];
    const int image = mesh.HasTextureCoords(0) ? images.of(mesh.mMaterialIndex) : -1;
    auto part = std::ranges::find(out.parts, image, &MeshPart::image);
    if (part == out.parts.end()) part = out.parts.insert(out.parts.end(), MeshPart{{}, image});
    // A texture has the colour of the surface. The colour of its material is often black.
    const auto color =
        image < 0 ? material_color(*scene, mesh.mMaterialIndex) : std::optional(Color{});
    out.colored = out.colored || color.has_value();
    add_triangles(mesh, color.value_or(Color{}), part->triangles);
  }
  std::erase_if(out.parts, [](const MeshPart& part) { return part.triangles.empty(); });
  if (out.parts.empty()) return Error{Code::corrupt, "the file has no triangle", name};
  return out;
}
#endif

}  // namespace

Result<MeshFile> read_mesh(std::span<const std::byte> bytes, const std::string& name) {
  if (bytes.size() > kMostMeshBytes) {
    return Error{
        Code::too_large,
        "the mesh has " + grouped(bytes.size()) + " bytes, the limit is " + grouped(kMostMeshBytes),
        name};
  }
#ifdef HYPHOS_VIEW_ASSIMP
  Assimp::Importer importer;
  keep_axes(importer);
  const std::string suffix = fs::path(name).extension().string();
  const aiScene* const scene = importer.ReadFileFromMemory(
      bytes.data(), bytes.size(), kSteps, suffix.empty() ? "" : suffix.c_str() + 1);
  return content_of(scene, importer.GetErrorString(), name, {});
#else
  return Error{Code::unsupported,
               "this viewer was built without assimp. Install libassimp-dev and build again", name};
#endif
}

Result<MeshFile> load_mesh(const std::string& path) {
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
  keep_axes(importer);
  const aiScene* const scene = importer.ReadFile(path, kSteps);
  const fs::path folder = fs::absolute(path).parent_path();
  return content_of(scene, importer.GetErrorString(), path, folder);
#else
  return read_mesh({}, path);
#endif
}

Result<Pixels> load_image(const std::string& path, std::uint64_t most) {
  std::error_code fault;
  const auto size = fs::file_size(path, fault);
  if (fault) return Error{Code::not_found, "cannot read the image: " + fault.message(), path};
  if (size > kMostMeshBytes) {
    return Error{Code::too_large, "the image has " + grouped(size) + " bytes", path};
  }
  std::vector<std::byte> bytes(size);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (!file) return Error{Code::io, "cannot read the image", path};
  return decode_file(bytes, path, most);
}

void remove_materials(MeshFile& file) {
  for (MeshPart& part : file.parts) {
    part.image = -1;
    for (MeshVertex& each : part.triangles) each.color = Color{};
  }
  file.images.clear();
}

MeshModel::MeshModel(Store& store, const MeshFile& file) : colored_(file.colored) {
  for (const Pixels& image : file.images) {
    auto texture = store.texture();
    const std::size_t row =
        image.bytes.size() / static_cast<std::size_t>(std::max(image.height, 1));
    texture->set(image.width, image.height, image.format, row, image.bytes);
    textures_.push_back(std::move(texture));
  }
  for (const MeshPart& part : file.parts) {
    const bool plain = part.image < 0;
    meshes_.push_back(store.mesh(
        part.triangles, plain ? nullptr : textures_[static_cast<std::size_t>(part.image)].get()));
  }
}

void MeshModel::paint(Painter& painter, const Pose& pose, const Vec3& scale, Color tint) const {
  for (const auto& mesh : meshes_) painter.mesh(*mesh, pose, scale, tint);
}

std::size_t MeshModel::bytes() const {
  std::size_t sum = 0;
  for (const auto& texture : textures_) sum += texture->bytes();
  for (const auto& mesh : meshes_) sum += mesh->bytes();
  return sum;
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
