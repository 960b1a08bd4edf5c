#include "cosim/core/geometry.hpp"

#include <gtest/gtest.h>

#include <numbers>
#include <random>

#include "cosim/physics/kinematic.hpp"

namespace hyphos::cosim {
namespace {

const Box kWall{{10, -5, 0}, {11, 5, 3}, 12};

TEST(CosimGeometry, a_wall_between_two_points_attenuates_by_its_loss) {
  const Scene scene({kWall});
  EXPECT_EQ(scene.loss_db({0, 0, 1}, {20, 0, 1}), 12);
  EXPECT_EQ(scene.loss_db({20, 0, 1}, {0, 0, 1}), 12);
  EXPECT_EQ(scene.loss_db({0, 0, 4}, {20, 0, 4}), 0) << "above it";
  EXPECT_EQ(scene.loss_db({0, 6, 1}, {20, 6, 1}), 0) << "beside it";
  EXPECT_EQ(scene.loss_db({0, 0, 1}, {9, 0, 1}), 0) << "before it";
  EXPECT_EQ(scene.loss_db({0, 0, 1}, {10.5, 0, 1}), 12) << "one point inside";
  EXPECT_EQ(Scene({kWall, kWall}).loss_db({0, 0, 1}, {20, 0, 1}), 24);
}

TEST(CosimGeometry, the_line_of_sight_holds_for_the_returned_time) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> place(-20, 40);
  std::uniform_real_distribution<double> speed(-5, 5);
  const Scene scene({kWall, {{-10, 8, 0}, {25, 9, 6}, 5}, {{0, -30, 0}, {5, -10, 9}, 3}});
  int changes = 0;
  for (int i = 0; i < 3000; ++i) {
    const Vec3 a{place(random), place(random), 1};
    const Vec3 b{place(random), place(random), 2};
    const Vec3 va{speed(random), speed(random), 0};
    const Vec3 vb{speed(random), speed(random), 0};
    const double held = scene.los_holds_for(a, b, std::max(length(va), length(vb)));
    const double before = scene.loss_db(a, b);
    for (int k = 0; k <= 200; ++k) {
      const double t = k * 0.05;
      if (scene.loss_db(a + va * t, b + vb * t) == before) continue;
      ++changes;
      ASSERT_GE(t, held) << "case " << i;
      break;
    }
  }
  EXPECT_GT(changes, 1000);
}

TEST(CosimGeometry, the_time_to_a_change_is_short_only_near_a_change) {
  const Scene scene({kWall});
  // One metre above the wall, falling at 1 m/s: the change comes after one second.
  EXPECT_NEAR(scene.los_holds_for({0, 0, 4}, {20, 0, 4}, 1), 1, 1e-6);
  // Inside by half the thickness of the wall.
  EXPECT_NEAR(scene.los_holds_for({0, 0, 1}, {20, 0, 1}, 1), 0.5, 1e-6);
  EXPECT_EQ(scene.los_holds_for({0, 0, 4}, {20, 0, 4}, 0), std::numeric_limits<double>::infinity());
}

TEST(CosimGeometry, uncertainty_includes_the_boxes_within_reach) {
  const Scene scene({kWall});
  EXPECT_EQ(scene.uncertain_db({0, 0, 4}, {20, 0, 4}, 0.9), 0);
  EXPECT_EQ(scene.uncertain_db({0, 0, 4}, {20, 0, 4}, 1.1), 12);
}

TEST(CosimGeometry, a_rotation_turns_a_vector_and_back) {
  const double r = std::sqrt(0.5);
  const Quaternion left = about_z(std::numbers::pi / 2);
  const Quaternion nose_down{0, r, 0, r};  // a quarter turn about y
  const auto expect = [](const Vec3& is, const Vec3& be) { EXPECT_LT(length(is - be), 1e-12); };
  expect(turned(left, {1, 0, 0}), {0, 1, 0});
  expect(turned(left, {0, 1, 0}), {-1, 0, 0});
  expect(turned(nose_down, {1, 0, 0}), {0, 0, -1});
  expect(turned(nose_down, {0, 1, 0}), {0, 1, 0});
  expect(turned_back(nose_down, {0, 0, -1}), {1, 0, 0});
  EXPECT_EQ(about_z(0), Quaternion{});
  EXPECT_NEAR(yaw_of(left), std::numbers::pi / 2, 1e-12);
  EXPECT_NEAR(yaw_of(about_z(-3)), -3, 1e-12);
  const Quaternion tilted{0, std::sin(0.2), 0, std::cos(0.2)};
  EXPECT_NEAR(yaw_of(tilted), 0, 1e-12) << "the nose points down and still along x";
}

TEST(CosimGeometry, the_turn_between_two_rotations_is_the_shorter_one) {
  const Vec3 quarter = turn_between(about_z(1), about_z(1 + std::numbers::pi / 2));
  EXPECT_LT(length(quarter - Vec3{0, 0, std::numbers::pi / 2}), 1e-12);
  const Vec3 back = turn_between(about_z(0.1), about_z(2 * std::numbers::pi - 0.1));
  EXPECT_LT(length(back - Vec3{0, 0, -0.2}), 1e-12);
  EXPECT_EQ(turn_between(about_z(1), about_z(1)), Vec3{});
  // About the axes of the rotated frame: after a quarter turn to the left, the nose dips about the
  // frame's own y axis.
  const Quaternion left = about_z(std::numbers::pi / 2);
  const Quaternion dipped{-std::sin(0.1) * left.z, std::sin(0.1) * left.w, std::cos(0.1) * left.z,
                          std::cos(0.1) * left.w};
  EXPECT_LT(length(turn_between(left, dipped) - Vec3{0, 0.2, 0}), 1e-12);
}

TEST(CosimKinematic, a_robot_faces_its_direction_of_motion) {
  const Path circle = Circle{{}, 5, 2, 0};
  EXPECT_NEAR(yaw_of(pose_at(circle, {}).orientation), std::numbers::pi / 2, 1e-12);
  EXPECT_EQ(pose_at(circle, {}).turn, (Vec3{0, 0, 2}));
  const Path line = ConstantVelocity{{}, {0, -3, 0}};
  EXPECT_NEAR(yaw_of(pose_at(line, {}).orientation), -std::numbers::pi / 2, 1e-12);
  EXPECT_EQ(pose_at(line, {}).turn, Vec3{});
}

TEST(CosimKinematic, paths_have_the_expected_positions) {
  const Path circle = Circle{{10, 0, 2}, 5, 2, 0};
  EXPECT_EQ(pose_at(circle, {}).position, (Vec3{15, 0, 2}));
  EXPECT_NEAR(length(pose_at(circle, {700'000'000}).velocity), 10, 1e-9);
  const Path way = Waypoints{{{0, 0, 0}, {10, 0, 0}, {10, 10, 0}}, 2, false};
  const Pose turned = pose_at(way, {7'500'000'000});
  EXPECT_NEAR(length(turned.position - Vec3{10, 5, 0}), 0, 1e-9);
  EXPECT_EQ(turned.velocity, (Vec3{0, 2, 0}));
  EXPECT_EQ(pose_at(way, {60'000'000'000}).position, (Vec3{10, 10, 0}));
  EXPECT_EQ(pose_at(way, {60'000'000'000}).velocity, (Vec3{}));
  const Path loop = Waypoints{{{0, 0, 0}, {10, 0, 0}}, 1, true};
  EXPECT_NEAR(pose_at(loop, {39'000'000'000}).position.x, 1, 1e-9);
}

TEST(CosimKinematic, a_team_has_the_poses_of_its_paths_bit_by_bit) {
  const std::vector<Path> paths{
      Waypoints{{{0, 0, 0}, {10, 3, 0}, {10, 3, 0}, {-4, 7, 2}}, 1.7, true},
      Waypoints{{{0, 0, 0}, {10, 3, 0}}, 2.5, false},
      Waypoints{{{5, 5, 1}}, 2, true},
      Waypoints{{{5, 5, 1}, {5, 5, 1}}, 2, false},
      Circle{{1, 2, 3}, 4, 0.5, 1},
      ConstantVelocity{{1, 1, 1}, {0.1, -3, 0}}};
  Kinematic physics(paths);
  ASSERT_TRUE(physics.init(static_cast<std::uint32_t>(paths.size()), 1).ok());
  for (std::int64_t ms = 0; ms < 60'000; ms += 37) {
    const Time now{ms * 1'000'000};
    ASSERT_TRUE(physics.advance(now).ok());
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const Pose wanted = pose_at(paths[i], now);
      const Pose& found = physics.poses()[i];
      ASSERT_EQ(found.position, wanted.position) << i << " at " << ms;
      ASSERT_EQ(found.velocity, wanted.velocity) << i << " at " << ms;
      ASSERT_EQ(found.orientation, wanted.orientation) << i << " at " << ms;
      ASSERT_EQ(found.turn, wanted.turn) << i << " at " << ms;
    }
  }
}

TEST(CosimKinematic, init_requires_one_path_per_robot) {
  Kinematic physics({ConstantVelocity{}});
  const auto ready = physics.init(2, 1);
  ASSERT_FALSE(ready.ok());
  EXPECT_EQ(ready.error().code, Code::invalid_config);
}

}  // namespace
}  // namespace hyphos::cosim
