#pragma once

#include <optional>
#include <string>

#include "base/config_reader.hpp"
#include "cosim/core/terrain.hpp"
#include "cosim/world/mesh_file.hpp"

namespace hyphos::cosim {

struct Scenario;

/// The parts of the world that a physics simulator needs in addition to the Scene.
struct WorldSources {
  std::optional<TerrainOptions> terrain{};
  std::vector<Mesh> meshes{};
  std::vector<std::optional<Color>> colors{};  ///< of the solid boxes, in pictures
  std::size_t solid_boxes =
      0;  ///< the first boxes of the Scene are solid, the others enclose meshes
};

/// Reads the section `world` of the scenario at `path`: boxes, trees, terrain and meshes.
void read_world(const config::Section& root, const std::string& path, Scenario& scenario,
                config::Problems& problems);

}  // namespace hyphos::cosim
