#include "cosim/core/terrain.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include "cosim/radio/obstacles.hpp"
#include "cosim/scenario/scenario.hpp"
#include "cosim/world/settings.hpp"
#include "cosim/world/terrain_file.hpp"

namespace hyphos::cosim {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("terrain" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }

 private:
  fs::path path_;
};

TerrainOptions hilly() {
  TerrainOptions options;
  options.size_x = options.size_y = 100;
  options.cell = 1;
  options.hills = {{0, 0, 8, 10}};
  options.loss_db = 17;
  return options;
}

TEST(CosimTerrain, a_hill_has_its_height_and_blocks_the_path) {
  const Terrain terrain = load_terrain(hilly()).or_throw();
  EXPECT_NEAR(terrain.height(0, 0), 10, 1e-6);
  EXPECT_NEAR(terrain.height(8, 0), 10 / std::exp(1), 1e-6);
  const Scene scene({}, std::make_shared<const Terrain>(terrain));
  EXPECT_EQ(scene.loss_db({-40, 0, 2}, {40, 0, 2}), 17);
  EXPECT_EQ(scene.loss_db({-40, 0, 12}, {40, 0, 12}), 0);
  EXPECT_EQ(scene.loss_db({-40, 40, 2}, {40, 40, 2}), 0);
  EXPECT_EQ(scene.loss_db({40, 0, 2}, {-40, 0, 2}), 17) << "symmetric";
}

TEST(CosimTerrain, heights_between_the_points_of_the_grid_lie_on_triangles) {
  TerrainGrid grid{2, 2, 2, 2, {0, 2, 4, 10}};
  TerrainOptions options;
  const Terrain terrain = Terrain::make(options, grid).or_throw();
  EXPECT_EQ(terrain.height(-1, -1), 0);
  EXPECT_EQ(terrain.height(1, -1), 2);
  EXPECT_EQ(terrain.height(-1, 1), 4);
  EXPECT_EQ(terrain.height(1, 1), 10);
  EXPECT_NEAR(terrain.height(0, 0), 5, 1e-12) << "on the diagonal";
  EXPECT_NEAR(terrain.height(0.5, 0), 5.5, 1e-12);
  EXPECT_EQ(terrain.height(100, 0), 0) << "outside";
}

TEST(CosimTerrain, no_move_within_the_freedom_changes_the_sight) {
  TerrainOptions options = hilly();
  options.rough = 1;
  const Terrain terrain = load_terrain(options).or_throw();
  std::mt19937 random(3);
  std::uniform_real_distribution<double> place(-45, 45);
  std::uniform_real_distribution<double> height(0, 12);
  std::uniform_real_distribution<double> turn(-1, 1);
  int blocked = 0;
  int moved = 0;
  for (int i = 0; i < 2000; ++i) {
    const Vec3 a{place(random), place(random), height(random)};
    const Vec3 b{place(random), place(random), height(random)};
    const bool before = terrain.clearance(a, b) < 0;
    const double free = terrain.freedom(a, b);
    EXPECT_EQ(before, terrain.clearance(b, a) < 0);
    blocked += before ? 1 : 0;
    moved += free > 0 ? 1 : 0;
    for (int k = 0; k < 5; ++k) {
      const auto off = [&] {
        const Vec3 way{turn(random), turn(random), turn(random)};
        return way * (free * 0.999 / std::max(1e-9, length(way)));
      };
      EXPECT_EQ(before, terrain.clearance(a + off(), b + off()) < 0) << i;
    }
  }
  EXPECT_GT(blocked, 200);
  EXPECT_LT(blocked, 1800);
  EXPECT_GT(moved, 500);
}

