// Cameras of robots in MuJoCo: the pictures agree with the geometry of the world.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <thread>

#include "cosim/adapter/c_adapter.hpp"
#include "cosim/physics/mujoco/options.hpp"

namespace hyphos::cosim {
namespace {

constexpr double kFov = 70 * std::numbers::pi / 180;
constexpr double kWheelRadius = 0.165;  // height of a built-in vehicle

View view(std::uint32_t width = 160, std::uint32_t height = 120) {
  View made{{0.3, 0, 0.3}, {}, width, height, width / (2 * std::tan(kFov / 2)), 0.05, 60, true};
  return made;
}

/// A vehicle at the origin that looks along x, a red box in front of it and a green one behind it.
MujocoOptions world() {
  MujocoOptions options;
  options.boxes = {{{4, -0.5, 0.2}, {5, 0.5, 1.0}, 0}, {{-6, -2, 0}, {-5, 2, 2}, 0}};
  options.colors = {Color{1, 0, 0}, Color{0, 1, 0}};
  options.robots.emplace_back();
  return options;
}

class CosimCamera : public testing::Test {
 protected:
  static std::unique_ptr<Physics> open(const MujocoOptions& options) {
    auto physics =
        open_physics(*load_adapter(COSIM_MUJOCO).or_throw(), to_text(options)).or_throw();
    physics->init(static_cast<std::uint32_t>(options.robots.size()), 1).or_throw();
    return physics;
  }
  /// Skips the test where no driver can draw.
  void SetUp() override {
    if (const auto picture = open(world())->look(0, view()); !picture) {
      ASSERT_EQ(picture.error().code, Code::unsupported);
      ASSERT_NE(picture.error().message.find("Install libegl"), std::string::npos);
      GTEST_SKIP() << picture.error().message;
    }
  }
};

struct Pixel {
  int red, green, blue;
  float depth;
};

Pixel pixel(const Picture& picture, const View& view, double column, double row) {
  const auto x = static_cast<std::size_t>(std::lround(column));
  const auto y = static_cast<std::size_t>(std::lround(row));
  const std::size_t i = y * view.width + x;
  const auto part = [&](std::size_t k) { return std::to_integer<int>(picture.rgb.at(3 * i + k)); };
  return {part(0), part(1), part(2), picture.depth.empty() ? 0 : picture.depth.at(i)};
}

bool is_red(const Pixel& p) { return p.red > 2 * p.green + 20 && p.red > 2 * p.blue + 20; }
bool is_green(const Pixel& p) { return p.green > 2 * p.red + 20 && p.green > 2 * p.blue + 20; }

/// The pixel of a point in the frame of the camera: x along the axis, y left, z up.
struct Place {
  double column, row;
};
Place project(const View& view, const Vec3& point) {
  return {(view.width - 1) / 2.0 - view.focal_px * point.y / point.x,
          (view.height - 1) / 2.0 - view.focal_px * point.z / point.x};
}

TEST_F(CosimCamera, a_red_box_is_at_the_pixels_of_its_projection_and_nowhere_else) {
  const auto physics = open(world());
  const View camera = view();
  const Picture picture = physics->look(0, camera).or_throw();
  ASSERT_EQ(picture.rgb.size(), 3U * 160 * 120);
  const double eye = kWheelRadius + 0.3;
  // The front of the box, in the frame of the camera.
  const Place low = project(camera, {3.7, 0.5, 1.0 - eye});    // left and upper
  const Place high = project(camera, {3.7, -0.5, 0.2 - eye});  // right and lower
  for (std::uint32_t row = 0; row < camera.height; ++row) {
    for (std::uint32_t column = 0; column < camera.width; ++column) {
      const bool inside = column > low.column + 1 && column < high.column - 1 &&
                          row > low.row + 1 && row < high.row - 1;
      const bool outside = column < low.column - 1 || column > high.column + 1 ||
                           row < low.row - 1 || row > high.row + 1;
      const Pixel here = pixel(picture, camera, column, row);
      if (inside) {
        ASSERT_TRUE(is_red(here)) << column << ' ' << row;
        ASSERT_NEAR(here.depth, 3.7, 0.005) << column << ' ' << row;
      }
      ASSERT_FALSE(outside && is_red(here)) << column << ' ' << row;
    }
  }
  EXPECT_GT(high.column - low.column, 25) << "the test looks at some pixels";
}

TEST_F(CosimCamera, the_depth_of_the_ground_and_of_the_sky_is_that_of_geometry) {
  const auto physics = open(world());
  const View camera = view();
  const Picture picture = physics->look(0, camera).or_throw();
  const double eye = kWheelRadius + 0.3;
  const double middle = (camera.height - 1) / 2.0;
  for (const int row : {80, 90, 100, 110, 119}) {
    const double expected = eye * camera.focal_px / (row - middle);
    EXPECT_NEAR(pixel(picture, camera, 5, row).depth, expected, 0.01 * expected) << "row " << row;
  }
  EXPECT_EQ(pixel(picture, camera, 80, 0).depth, std::numeric_limits<float>::infinity());
  EXPECT_GT(pixel(picture, camera, 80, 0).blue, pixel(picture, camera, 80, 0).red) << "the sky";
}

TEST_F(CosimCamera, a_turned_camera_sees_the_things_there) {
  const auto physics = open(world());
  View camera = view();
  camera.aim = about_z(std::numbers::pi);
  camera.mount = {-0.3, 0, 0.3};
  const Picture back = physics->look(0, camera).or_throw();
  EXPECT_TRUE(is_green(pixel(back, camera, 80, 55)));
  EXPECT_NEAR(pixel(back, camera, 80, 55).depth, 4.7, 0.01);
  // 45 degrees down: the ground at the centre of the picture.
  const double half = std::numbers::pi / 8;
  camera = view(161, 121);
  camera.aim = {0, std::sin(half), 0, std::cos(half)};
  const Picture down = physics->look(0, camera).or_throw();
  const double expected = (kWheelRadius + 0.3) * std::numbers::sqrt2;
  EXPECT_NEAR(pixel(down, camera, 80, 60).depth, expected, 0.01);
}

TEST_F(CosimCamera, two_robots_see_each_other_and_not_themselves) {
  MujocoOptions options;
  options.robots.resize(2);
  options.robots[1].kind = RobotKind::uav;
  options.robots[1].start = {3, 0, 0.5};
  options.robots[1].yaw = std::numbers::pi;
  const auto physics = open(options);
  View camera = view();
  camera.mount = {0, 0, 0.3};  // inside the vehicle's outline
  const Picture first = physics->look(0, camera).or_throw();
  EXPECT_NEAR(pixel(first, camera, 80, 58).depth, 2.8, 0.05) << "the drone";
  camera.mount = {0, 0, 0};
  const Picture second = physics->look(1, camera).or_throw();
  EXPECT_NEAR(pixel(second, camera, 80, 71).depth, 2.58, 0.1) << "the front of the vehicle";
  EXPECT_FALSE(physics->look(2, camera).ok());
}

TEST_F(CosimCamera, sizes_may_change_and_pictures_repeat_exactly) {
  const auto physics = open(world());
  const auto again = open(world());
  const Picture small = physics->look(0, view(64, 48)).or_throw();
  const Picture large = physics->look(0, view(640, 480)).or_throw();
  EXPECT_EQ(large.rgb.size(), 3U * 640 * 480);
  EXPECT_EQ(physics->look(0, view(64, 48)).or_throw().rgb, small.rgb);
  EXPECT_TRUE(again->look(0, view(640, 480)).or_throw().rgb == large.rgb);
  EXPECT_EQ(again->look(0, view(64, 48)).or_throw().depth, small.depth);
}

TEST_F(CosimCamera, pictures_follow_the_robot_and_do_not_move_it) {
  MujocoOptions options = world();
  options.robots[0].waypoints = {{2, 0, 0}};
  const auto seeing = open(options);
  const auto blind = open(options);
  const View camera = view();
  float last = 10;
  for (int i = 1; i <= 10; ++i) {
    const Time now{i * 100'000'000LL};
    ASSERT_TRUE(seeing->advance(now).ok());
    ASSERT_TRUE(blind->advance(now).ok());
    const float depth = pixel(seeing->look(0, camera).or_throw(), camera, 80, 58).depth;
    EXPECT_LE(depth, last + 0.01);
    last = depth;
  }
  EXPECT_LT(last, 3.6);
  EXPECT_EQ(seeing->poses()[0].position, blind->poses()[0].position);
}

TEST_F(CosimCamera, other_threads_may_draw_and_many_renderers_come_and_go) {
  const View camera = view(64, 48);
  const Picture expected = open(world())->look(0, camera).or_throw();
  const auto shared = open(world());
  ASSERT_TRUE(shared->look(0, camera).ok());
  for (int i = 0; i < 5; ++i) {
    std::thread([&] { EXPECT_EQ(shared->look(0, camera).or_throw().rgb, expected.rgb); }).join();
    EXPECT_EQ(open(world())->look(0, camera).or_throw().rgb, expected.rgb);
  }
  // Two renderers in two threads at the same time.
  const auto other = open(world());
  std::thread a([&] {
    for (int i = 0; i < 10; ++i) EXPECT_EQ(shared->look(0, camera).or_throw().rgb, expected.rgb);
  });
  std::thread b([&] {
    for (int i = 0; i < 10; ++i) EXPECT_EQ(other->look(0, camera).or_throw().rgb, expected.rgb);
  });
  a.join();
  b.join();
}

}  // namespace
}  // namespace hyphos::cosim
