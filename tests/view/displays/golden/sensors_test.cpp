#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "tests/view/displays/golden/picture.hpp"

namespace hyphos::view::testing {
namespace {

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
