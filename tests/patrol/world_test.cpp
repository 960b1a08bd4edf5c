#include "world.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>

#include "camera.hpp"
#include "simulator.hpp"

namespace patrol {
namespace {

constexpr double kPi = std::numbers::pi;

World one_box() { return World({{{2.0, -1.0}, {3.0, 1.0}, 2.5, {200, 60, 60}}}); }

TEST(World, rays_end_at_the_nearest_face) {
  const World world = one_box();
  EXPECT_DOUBLE_EQ(world.ray({0.0, 0.0}, 0.0, 10.0), 2.0);
  EXPECT_DOUBLE_EQ(world.ray({5.0, 0.5}, kPi, 10.0), 2.0);
  EXPECT_NEAR(world.ray({0.0, -1.5}, kPi / 4.0, 10.0), 2.0 * std::numbers::sqrt2, 1e-12);
  EXPECT_DOUBLE_EQ(world.ray({0.0, 0.0}, kPi, 10.0), 10.0) << "behind the ray";
  EXPECT_DOUBLE_EQ(world.ray({0.0, 0.0}, 0.0, 1.5), 1.5) << "beyond the limit";
  EXPECT_DOUBLE_EQ(world.clearance({0.0, 0.0}), 2.0);
  EXPECT_DOUBLE_EQ(world.clearance({2.5, 0.0}), 0.0);
}

TEST(World, the_building_is_closed) {
  const World world = World::building();
  for (int i = 0; i < 720; ++i) {
    EXPECT_LT(world.ray({8.0, 6.0}, i * kPi / 360.0, 100.0), 20.0) << "at beam " << i;
  }
}

TEST(World, its_map_has_exactly_the_blocks) {
  const World world({{{2.0, -1.0}, {3.0, 1.0}, 2.5, {}}, {{4.0, 0.9}, {4.2, 1.4}, 2.5, {}}});
  const GridMap map = world.map(0.1);
  EXPECT_DOUBLE_EQ(map.origin.x, 2.0);
  EXPECT_DOUBLE_EQ(map.origin.y, -1.0);
  ASSERT_EQ(map.width, 22);
  ASSERT_EQ(map.height, 24);
  for (int y = 0; y < map.height; ++y) {
    for (int x = 0; x < map.width; ++x) {
      const int expected = world.clearance(map.center(x, y)) == 0.0 ? 100 : 0;
      ASSERT_EQ(map.percent(x, y), expected) << x << ", " << y;
    }
  }
  EXPECT_EQ(World({}).map(0.1).width, 0);
}

TEST(World, a_map_of_two_centimetres_fits_the_building) {
  const World world = World::building();
  const GridMap map = world.map(0.02);
  EXPECT_EQ(map.width, 806);
  EXPECT_EQ(map.height, 606);
  for (int y = 0; y < map.height; ++y) {
    for (int x = 0; x < map.width; ++x) {
      ASSERT_EQ(map.percent(x, y) == 100, world.clearance(map.center(x, y)) == 0.0);
    }
  }
}

TEST(Simulator, the_robot_follows_commands_and_stops_at_walls) {
  const World world = one_box();
  SimulatorConfig config;
  config.start = {};
  config.robot_radius_m = 0.2;
  Simulator sim(world, config);
  sim.command(0.5, 0.0);
  for (int i = 0; i < 200; ++i) sim.step(0.01);
  EXPECT_EQ(sim.now_ns(), 2'000'000'000);
  // 2 s at 0.5 m/s, minus the loss while accelerating at 1.5 m/s^2.
  EXPECT_NEAR(sim.truth().x, 1.0 - 0.5 * 0.5 / (2.0 * 1.5), 0.01);
  for (int i = 0; i < 1000; ++i) sim.step(0.01);
  EXPECT_TRUE(sim.bumped());
  EXPECT_LE(sim.truth().x, 2.0 - config.robot_radius_m);
  EXPECT_GT(sim.truth().x, 1.7);
}

TEST(Simulator, odometry_drifts_with_the_configured_errors) {
  const World world({});
  SimulatorConfig config;
  config.start = {};
  config.translation_noise = config.rotation_noise = 0.0;
  Simulator exact(world, config);
  exact.command(0.5, 0.3);
  for (int i = 0; i < 300; ++i) exact.step(0.01);
  EXPECT_NEAR(exact.odometry().theta, 0.97 * exact.truth().theta, 1e-9);

  Simulator noisy(world);
  noisy.command(0.5, 0.3);
  for (int i = 0; i < 300; ++i) noisy.step(0.01);
  EXPECT_GT(std::abs(noisy.odometry().theta - exact.odometry().theta), 1e-4);
}

TEST(Simulator, scans_show_the_world_with_the_configured_noise) {
  const World world = World::building();
  SimulatorConfig config;
  Simulator sim(world, config);
  const Scan scan = sim.scan();
  ASSERT_EQ(scan.ranges.size(), 360U);
  const Pose2 laser = compose(sim.truth(), config.laser_mount);
  double sum2 = 0.0;
  int seen = 0;
  for (std::size_t i = 0; i < scan.ranges.size(); ++i) {
    const double truth = world.ray(laser.position(), laser.theta + scan.angle(i), 12.0);
    if (truth >= 12.0) {
      EXPECT_FALSE(scan.valid(i));
      continue;
    }
    ++seen;
    sum2 += (scan.ranges[i] - truth) * (scan.ranges[i] - truth);
  }
  ASSERT_GT(seen, 250);
  EXPECT_NEAR(std::sqrt(sum2 / seen), config.laser_noise_m, 0.3 * config.laser_noise_m);
}

TEST(Simulator, equal_seeds_give_equal_runs_and_others_differ) {
  const World world = World::building();
  auto run = [&](std::uint64_t seed) {
    SimulatorConfig config;
    config.seed = seed;
    Simulator sim(world, config);
    sim.command(0.4, 0.2);
    for (int i = 0; i < 50; ++i) sim.step(0.01);
    return std::make_pair(sim.odometry().x, sim.scan().ranges);
  };
  EXPECT_EQ(run(5), run(5));
  EXPECT_NE(run(5), run(6));
}

TEST(Camera, a_block_appears_at_its_place_in_the_picture) {
  const World world = one_box();
  Camera camera({.width = 64, .height = 48, .field_of_view = 1.4, .height_m = 0.9});
  std::vector<std::uint8_t> rgb(camera.bytes(), 1);
  camera.render(world, {0.0, 0.0, 0.0}, rgb);
  auto reddish = [&](int x, int y) {
    const std::uint8_t* p = rgb.data() + (y * 64 + x) * 3;
    return p[0] > 2 * p[1];
  };
  EXPECT_TRUE(reddish(32, 24)) << "straight ahead";
  EXPECT_FALSE(reddish(0, 24)) << "past its left side";
  EXPECT_FALSE(reddish(63, 24)) << "past its right side";
  EXPECT_FALSE(reddish(32, 47)) << "the floor before it";
  // The left side of the robot is the left side of the picture.
  camera.render(world, {0.0, -1.0, 0.0}, rgb);
  EXPECT_TRUE(reddish(20, 24));
  EXPECT_FALSE(reddish(44, 24));
}

TEST(Camera, every_pixel_is_filled_with_varied_colours) {
  const World world = World::building();
  Camera camera;
  std::vector<std::uint8_t> a(camera.bytes(), 0), b(camera.bytes(), 255);
  camera.render(world, {3.0, 6.0, 0.3}, a);
  camera.render(world, {3.0, 6.0, 0.3}, b);
  EXPECT_EQ(a, b);
  std::set<std::array<int, 3>> colours;
  for (std::size_t i = 0; i < a.size(); i += 3) colours.insert({a[i], a[i + 1], a[i + 2]});
  EXPECT_GT(colours.size(), 100U);
}

}  // namespace
}  // namespace patrol