TEST(CosimTerrain, a_ridge_diffracts_like_a_knife_edge) {
  TerrainGrid grid{401, 3, 0.5, 50, std::vector<float>(1203, 0)};
  for (std::size_t row = 0; row < 3; ++row) grid.heights[row * 401 + 200] = 8;
  TerrainOptions options;
  options.loss_db = 60;
  const Terrain terrain = Terrain::make(options, grid).or_throw();
  const double wavelength = 0.125;
  const double expected = knife_edge_db(fresnel(7, 50, 50, wavelength));
  EXPECT_NEAR(ridge_db(terrain, {-50, 0, 1}, {50, 0, 1}, wavelength), expected, 0.01);
  EXPECT_EQ(ridge_db(terrain, {-50, 0, 9}, {50, 0, 9}, wavelength), 0);
  options.loss_db = 5;
  const Terrain low = Terrain::make(options, grid).or_throw();
  EXPECT_EQ(ridge_db(low, {-50, 0, 1}, {50, 0, 1}, wavelength), 5) << "at most its loss";
}

TEST(CosimTerrain, files_are_read_and_errors_name_the_line) {
  const Folder folder;
  TerrainOptions options;
  options.file = folder.write("a.asc",
                              "ncols 3\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 10\n"
                              "1 2 3\n4 5 6\n");
  const Terrain grid = load_terrain(options).or_throw();
  EXPECT_EQ(grid.height(-10, 5), 1) << "the first row of a file is in the north";
  EXPECT_EQ(grid.height(10, -5), 6);
  options.size_x = 20;
  options.size_y = 10;
  options.low = -2;
  options.high = 2;
  options.file = folder.write("b.pgm", std::string("P5\n# c\n3 2\n255\n") + "\xff\x00\x00" +
                                           std::string("\x00\x00\xff", 3));
  const std::string pgm("P5 3 2 255\n\xff\x00\x00\x00\x00\xff", 17);
  options.file = folder.write("b.pgm", pgm);
  const Terrain grey = load_terrain(options).or_throw();
  EXPECT_EQ(grey.height(-10, 5), 2);
  EXPECT_EQ(grey.height(10, -5), 2);
  EXPECT_EQ(grey.height(10, 5), -2);
  const auto refused = [&](const std::string& name, const std::string& text,
                           const std::string& where, const std::string& what) {
    options.file = folder.write(name, text);
    const auto made = load_terrain(options);
    ASSERT_FALSE(made.ok()) << name;
    EXPECT_NE(made.error().to_string().find(where), std::string::npos) << made.error().to_string();
    EXPECT_NE(made.error().to_string().find(what), std::string::npos) << made.error().to_string();
  };
  refused("c.asc", "ncols 3\nnrows 2\ncellsize 10\n1 2 3\n4 x 6\n", "c.asc:5", "6 heights");
  refused("d.asc", "ncols 99999\nnrows 99999\ncellsize 1\n", "d.asc:3", "1000000 heights");
  refused("e.asc", "ncols 2\nrows 2\n", "e.asc:2", "found 'rows'");
  refused("f.asc", "ncols 2\nnrows 2\ncellsize 1\nnodata_value -9999\n1 2\n3 -9999\n", "f.asc:6",
          "missing");
  refused("g.pgm", "P5 2000 500 255\nabc", "g.pgm:1", "cut off");
  refused("h.pgm", "P6 2 2 255\nabc", "h.pgm:1", "P2 or P5");
  refused("i.tif", "x", "i.tif", "gdal_translate");
  options.file = "/nowhere.asc";
  EXPECT_EQ(load_terrain(options).error().code, Code::not_found);
}

TEST(CosimTerrain, options_of_an_adapter_carry_the_world) {
  TerrainOptions options = hilly();
  options.file = "/with blank/50%;.asc";
  options.rough = 0.3;
  std::string text;
  write_terrain(text, options);
  TerrainOptions read;
  for (const Setting& setting : read_settings(text)) {
    ASSERT_TRUE(take_terrain(setting, read).ok());
  }
  EXPECT_EQ(read.file, options.file);
  EXPECT_EQ(read.hills.size(), 1U);
  EXPECT_EQ(read.hills[0].radius, 8);
  EXPECT_EQ(read.rough, 0.3);
  EXPECT_EQ(read.loss_db, 17);
  EXPECT_FALSE(from_word("a%2").ok());
  EXPECT_FALSE(from_word("a%zz").ok());
  EXPECT_EQ(from_word(as_word("")).or_throw(), "");
}

