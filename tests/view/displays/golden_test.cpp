#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "messages.hpp"
#include "view/core/picture.hpp"
#include "view/displays/scene_view.hpp"
#include "view/shell_egl.hpp"

/// Draws every display by EGL, without a display server, and compares with tests/view/golden.
/// Drivers differ in the rounding of colours and edges, so that a picture may differ a little.
namespace hyphos::view::testing {
namespace {

constexpr int kTolerance = 40;           // of a channel
constexpr double kMostDifferent = 0.01;  // of the pixels
bool g_update = false;                   // --update: writes the golden pictures

struct Context {
  std::unique_ptr<EglContext> egl;
  std::unique_ptr<Renderer> renderer;
};

Context& context() {
  static Context made = [] {
    Context one;
    one.egl = EglContext::open().or_throw();
    RendererOptions options;
    options.moving_points = 0;
    options.density = 2;
    one.renderer = Renderer::open(one.egl->loader(), options).or_throw();
    return one;
  }();
  return made;
}

class GoldenTest : public ::testing::Test {
 protected:
  static constexpr int kWidth = 320;
  static constexpr int kHeight = 240;

  GoldenTest() {
    view.camera().set_size(kWidth * 2, kHeight * 2);
    view.camera().set_state({.distance = 9, .yaw = -2.2, .pitch = 0.55});
    show("grid", "");
  }

  Display& show(const std::string& kind, const std::string& channel) {
    auto item = view.add(kind, channel);
    EXPECT_TRUE(item.ok());
    return *(*item)->display;
  }
  void set(const std::string& property, const std::string& value) {
    const auto good = view.set(view.items().back(), property, value);
    EXPECT_TRUE(good.ok()) << (good.ok() ? "" : good.error().message);
  }
  /// Two sources: channels of the second begin with "b/".
  void use_two_sources(Arrange arrange) {
    std::vector<Part> parts(2);
    parts[1].label = "b";
    view.set_parts(parts,
                   [](std::size_t part) -> Store& { return context().renderer->part(part); });
    view.set_arrange(arrange);
    view.set_ghosts({{}, {part_color(1), 0.6, 0.55}});
    const int width = static_cast<int>(view.panes());
    view.camera().set_size(kWidth * 2 / width, kHeight * 2);
    show_robot("", 0, 0);
    show_robot("b/", 0.8, 0.5);
  }
  /// The frames have equal names in both sources.
  void show_robot(const std::string& prefix, double x, double yaw) {
    send_part(prefix + "tf", transforms(x, yaw));
    show("points", prefix + "lidar");
    set("color", "flat");
    set("size", "4");
    show("path", prefix + "path");
    show("pose_array", prefix + "poses");
    std::vector<std::array<float, 4>> wall;
    for (int i = 0; i < 120; ++i) {
      for (int j = 0; j < 30; ++j) {
        wall.push_back(
            {1.5F, 0.02F * static_cast<float>(i) - 1.2F, 0.03F * static_cast<float>(j), 0});
      }
    }
    const auto message = cloud("base", 1, wall);
    send_part(prefix + "lidar", message.head, message.bytes);
    msgs::Path path;
    set_header(*path.mutable_header(), "base", 1);
    msgs::PoseArray poses;
    set_header(*poses.mutable_header(), "base", 1);
    for (int i = 0; i < 5; ++i) {
      auto& pose = *path.add_poses();
      set_header(*pose.mutable_header(), "base", 1);
      set_pose(*pose.mutable_pose(), 0.4 * i - 2, 0.2 * i, 0.02);
      set_pose(*poses.add_poses(), 0.4 * i - 2, -0.8, 0.02, 0.5);
    }
    send_part(prefix + "path", path);
    send_part(prefix + "poses", poses);
  }
  static msgs::TfMessage transforms(double x, double yaw) {
    msgs::TfMessage message;
    *message.add_transforms() = transform("map", "base", x, 0, 0, yaw, 1);
    return message;
  }
  template <typename T>
  void send_part(const std::string& channel, const T& message, std::vector<std::byte> buffer = {}) {
    if (channel.starts_with("b/")) part_ = 1;
    send(channel, message, 1, std::move(buffer));
    part_ = 0;
  }

  template <typename T>
  void send(const std::string& channel, const T& message, double seconds = 1,
            std::vector<std::byte> buffer = {}) {
    std::uint32_t id = 0;
    while (id < channels.size() && channels[id].name != channel) ++id;
    if (id == channels.size()) {
      Channel& made = channels.emplace_back();
      made.id = id;
      made.name = channel;
      made.type = std::string(message.GetTypeName());
      made.encoding = Encoding::protobuf;
      made.part = part_;
      view.set_channels(channels);
    }
    view.take(sample(id, message, seconds, std::move(buffer)));
  }
  void move(const std::string& parent, const std::string& child, double x, double y, double z,
            double yaw = 0, double seconds = 1) {
    msgs::TfMessage message;
    *message.add_transforms() = transform(parent, child, x, y, z, yaw, seconds);
    send("tf", message, seconds);
  }

