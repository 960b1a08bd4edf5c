#pragma once

#include <string>

#include "cosim/adapter/settings.hpp"
#include "cosim/core/terrain.hpp"
#include "cosim/world/mesh_file.hpp"

/// Worlds in the options of adapters: "terrain …", "terrain_file …", "hill …" and "mesh …".
namespace hyphos::cosim {

/// A text as one word: blanks, ';', '%' and line breaks are written as %XX. Empty: "%".
[[nodiscard]] std::string as_word(std::string_view text);
/// Errors: invalid_config.
[[nodiscard]] Result<std::string> from_word(std::string_view word);

void write_terrain(std::string& text, const TerrainOptions& options);
/// True for "terrain", "terrain_file" and "hill", which take_terrain() takes.
[[nodiscard]] bool is_terrain(const Setting& setting);
[[nodiscard]] Result<void> take_terrain(const Setting& setting, TerrainOptions& options);
void write_mesh(std::string& text, const Mesh& mesh);
[[nodiscard]] Result<Mesh> read_mesh(const Setting& setting);

}  // namespace hyphos::cosim