constexpr const char* kWorld = R"(
world:
  terrain: {size_m: [80, 80], hills: [{at: [10, 0], radius_m: 4, height_m: 3}], loss_db: 20}
  trees: [{at: [10, 20], height_m: 10, crown_m: 6, loss_db: 9}]
robots: {a: {at: [0, 0, 1]}, b: {at: [20, 0, 1]}}
)";

TEST(CosimTerrain, a_scenario_has_terrain_and_trees) {
  const auto scenario = parse_scenario(kWorld, "w.yaml");
  ASSERT_TRUE(scenario.ok()) << scenario.error().to_string();
  EXPECT_EQ(scenario->scene.loss_db({0, 0, 1}, {20, 0, 1}), 20);
  EXPECT_EQ(scenario->scene.loss_db({0, 20, 6}, {20, 20, 6}), 9) << "the crown";
  EXPECT_EQ(scenario->scene.loss_db({0, 20, 1}, {20, 20, 1}), 4.5) << "the trunk";
  EXPECT_EQ(scenario->world.solid_boxes, 2U);
}

TEST(CosimTerrain, wrong_keys_of_a_world_have_line_and_remedy) {
  const auto refused = [](const std::string& world, const std::string& what) {
    const auto made = parse_scenario(
        "world:\n  " + world + "\nrobots: {a: {at: [0, 0, 1]}, b: {at: [2, 0, 1]}}\n", "w.yaml");
    ASSERT_FALSE(made.ok()) << world;
    EXPECT_NE(made.error().to_string().find("w.yaml:2"), std::string::npos)
        << made.error().to_string();
    EXPECT_NE(made.error().to_string().find(what), std::string::npos) << made.error().to_string();
  };
  refused("terrain: {hills: []}", "size_m: is missing");
  refused("terrain: {size_m: [1e6, 1e6], cell_m: 0.01}", "1000000");
  refused("terrain: {size_m: [9], cell_m: 1}", "two numbers");
  refused("terrain: {file: none.asc}", "none.asc");
  refused("terrain: {size_m: [9, 9], hills: [{at: [0, 0]}]}", "height_m");
  refused("trees: [{height_m: 3}]", "at: is missing");
  refused("trees: {at: [0, 0]}", "expected a list of trees");
  refused("meshes: [{at: [0, 0, 0]}]", "file: is missing");
  refused("meshes: [{file: none.stl}]", "none.stl");
}

TEST(CosimTerrain, a_mesh_is_an_obstacle_by_its_box) {
  const Folder folder;
  Mesh mesh{folder.write("m.obj", "v 0 0 0\nv 2 0 0\nv 0 1 0\nv 0 0 3\nf 1 2 3\n"), {10, 0, 0}};
  mesh.yaw = M_PI / 2;
  mesh.scale = 2;
  mesh.loss_db = 6;
  const Box box = box_around(mesh).or_throw();
  EXPECT_NEAR(box.low.x, 8, 1e-9);
  EXPECT_NEAR(box.high.x, 10, 1e-9);
  EXPECT_NEAR(box.high.y, 4, 1e-9);
  EXPECT_NEAR(box.high.z, 6, 1e-9);
  const auto refused = [&](const std::string& name, const std::string& text,
                           const std::string& what) {
    const auto made = box_around({folder.write(name, text)});
    ASSERT_FALSE(made.ok()) << name;
    EXPECT_NE(made.error().to_string().find(what), std::string::npos) << made.error().to_string();
  };
  refused("a.obj", "v 1 2 3\nv 1 b 3\n", "a.obj:2");
  refused("b.obj", "v 1 2 3\n", "four points");
  refused("c.obj", "v 1 2 3\nv 1 1 1\nv 0 0 0\nv nan 0 0\n", "not a number");
  refused("d.stl", "solid text", "not a binary STL");
  refused("e.stl", std::string(80, ' ') + "\xff\xff\xff\x7f", "not a binary STL");
  refused("f.dae", "x", "assimp");
}

}  // namespace
}  // namespace hyphos::cosim