  /// Draws, and compares with the picture of the test's name.
  void check() {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    view.update(at_s(1));
    Renderer& renderer = *context().renderer;
    do {
      view.draw(renderer);
    } while (renderer.refining());
    Picture drawn{kWidth * 2, kHeight * 2, renderer.read()};
    const Picture picture = shrink(drawn, 2);
    std::filesystem::create_directories(GOLDEN_OUT);
    const std::string actual = std::string(GOLDEN_OUT) + "/" + name + ".png";
    ASSERT_TRUE(write_png(actual, picture).ok());
    const std::string golden_path = std::string(GOLDEN_DIR) + "/" + name + ".png";
    if (g_update) {
      ASSERT_TRUE(write_png(golden_path, picture).ok());
      return;
    }
    const auto golden = read_png(golden_path);
    ASSERT_TRUE(golden.ok()) << golden.error().to_string();
    const auto found = compare(picture, *golden, kTolerance);
    ASSERT_TRUE(found.ok()) << found.error().to_string();
    EXPECT_LT(static_cast<double>(found->different),
              kMostDifferent * static_cast<double>(found->pixels))
        << actual << " differs from " << golden_path;
    // The picture shows more than the background.
    EXPECT_GT(
        compare(picture,
                Picture{kWidth, kHeight, std::vector<std::uint8_t>(picture.rgba.size(), 27)}, 20)
            ->different,
        1'000U);
  }

  SceneView view{*context().renderer};
  std::vector<Channel> channels;
  std::uint32_t part_ = 0;  // of new channels
};

std::vector<std::array<float, 4>> waves(int side) {
  std::vector<std::array<float, 4>> points;
  for (int i = 0; i < side; ++i) {
    for (int j = 0; j < side; ++j) {
      const float x = 8.0F * static_cast<float>(i) / static_cast<float>(side) - 4;
      const float y = 8.0F * static_cast<float>(j) / static_cast<float>(side) - 4;
      const float z = 0.6F * std::sin(x * 1.5F) * std::cos(y * 1.2F) + 0.6F;
      points.push_back({x, y, z, std::hypot(x, y)});
    }
  }
  return points;
}

TEST_F(GoldenTest, points_height) {
  show("points", "lidar");
  set("color", "height");
  const auto message = cloud("", 1, waves(160));
  send("lidar", message.head, 1, message.bytes);
  check();
}

TEST_F(GoldenTest, points_field) {
  show("points", "lidar");
  set("color_map", "viridis");
  set("size", "3");
  const auto message = cloud("", 1, waves(120));
  send("lidar", message.head, 1, message.bytes);
  check();
}

TEST_F(GoldenTest, points_rgb_in_m) {
  show("points", "lidar");
  set("size", "0.12");
  set("size_in_m", "true");
  set("round", "true");
  auto points = waves(40);
  for (auto& each : points) {
    const auto r = static_cast<std::uint32_t>((each[0] + 4) * 31);
    const auto g = static_cast<std::uint32_t>((each[1] + 4) * 31);
    const std::uint32_t bits = r << 16U | g << 8U | 120U;
    std::memcpy(&each[3], &bits, 4);
  }
  const auto message = cloud("", 1, points, "rgb");
  send("lidar", message.head, 1, message.bytes);
  check();
}

TEST_F(GoldenTest, laser_scan) {
  show("laser_scan", "scan");
  msgs::LaserScan scan;
  set_header(*scan.mutable_header(), "", 1);
  scan.set_angle_min(-3.1F);
  scan.set_angle_increment(0.01F);
  scan.set_range_min(0.1F);
  scan.set_range_max(30);
  for (int i = 0; i < 620; ++i) {
    const double angle = -3.1 + 0.01 * i;
    const double wall = std::min(3 / std::abs(std::cos(angle)), 2.2 / std::abs(std::sin(angle)));
    scan.add_ranges(static_cast<float>(wall));
  }
  send("scan", scan);
  check();
}

msgs::OccupancyGrid house(int width, int height) {
  msgs::OccupancyGrid grid;
  set_header(*grid.mutable_header(), "", 1);
  grid.mutable_info()->set_width(static_cast<std::uint32_t>(width));
  grid.mutable_info()->set_height(static_cast<std::uint32_t>(height));
  grid.mutable_info()->set_resolution(0.1F);
  set_pose(*grid.mutable_info()->mutable_origin(), -0.05 * width, -0.05 * height, 0);
  std::string cells;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const bool outer = x < 3 || y < 3 || x >= width - 3 || y >= height - 3;
      const bool wall = x == 5 || y == 5 || x == width - 6 || y == height - 6 ||
                        (x == width / 2 && (y < height / 3 || y > height / 2));
      cells.push_back(outer ? '\xff' : wall ? '\x64' : '\0');
    }
  }
  grid.set_data(cells);
  return grid;
}

TEST_F(GoldenTest, map) {
  show("map", "map");
  send("map", house(64, 48));
  check();
}

TEST_F(GoldenTest, costmap_over_map) {
  show("map", "map");
  send("map", house(64, 48));
  show("map", "costs");
  set("scheme", "costmap");
  auto costs = house(64, 48);
  std::string cells = costs.data();
  for (int y = 0; y < 48; ++y) {
    for (int x = 0; x < 64; ++x) {
      const double far = std::hypot(x - 20, y - 24);
      cells[static_cast<std::size_t>(y * 64 + x)] =
          static_cast<char>(far < 4   ? 100
                            : far < 6 ? 99
                                      : std::max(0.0, 98 - 7 * far));
    }
  }
  costs.set_data(cells);
  send("costs", costs);
  check();
}

msgs::Path arc_path() {
  msgs::Path path;
  set_header(*path.mutable_header(), "", 1);
  for (int i = 0; i <= 40; ++i) {
    const double angle = 0.1 * i;
    set_pose(*path.add_poses()->mutable_pose(), 3 * std::cos(angle), 2.4 * std::sin(angle),
             0.02 * i, angle + 1.5708);
  }
  return path;
}

TEST_F(GoldenTest, path_line) {
  show("path", "plan");
  send("plan", arc_path());
  check();
}

TEST_F(GoldenTest, path_axes) {
  show("path", "plan");
  set("shape", "axes");
  set("length", "0.5");
  send("plan", arc_path());
  check();
}

TEST_F(GoldenTest, pose_array) {
  show("pose_array", "particles");
  msgs::PoseArray poses;
  set_header(*poses.mutable_header(), "", 1);
  std::mt19937 random(7);
  const auto unit = [&] { return static_cast<double>(random() % 10'000) / 10'000 - 0.5; };
  for (int i = 0; i < 150; ++i) {
    set_pose(*poses.add_poses(), 3 * unit(), 3 * unit(), 0, 0.8 + 1.5 * unit());
  }
  send("particles", poses);
  check();
}

// HyperGraph ROS, figure 6: overlapping axes along the way, and the cloud.
TEST_F(GoldenTest, odometry_trail_over_cloud) {
  show("points", "lidar");
  set("color", "flat");
  set("flat_color", "#e04a3a");
  set("size", "1.5");
  const auto message = cloud("", 1, waves(120));
  send("lidar", message.head, 1, message.bytes);
  show("odometry", "odom");
  set("history_s", "-1");
  set("length", "0.45");
  for (int i = 0; i <= 60; ++i) {
    msgs::Odometry odometry;
    set_header(*odometry.mutable_header(), "", 1);
    const double angle = 0.09 * i;
    set_pose(*odometry.mutable_pose()->mutable_pose(), 2.8 * std::cos(angle), 2.8 * std::sin(angle),
             1.4, angle + 1.5708);
    send("odom", odometry, 0.01 * i);
  }
  check();
}

TEST_F(GoldenTest, odometry_covariance) {
  show("odometry", "odom");
  set("length", "1");
  msgs::Odometry odometry;
  set_header(*odometry.mutable_header(), "", 1);
  set_pose(*odometry.mutable_pose()->mutable_pose(), 0.5, 0.3, 0.1, 0.7);
  for (int i = 0; i < 36; ++i) odometry.mutable_pose()->add_covariance(0);
  auto& covariance = *odometry.mutable_pose()->mutable_covariance();
  covariance[0] = 0.8;
  covariance[1] = covariance[6] = 0.3;
  covariance[7] = 0.3;
  covariance[14] = 0.01;
  send("odom", odometry);
  check();
}

TEST_F(GoldenTest, pose_arrow) {
  show("pose", "goal");
  set("shape", "arrow");
  set("length", "2");
  msgs::PoseStamped pose;
  set_header(*pose.mutable_header(), "", 1);
  set_pose(*pose.mutable_pose(), -0.5, 0.2, 0.4, 0.6);
  send("goal", pose);
  check();
}

TEST_F(GoldenTest, transforms) {
  show("transforms", "tf");
  set("length", "0.7");
  move("map", "odom", 0.5, 0.4, 0);
  move("odom", "base", 1.2, 0.8, 0, 0.5);
  move("base", "lidar", 0.2, 0, 1.2, 0, 1);
  move("base", "camera", 0.9, -0.6, 0.4, -0.4, 1);
  check();
}

TEST_F(GoldenTest, image_corner) {
  show("image", "camera/image");
  set("size", "0.45");
  msgs::Image image;
  set_header(*image.mutable_header(), "camera", 1);
  image.set_width(64);
  image.set_height(48);
  image.set_step(192);
  image.set_encoding("rgb8");
  std::vector<std::byte> pixels;
  for (int y = 0; y < 48; ++y) {
    for (int x = 0; x < 64; ++x) {
      const bool square = ((x / 8 + y / 8) % 2) != 0;
      pixels.push_back(static_cast<std::byte>(square ? 230 : 4 * x));
      pixels.push_back(static_cast<std::byte>(square ? 200 : 5 * y));
      pixels.push_back(static_cast<std::byte>(square ? 90 : 140));
    }
  }
  send("camera/image", image, 1, pixels);
  check();
}

TEST_F(GoldenTest, image_scene_depth) {
  show("image", "depth");
  set("place", "scene");
  set("distance", "2.5");
  msgs::TfMessage message;
  auto& camera = *message.add_transforms();
  camera = transform("map", "camera", -1.5, 0, 0.8, 0, 1);
  // Optical: z ahead along x, x to the right, y down.
  auto& rotation = *camera.mutable_transform()->mutable_rotation();
  rotation.set_x(-0.5);
  rotation.set_y(0.5);
  rotation.set_z(-0.5);
  rotation.set_w(0.5);
  send("tf", message);
  msgs::Image image;
  set_header(*image.mutable_header(), "camera", 1);
  image.set_width(80);
  image.set_height(60);
  image.set_step(160);
  image.set_encoding("16UC1");
  std::vector<std::byte> pixels(80 * 60 * 2);
  for (int y = 0; y < 60; ++y) {
    for (int x = 0; x < 80; ++x) {
      const auto depth = static_cast<std::uint16_t>(x < 3 ? 0 : 800 + 20 * x + 30 * y);
      std::memcpy(pixels.data() + (y * 80 + x) * 2, &depth, 2);
    }
  }
  send("depth", image, 1, pixels);
  check();
}

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

TEST_F(GoldenTest, wrench) {
  view.camera().set_state({.distance = 5, .yaw = -2.2, .pitch = 0.4});
  show("wrench", "force");
  msgs::WrenchStamped wrench;
  set_header(*wrench.mutable_header(), "", 1);
  wrench.mutable_wrench()->mutable_force()->set_x(9);
  wrench.mutable_wrench()->mutable_force()->set_z(8);
  wrench.mutable_wrench()->mutable_torque()->set_z(10);
  send("force", wrench);
  check();
}

TEST_F(GoldenTest, range) {
  show("range", "sonar");
  msgs::Range range;
  set_header(*range.mutable_header(), "", 1);
  range.set_field_of_view(0.5F);
  range.set_min_range(0.1F);
  range.set_max_range(5);
  range.set_range(2.6F);
  send("sonar", range);
  check();
}

TEST_F(GoldenTest, axes_top_down) {
  view.camera().set_state({.mode = CameraMode::top_down, .distance = 8, .yaw = -1.5708});
  show("axes", "");
  set("length", "2");
  check();
}

TEST_F(GoldenTest, two_sources_ghost) {
  use_two_sources(Arrange::ghost);
  check();
}

TEST_F(GoldenTest, two_sources_columns) {
  use_two_sources(Arrange::columns);
  check();
}

TEST_F(GoldenTest, distant_origin) {
  // UTM coordinates: single precision has 3 cm there.
  view.camera().set_state(
      {.target = {500'000, 5'400'000, 0}, .distance = 3, .yaw = -2.2, .pitch = 0.6});
  view.remove_all();
  show("points", "lidar");
  set("color", "height");
  std::vector<std::array<float, 4>> points;
  for (int i = 0; i < 60; ++i) {
    for (int j = 0; j < 60; ++j) {
      points.push_back({0.03F * static_cast<float>(i) - 0.9F, 0.03F * static_cast<float>(j) - 0.9F,
                        0.005F * static_cast<float>(i), 0});
    }
  }
  move("map", "lidar", 500'000, 5'400'000, 0);
  const auto message = cloud("lidar", 1, points);
  send("lidar", message.head, 1, message.bytes);
  check();
}

}  // namespace
}  // namespace hyphos::view::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--update") hyphos::view::testing::g_update = true;
  }
  return RUN_ALL_TESTS();
}
