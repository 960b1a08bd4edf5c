#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/view/displays/golden/picture.hpp"
#include "view/core/picture.hpp"

namespace hyphos::view::testing {
namespace {

msgs::Marker marker(msgs::Marker::Type type, int id, double x, double y, double z, Color color) {
  msgs::Marker made;
  set_header(*made.mutable_header(), "", 1);
  made.set_type(type);
  made.set_id(id);
  set_pose(*made.mutable_pose(), x, y, z, 0.4);
  made.mutable_scale()->set_x(0.8);
  made.mutable_scale()->set_y(0.6);
  made.mutable_scale()->set_z(0.9);
  made.mutable_color()->set_r(static_cast<float>(color.r) / 255);
  made.mutable_color()->set_g(static_cast<float>(color.g) / 255);
  made.mutable_color()->set_b(static_cast<float>(color.b) / 255);
  made.mutable_color()->set_a(static_cast<float>(color.a) / 255);
  return made;
}

void add_point(msgs::Marker& to, double x, double y, double z) {
  auto& point = *to.add_points();
  point.set_x(x);
  point.set_y(y);
  point.set_z(z);
}

TEST_F(GoldenTest, markers_solid) {
  show("marker_array", "shapes");
  msgs::MarkerArray all;
  using M = msgs::Marker;
  *all.add_markers() = marker(M::CUBE, 1, -2, 1.5, 0.45, {230, 110, 70, 255});
  *all.add_markers() = marker(M::SPHERE, 2, -0.5, 1.5, 0.45, {90, 180, 240, 255});
  *all.add_markers() = marker(M::CYLINDER, 3, 1, 1.5, 0.45, {120, 210, 110, 255});
  *all.add_markers() = marker(M::CUBE, 4, 0.2, 0.2, 0.5, {240, 220, 80, 110});
  auto arrow = marker(M::ARROW, 5, -2, -0.5, 0.3, {250, 120, 200, 255});
  arrow.mutable_scale()->set_x(1.6);
  arrow.mutable_scale()->set_y(0.15);
  *all.add_markers() = arrow;
  auto balls = marker(M::SPHERE_LIST, 6, 1.5, -1.2, 0.2, {200, 200, 255, 255});
  balls.mutable_scale()->set_x(0.3);
  balls.mutable_scale()->set_y(0.3);
  balls.mutable_scale()->set_z(0.3);
  for (int i = 0; i < 8; ++i) add_point(balls, 0.4 * i - 1.4, 0, 0.1 * i);
  *all.add_markers() = balls;
  send("shapes", all);
  check();
}

/// A picture of 2 x 2 coloured squares, as a PNG file.
std::filesystem::path squares() {
  Picture picture;
  picture.width = picture.height = 16;
  for (int y = 0; y < 16; ++y) {
    for (int x = 0; x < 16; ++x) {
      const bool right = x >= 8;
      const bool low = y >= 8;
      const std::array<std::uint8_t, 3> color =
          low ? (right ? std::array<std::uint8_t, 3>{250, 210, 40}
                       : std::array<std::uint8_t, 3>{60, 120, 240})
              : (right ? std::array<std::uint8_t, 3>{60, 200, 90}
                       : std::array<std::uint8_t, 3>{230, 60, 50});
      picture.rgba.insert(picture.rgba.end(), color.begin(), color.end());
      picture.rgba.push_back(255);
    }
  }
  const auto folder = std::filesystem::path(GOLDEN_OUT) / "squares";
  std::filesystem::create_directories(folder);
  EXPECT_TRUE(write_png((folder / "squares.png").string(), picture).ok());
  return folder / "squares.png";
}

std::string content(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Red is at the upper left of the picture, green at its upper right.
TEST_F(GoldenTest, markers_textures) {
#ifndef HYPHOS_VIEW_ASSIMP
  GTEST_SKIP() << "built without assimp";
#endif
  const auto image = squares();
  show("marker_array", "shapes");
  msgs::MarkerArray all;
  using M = msgs::Marker;
  auto wall = marker(M::TRIANGLE_LIST, 1, 0, 1.2, 0, {0, 0, 0, 0});
  constexpr std::array<std::array<double, 2>, 6> kCorners = {
      {{0, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 1}, {0, 1}}};
  for (const auto& [x, z] : kCorners) {
    add_point(wall, 2 * x - 1, 0, 2 * z);
    auto& place = *wall.add_uv_coordinates();
    place.set_u(static_cast<float>(x));
    place.set_v(static_cast<float>(1 - z));
  }
  wall.mutable_scale()->set_x(1);
  wall.mutable_scale()->set_y(1);
  wall.mutable_scale()->set_z(1);
  wall.set_texture_resource("embedded://squares");
  wall.mutable_texture()->set_data(content(image));
  *all.add_markers() = wall;
  // A mesh with a material and its picture beside it. It repeats twice in each direction.
  const auto folder = image.parent_path();
  std::ofstream(folder / "floor.mtl") << "newmtl tiles\nKd 1 1 1\nmap_Kd squares.png\n";
  std::ofstream(folder / "floor.obj")
      << "mtllib floor.mtl\nusemtl tiles\nv -1.5 -1 0\nv 1.5 -1 0\nv 1.5 1 0\nv -1.5 1 0\n"
         "vt 0 0\nvt 2 0\nvt 2 2\nvt 0 2\nf 1/1 2/2 3/3\nf 1/1 3/3 4/4\n";
  auto floor = marker(M::MESH_RESOURCE, 2, 0, -0.8, 0.1, {0, 0, 0, 0});
  floor.mutable_scale()->set_x(1);
  floor.mutable_scale()->set_y(1);
  floor.mutable_scale()->set_z(1);
  floor.set_mesh_resource("file://" + (folder / "floor.obj").string());
  floor.set_mesh_use_embedded_materials(true);
  *all.add_markers() = floor;
  send("shapes", all);
  EXPECT_EQ(view.items().back().display->status().text, "2 markers");
  check();
}

TEST_F(GoldenTest, markers_lines_and_text) {
  show("marker_array", "shapes");
  msgs::MarkerArray all;
  using M = msgs::Marker;
  auto strip = marker(M::LINE_STRIP, 1, 0, 0, 0.2, {255, 160, 60, 255});
  strip.mutable_scale()->set_x(0.06);
  for (int i = 0; i < 40; ++i) add_point(strip, 0.1 * i - 2, std::sin(0.4 * i), 0.02 * i);
  *all.add_markers() = strip;
  auto points = marker(M::POINTS, 2, 0, 1.6, 0.2, {120, 230, 255, 255});
  points.mutable_scale()->set_x(0.1);
  for (int i = 0; i < 20; ++i) add_point(points, 0.2 * i - 2, 0, 0.05 * i);
  *all.add_markers() = points;
  auto triangles = marker(M::TRIANGLE_LIST, 3, 1.2, -1.5, 0.1, {150, 110, 240, 255});
  for (int i = 0; i < 3; ++i) {
    add_point(triangles, i, 0, 0);
    add_point(triangles, i + 0.8, 0, 0);
    add_point(triangles, i + 0.4, 0.2, 1);
  }
  triangles.mutable_scale()->set_x(0.6);
  triangles.mutable_scale()->set_y(1);
  triangles.mutable_scale()->set_z(1);
  *all.add_markers() = triangles;
  auto text = marker(M::TEXT_VIEW_FACING, 4, -1.2, -1, 1.1, {255, 255, 255, 255});
  text.mutable_scale()->set_z(0.4);
  text.set_text("Küche 3\n4.2 m²");
  *all.add_markers() = text;
  send("shapes", all);
  check();
}

constexpr char kRover[] = R"(<robot name="rover">
  <material name="orange"><color rgba="0.95 0.5 0.15 1"/></material>
  <material name="dark"><color rgba="0.16 0.17 0.2 1"/></material>
  <link name="base">
    <visual><origin xyz="0 0 0.35"/><geometry><box size="1.6 0.9 0.35"/></geometry>
      <material name="orange"/></visual>
    <visual><origin xyz="0.4 0 0.62"/><geometry><box size="0.5 0.6 0.2"/></geometry></visual>
  </link>
  <link name="left"><visual><geometry><cylinder radius="0.3" length="0.18"/></geometry>
    <material name="dark"/></visual></link>
  <link name="right"><visual><geometry><cylinder radius="0.3" length="0.18"/></geometry>
    <material name="dark"/></visual></link>
  <link name="mast"><visual><origin xyz="0 0 0.4"/><geometry><capsule radius="0.06" length="0.7"/>
    </geometry></visual></link>
  <link name="head"><visual><geometry><sphere radius="0.16"/></geometry>
    <material name="blue"><color rgba="0.3 0.6 0.95 1"/></material></visual></link>
  <joint name="l" type="continuous"><parent link="base"/><child link="left"/>
    <origin xyz="0.3 0.55 0.3" rpy="-1.5708 0 0"/><axis xyz="0 0 1"/></joint>
  <joint name="r" type="continuous"><parent link="base"/><child link="right"/>
    <origin xyz="0.3 -0.55 0.3" rpy="-1.5708 0 0"/><axis xyz="0 0 1"/></joint>
  <joint name="m" type="fixed"><parent link="base"/><child link="mast"/>
    <origin xyz="-0.5 0 0.5"/></joint>
  <joint name="h" type="prismatic"><parent link="mast"/><child link="head"/>
    <origin xyz="0 0 0.9"/><axis xyz="0 0 1"/><limit lower="0" upper="1"/></joint>
</robot>)";

TEST_F(GoldenTest, robot_model) {
  view.camera().set_state({.target = {0, 0, 0.5}, .distance = 4.5, .yaw = 0.9, .pitch = 0.35});
  show("robot_model", "robot_description");
  msgs::String text;
  text.set_data(kRover);
  send("robot_description", text);
  msgs::JointState joints;
  joints.add_name("h");
  joints.add_position(0.3);
  send("joint_states", joints);
  check();
}

}  // namespace
}  // namespace hyphos::view::testing
