#include "cosim/scenario/world.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <numbers>

#include "cosim/scenario/point.hpp"
#include "cosim/scenario/ranges.hpp"
#include "cosim/scenario/scenario.hpp"
#include "cosim/world/terrain_file.hpp"

namespace hyphos::cosim {
namespace {

using config::Problems;
using config::Section;
using config::Value;

constexpr std::size_t kMostThings = 10'000;

/// The numbers of a list such as [x, y]. Zeros if the value is something else.
template <std::size_t N>
std::array<double, N> read_list(const Section& section, std::string_view key, Problems& problems,
                                const char* expected) {
  std::array<double, N> numbers{};
  const Value* value = section.find(key);
  if (value == nullptr) return numbers;
  bool right = value->is(Value::Kind::list) && value->items.size() == N;
  for (std::size_t i = 0; right && i < N; ++i) {
    right = config::read_real(value->items[i], numbers[i]) && std::abs(numbers[i]) <= kMostMetres;
  }
  if (right) return numbers;
  problems.error(value->source, section.path(key) + ": expected " + expected + ", found " +
                                    config::describe(*value));
  return {};
}

std::array<double, 2> read_pair(const Section& section, std::string_view key, Problems& problems) {
  return read_list<2>(section, key, problems, "two numbers [x, y] in metres");
}

/// Calls `f(section)` for each item of a list.
template <typename F>
void each(const Section& world, std::string_view key, Problems& problems,
          std::initializer_list<std::string_view> keys, const F& f) {
  const Value* list = world.find(key);
  if (list == nullptr) return;
  if (!list->is(Value::Kind::list)) {
    return world.error(key, "expected a list of " + std::string(key));
  }
  if (list->items.size() > kMostThings) {
    return world.error(key, "at most " + std::to_string(kMostThings) + " are possible");
  }
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    f(Section(&list->items[i], world.path(key) + "[" + std::to_string(i) + "]", problems, keys));
  }
}

std::string beside(const std::string& scenario, const std::string& file) {
  return (std::filesystem::path(scenario).parent_path() / file).lexically_normal().string();
}

/// "#rrggbb".
std::optional<Color> read_color(const Section& section, std::string_view key) {
  if (!section.has(key)) return std::nullopt;
  const std::string text = section.text(key, "");
  std::uint32_t value = 0;
  const char* const end = text.data() + text.size();
  const bool right = text.size() == 7 && text[0] == '#' &&
                     std::from_chars(text.data() + 1, end, value, 16).ptr == end;
  if (!right) {
    section.error(key, "expected a color such as \"#d02020\" (in quotes), found '" + text + "'");
    return std::nullopt;
  }
  const auto part = [&](int shift) { return (value >> shift & 0xff) / 255.0; };
  return Color{part(16), part(8), part(0)};
}

void read_boxes(const Section& world, std::vector<Box>& boxes,
                std::vector<std::optional<Color>>& colors, Problems& problems) {
  each(world, "boxes", problems, {"low", "high", "loss_db", "color"}, [&](const Section& box) {
    colors.push_back(read_color(box, "color"));
    for (const char* key : {"low", "high"}) {
      if (!box.has(key)) box.error(key, "is missing: give a corner [x, y, z]");
    }
    Box& made = boxes.emplace_back();
    made.low = read_point(box.find("low"), box.path("low"), problems);
    made.high = read_point(box.find("high"), box.path("high"), problems);
    made.loss_db = box.real("loss_db", 0, 0, 1000);
    if (made.low.x > made.high.x || made.low.y > made.high.y || made.low.z > made.high.z) {
      box.error("high", "must not be below `low` in any coordinate");
    }
  });
}

void read_hills(const Section& terrain, TerrainOptions& options, Problems& problems) {
  each(terrain, "hills", problems, {"at", "radius_m", "height_m"}, [&](const Section& hill) {
    for (const char* key : {"at", "height_m"}) {
      if (!hill.has(key)) hill.error(key, "is missing");
    }
    const auto [x, y] = read_pair(hill, "at", problems);
    options.hills.push_back(
        {x, y, hill.real("radius_m", 10, 0.1, 1e5), hill.real("height_m", 0, -1e4, 1e4)});
  });
  if (options.hills.size() > TerrainOptions::kMostHills) {
    terrain.error("hills", "at most " + std::to_string(TerrainOptions::kMostHills) + " hills");
  }
}

std::shared_ptr<const Terrain> read_terrain(const Section& world, const std::string& path,
                                            Scenario& scenario, Problems& problems) {
  if (!world.has("terrain")) return nullptr;
  const Section terrain(world.find("terrain"), "world.terrain", problems,
                        {"file", "hills", "centre", "size_m", "cell_m", "low_m", "high_m",
                         "rough_m", "rough_scale_m", "seed", "loss_db"});
  TerrainOptions options;
  if (terrain.has("file")) options.file = beside(path, terrain.text("file", ""));
  read_hills(terrain, options, problems);
  const auto centre = read_pair(terrain, "centre", problems);
  options.centre_x = centre[0];
  options.centre_y = centre[1];
  const auto size = read_pair(terrain, "size_m", problems);
  options.size_x = size[0];
  options.size_y = size[1];
  options.cell = terrain.real("cell_m", options.cell, 0.01, 1000);
  options.low = terrain.real("low_m", options.low, -1e4, 1e4);
  options.high = terrain.real("high_m", options.high, -1e4, 1e4);
  options.rough = terrain.real("rough_m", 0, 0, 100);
  options.rough_scale = terrain.real("rough_scale_m", options.rough_scale, 0.1, 1000);
  options.seed = static_cast<std::uint64_t>(terrain.integer("seed", 1, 0, 1'000'000'000));
  options.loss_db = terrain.real("loss_db", options.loss_db, 0, 1000);
  if (options.file.empty() && !terrain.has("size_m")) {
    terrain.error("size_m", "is missing: give [x, y] in metres, or a `file`");
    return nullptr;
  }
  if (problems.failed()) return nullptr;
  auto made = load_terrain(options);
  if (!made) {
    const Error& error = made.error();
    terrain.error(terrain.has("file") ? "file" : "size_m", error.where + ": " + error.message);
    return nullptr;
  }
  scenario.world.terrain = options;
  return std::make_shared<const Terrain>(std::move(*made));
}

/// A tree is two boxes: the trunk and the crown. Half of its loss is that of the trunk.
void read_trees(const Section& world, const Terrain* terrain, std::vector<Box>& boxes,
                std::vector<std::optional<Color>>& colors, Problems& problems) {
  constexpr Color kTrunk{0.35, 0.25, 0.15};
  constexpr Color kCrown{0.2, 0.4, 0.15};
  each(world, "trees", problems, {"at", "height_m", "trunk_m", "crown_m", "loss_db"},
       [&](const Section& tree) {
         if (!tree.has("at")) tree.error("at", "is missing: give a point [x, y]");
         const auto [x, y] = read_pair(tree, "at", problems);
         const double height = tree.real("height_m", 8, 0.5, 150);
         const double trunk = tree.real("trunk_m", 0.4, 0.01, 20) / 2;
         const double crown = tree.real("crown_m", 4, 0.1, 100) / 2;
         const double loss = tree.real("loss_db", 8, 0, 1000);
         const double ground = terrain != nullptr ? terrain->height(x, y) : 0;
         const double bough = ground + 0.3 * height;
         colors.insert(colors.end(), {kTrunk, kCrown});
         boxes.push_back({{x - trunk, y - trunk, ground}, {x + trunk, y + trunk, bough}, loss / 2});
         boxes.push_back(
             {{x - crown, y - crown, bough}, {x + crown, y + crown, ground + height}, loss});
       });
}

void read_meshes(const Section& world, const std::string& path, Scenario& scenario,
                 std::vector<Box>& boxes, Problems& problems) {
  each(world, "meshes", problems, {"file", "at", "yaw_deg", "scale", "loss_db"},
       [&](const Section& section) {
         if (!section.has("file")) {
           return section.error("file", "is missing: give a binary STL or an OBJ");
         }
         Mesh mesh;
         mesh.file = beside(path, section.text("file", ""));
         mesh.at = read_point(section.find("at"), section.path("at"), problems);
         mesh.yaw = section.real("yaw_deg", 0, -360, 360) * std::numbers::pi / 180;
         mesh.scale = section.real("scale", 1, 1e-6, 1e6);
         mesh.loss_db = section.real("loss_db", 0, 0, 1000);
         auto box = box_around(mesh);
         if (!box) {
           return section.error("file", box.error().where + ": " + box.error().message);
         }
         boxes.push_back(*box);
         scenario.world.meshes.push_back(std::move(mesh));
       });
}

}  // namespace

void read_world(const Section& root, const std::string& path, Scenario& scenario,
                Problems& problems) {
  const Section world(root.find("world"), "world", problems,
                      {"boxes", "trees", "terrain", "meshes"});
  std::vector<Box> boxes;
  read_boxes(world, boxes, scenario.world.colors, problems);
  auto terrain = read_terrain(world, path, scenario, problems);
  read_trees(world, terrain.get(), boxes, scenario.world.colors, problems);
  scenario.world.solid_boxes = boxes.size();
  read_meshes(world, path, scenario, boxes, problems);
  scenario.scene = Scene(std::move(boxes), std::move(terrain));
}

}  // namespace hyphos::cosim
