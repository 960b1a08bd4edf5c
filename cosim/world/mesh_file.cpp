#include "cosim/world/mesh_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "base/config.hpp"

namespace hyphos::cosim {
namespace {

constexpr double kMostSize = 1e5;              // m
constexpr std::uint32_t kMostFaces = 200'000;  // of MuJoCo
constexpr std::size_t kStlHead = 84;
constexpr std::size_t kStlFace = 50;

Error unusable(std::string where, std::string what) {
  return {Code::invalid_config, std::move(what), std::move(where)};
}

Result<std::vector<Vec3>> read_stl(std::string_view bytes, const std::string& name) {
  std::uint32_t faces = 0;
  if (bytes.size() >= kStlHead) std::memcpy(&faces, bytes.data() + 80, sizeof faces);
  if (faces == 0 || bytes.size() != kStlHead + std::size_t{faces} * kStlFace) {
    return unusable(name, "is not a binary STL: its size does not fit its " +
                              std::to_string(faces) +
                              " triangles. Save a text STL as a binary one");
  }
  if (faces > kMostFaces) {
    return unusable(name, std::to_string(faces) + " triangles, but at most " +
                              std::to_string(kMostFaces) + " are possible: simplify the mesh");
  }
  std::vector<Vec3> points;
  points.reserve(std::size_t{faces} * 3);
  for (std::uint32_t face = 0; face < faces; ++face) {
    std::array<float, 9> numbers{};
    std::memcpy(numbers.data(), bytes.data() + kStlHead + face * kStlFace + 12, sizeof numbers);
    for (std::size_t i = 0; i < 9; i += 3) {
      points.push_back({numbers[i], numbers[i + 1], numbers[i + 2]});
    }
  }
  return points;
}

/// The three numbers after "v".
std::optional<Vec3> vertex(std::string_view line) {
  std::array<double, 3> numbers{};
  line.remove_prefix(1);
  for (double& number : numbers) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
    if (error != std::errc{}) return std::nullopt;
    line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  }
  return Vec3{numbers[0], numbers[1], numbers[2]};
}

Result<std::vector<Vec3>> read_obj(std::string_view text, const std::string& name) {
  std::vector<Vec3> points;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view row = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!row.starts_with("v ") && !row.starts_with("v\t")) continue;
    const auto point = vertex(row);
    if (!point)
      return unusable(name + ":" + std::to_string(line), "expected v x y z, three numbers");
    points.push_back(*point);
    if (points.size() > 3 * std::size_t{kMostFaces}) {
      return unusable(name + ":" + std::to_string(line), "too many points: simplify the mesh");
    }
  }
  if (points.size() < 4) return unusable(name, "a mesh needs at least four points (lines v x y z)");
  return points;
}

}  // namespace

Result<Box> box_around(const Mesh& mesh) {
  config::Limits limits;
  limits.bytes = kMostMeshBytes;
  auto bytes = config::read_file(mesh.file, limits);
  if (!bytes) return bytes.error();
  std::string ending = mesh.file.substr(std::min(mesh.file.size(), mesh.file.rfind('.')));
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
  if (ending != ".stl" && ending != ".obj") {
    return unusable(mesh.file,
                    "a mesh is a binary STL or an OBJ: convert it, for example with assimp");
  }
  auto points = ending == ".stl" ? read_stl(*bytes, mesh.file) : read_obj(*bytes, mesh.file);
  if (!points) return points.error();
  Box box;
  box.loss_db = mesh.loss_db;
  bool first = true;
  for (const Vec3& point : *points) {
    const Vec3 p = mesh.at + turned(about_z(mesh.yaw), point * mesh.scale);
    if (!is_finite(p) || length(p - mesh.at) > kMostSize) {
      return unusable(mesh.file,
                      "a point of the mesh is farther than 100 km from its origin or is not "
                      "a number: correct the mesh or its scale");
    }
    box.low =
        first ? p
              : Vec3{std::min(box.low.x, p.x), std::min(box.low.y, p.y), std::min(box.low.z, p.z)};
    box.high = first ? p
                     : Vec3{std::max(box.high.x, p.x), std::max(box.high.y, p.y),
                            std::max(box.high.z, p.z)};
    first = false;
  }
  return box;
}

}  // namespace hyphos::cosim
