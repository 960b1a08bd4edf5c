#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "tests/view/displays/golden/picture.hpp"

namespace hyphos::view::testing {
namespace {

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

TEST_F(GoldenTest, axes_top_down) {
  view.camera().set_state({.mode = CameraMode::top_down, .distance = 8, .yaw = -1.5708});
  show("axes", "");
  set("length", "2");
  check();
}

}  // namespace
}  // namespace hyphos::view::testing
