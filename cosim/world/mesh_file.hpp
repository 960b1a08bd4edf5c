#pragma once

#include <string>
#include <string_view>

#include "cosim/core/geometry.hpp"
#include "hyphos/result.hpp"

namespace hyphos::cosim {

/// A solid mesh in the world, for example a tree or a house.
struct Mesh {
  std::string file{};  ///< .obj or .stl (binary)
  Vec3 at{};           ///< m
  double yaw = 0;      ///< rad
  double scale = 1;
  double loss_db = 0;  ///< of a signal whose straight path enters the box around the mesh
};

inline constexpr std::size_t kMostMeshBytes = 64 << 20;

/// The axis-aligned box around a mesh in the world. Errors: not_found, permission, io,
/// invalid_config, each with the file (and the line of a text) as `where`.
[[nodiscard]] Result<Box> box_around(const Mesh& mesh);

}  // namespace hyphos::cosim
