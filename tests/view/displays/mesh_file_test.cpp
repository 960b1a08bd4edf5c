#include "view/displays/mesh_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#ifdef HYPHOS_VIEW_ASSIMP
namespace hyphos::view::testing {
namespace {

/// A red triangle, 1 unit wide along x, and 2 high along z.
std::string collada(const std::string& up, const std::string& unit) {
  return R"(<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="u" meter=")" +
         unit + R"("/><up_axis>)" + up + R"(</up_axis></asset>
<library_effects><effect id="e"><profile_COMMON><technique sid="t"><lambert>
<diffuse><color>1 0 0 1</color></diffuse></lambert></technique></profile_COMMON></effect>
</library_effects>
<library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="a" count="9">0 0 0 1 0 0 0 0 2</float_array><technique_common>
<accessor source="#a" count="3" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="1" material="red"><input semantic="VERTEX" source="#v" offset="0"/>
<p>0 1 2</p></triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node><instance_geometry url="#g"><bind_material>
<technique_common><instance_material symbol="red" target="#m"/></technique_common></bind_material>
</instance_geometry></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>)";
}

constexpr char kObj[] = "v 0 0 0\nv 1 0 0\nv 0 0 2\nf 1 2 3\n";

Result<MeshFile> read(const std::string& text, const std::string& name) {
  return read_mesh(std::as_bytes(std::span(text)), name);
}

Vec3f upper_corner(const MeshFile& file) {
  Vec3f found(-1e9F, -1e9F, -1e9F);
  for (const MeshPart& part : file.parts) {
    for (const MeshVertex& each : part.triangles) found = found.cwiseMax(each.at);
  }
  return found;
}

TEST(MeshFileTest, the_upward_axis_of_a_file_has_no_effect) {
  for (const char* up : {"X_UP", "Y_UP", "Z_UP"}) {
    const auto file = read(collada(up, "1"), "a.dae");
    ASSERT_TRUE(file.ok()) << file.error().to_string();
    EXPECT_LT((upper_corner(*file) - Vec3f(1, 0, 2)).norm(), 1e-6F) << up;
  }
}

TEST(MeshFileTest, the_unit_of_a_file_is_its_length_in_metres) {
  const auto file = read(collada("Z_UP", "0.01"), "a.dae");
  ASSERT_TRUE(file.ok()) << file.error().to_string();
  EXPECT_LT((upper_corner(*file) - Vec3f(0.01F, 0, 0.02F)).norm(), 1e-6F);
}

TEST(MeshFileTest, a_file_has_its_colours_or_is_white) {
  auto file = read(collada("Z_UP", "1"), "a.dae");
  ASSERT_TRUE(file.ok()) << file.error().to_string();
  EXPECT_TRUE(file->colored);
  EXPECT_EQ(file->parts.front().triangles.front().color, (Color{255, 0, 0, 255}));
  remove_materials(*file);
  EXPECT_EQ(file->parts.front().triangles.front().color, Color{});
  const auto plain = read(kObj, "a.obj");
  ASSERT_TRUE(plain.ok()) << plain.error().to_string();
  EXPECT_FALSE(plain->colored);
  EXPECT_EQ(plain->parts.front().triangles.front().color, Color{});
}

TEST(MeshFileTest, an_stl_file_is_white) {
  const auto file = read(
      "solid s\nfacet normal 0 1 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 0 2\nendloop\n"
      "endfacet\nendsolid s\n",
      "a.stl");
  ASSERT_TRUE(file.ok()) << file.error().to_string();
  EXPECT_FALSE(file->colored);
  EXPECT_EQ(file->parts.front().triangles.front().color, Color{});
}

}  // namespace
}  // namespace hyphos::view::testing
#endif
