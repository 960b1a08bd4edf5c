#include <cmath>

#include "cosim/physics/mujoco/options.hpp"
#include "cosim/remote/remote.hpp"
#include "tests/cosim/conformance.hpp"

namespace hyphos::cosim {
namespace {

std::unique_ptr<RemotePhysics> mujoco(const std::string& options) {
  return std::make_unique<RemotePhysics>(
      Worker::start({}, {COSIM_WORKER, "--adapter", COSIM_MUJOCO, "--options", options})
          .or_throw());
}

struct Mixed {
  static std::unique_ptr<Physics> make() {
    return mujoco(
        "box 3 -1 0 4 1 2 20\n"
        "ugv 0 0 0 0 1\nwaypoint 2 2 0\nloop 1\n"
        "ugv 0 5 0 1.5 1.5\nwaypoint 0 20 0\n"
        "uav 0 -5 2 0 3\nwaypoint 10 -5 5\nwaypoint 0 -5 5\n"
        "uav 5 5 3 0 2\n");
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NetworkConformance);
INSTANTIATE_TYPED_TEST_SUITE_P(Mujoco, PhysicsConformance, Mixed);

std::vector<Pose> after(Physics& physics, std::uint32_t robots, std::int64_t seconds) {
  EXPECT_TRUE(physics.init(robots, 1).ok());
  for (std::int64_t ms = 10; ms <= seconds * 1000; ms += 10) {
    const auto ran = physics.advance({ms * 1'000'000});
    EXPECT_TRUE(ran.ok()) << ran.error().to_string();
    if (!ran.ok()) break;
  }
  return {physics.poses().begin(), physics.poses().end()};
}

TEST(Mujoco, a_ugv_drives_to_its_waypoint_and_stays) {
  const auto physics = mujoco("ugv 0 0 0 0 1; waypoint 4 0 0; waypoint 4 4 0");
  const auto poses = after(*physics, 1, 20);
  EXPECT_LT(length(poses[0].position - Vec3{4, 4, 0.165}), 0.6);
  EXPECT_NEAR(poses[0].position.z, 0.165, 0.02) << "neither sunk nor lifted";
  EXPECT_LT(length(poses[0].velocity), 0.05);
}

TEST(Mujoco, a_ugv_on_a_straight_path_reaches_its_speed) {
  const auto physics = mujoco("ugv 0 0 0 0 1; waypoint 100 0 0");
  const auto poses = after(*physics, 1, 5);
  EXPECT_NEAR(poses[0].velocity.x, 1, 0.1);
}

TEST(Mujoco, a_uav_flies_through_its_waypoints_and_hovers_at_the_last) {
  const auto physics = mujoco("uav 0 0 1 0.5 3; waypoint 10 0 8; waypoint 10 10 4");
  const auto poses = after(*physics, 1, 25);
  EXPECT_LT(length(poses[0].position - Vec3{10, 10, 4}), 0.1);
  EXPECT_LT(length(poses[0].velocity), 0.05);
}

TEST(Mujoco, a_wall_stops_a_ugv) {
  const auto physics = mujoco("box 3 -2 0 4 2 2 10; ugv 0 0 0 0 1; waypoint 10 0 0");
  const auto poses = after(*physics, 1, 10);
  EXPECT_GT(poses[0].position.x, 2);
  EXPECT_LT(poses[0].position.x, 3);
}

TEST(Mujoco, the_same_world_gives_the_same_bits) {
  const auto once = Mixed::make();
  const auto again = Mixed::make();
  const auto a = after(*once, 4, 10);
  const auto b = after(*again, 4, 10);
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].position, b[i].position);
    EXPECT_EQ(a[i].velocity, b[i].velocity);
  }
}

TEST(Mujoco, ugvs_that_meet_head_on_stop_each_other) {
  const auto physics =
      mujoco("ugv 0 0 0 0 1; waypoint 20 0 0; ugv 6 0 0 3.14159 1; waypoint -14 0 0");
  const auto poses = after(*physics, 2, 8);
  EXPECT_GT(poses[0].position.x, 1.5);
  EXPECT_GT(poses[1].position.x - poses[0].position.x, 0.8) << "the length of their bodies";
}

TEST(Mujoco, a_ugv_pushes_a_hovering_uav_in_its_path) {
  const auto physics = mujoco("ugv 0 0 0 0 1; waypoint 20 0 0; uav 3 0 0.25 0 1");
  ASSERT_TRUE(physics->init(2, 1).ok());
  double pushed = 0;
  for (std::int64_t ms = 10; ms <= 5000; ms += 10) {
    ASSERT_TRUE(physics->advance({ms * 1'000'000}).ok());
    pushed = std::max(pushed, length(physics->poses()[1].position - Vec3{3, 0, 0.25}));
    if (ms == 1000) {
      EXPECT_LT(pushed, 0.1) << "before they meet";
    }
  }
  EXPECT_GT(pushed, 0.2);
}

TEST(Mujoco, distant_robots_do_not_change_a_bit) {
  const std::string mine =
      "box 3 -2 0 4 2 2 10; ugv 0 0 0 0 1; waypoint 10 5 0; uav 0 5 2 0 2; waypoint 9 9 4";
  const auto alone = mujoco(mine);
  const auto together =
      mujoco(mine + "; ugv 100 0 0 0 1; ugv 101 0 0 3 1; uav 100 5 1 0 1; ugv -90 9 0 1 2");
  const auto a = after(*alone, 2, 5);
  const auto b = after(*together, 6, 5);
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].position, b[i].position);
    EXPECT_EQ(a[i].velocity, b[i].velocity);
  }
}

TEST(Mujoco, a_state_saved_during_a_crash_continues_identically) {
  const std::string options =
      "ugv 0 0 0 0 1; waypoint 20 0 0; ugv 4 0 0 3.14159 1; waypoint -14 0 0; uav 2 0.2 1 0 1; "
      "waypoint 2 0 0.3";
  const auto physics = mujoco(options);
  (void)after(*physics, 3, 3);
  const auto state = physics->save();
  ASSERT_TRUE(state.ok()) << state.error().to_string();
  const auto other = mujoco(options);
  ASSERT_TRUE(other->init(3, 1).ok());
  ASSERT_TRUE(other->restore(*state).ok());
  ASSERT_TRUE(physics->advance({4'000'000'000}).ok());
  ASSERT_TRUE(other->advance({4'000'000'000}).ok());
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(physics->poses()[i].position, other->poses()[i].position);
  }
}

TEST(Mujoco, wrong_options_are_refused_by_name) {
  for (const auto& [options, name] :
       {std::pair("waypoint 1 2 3", "waypoint"), std::pair("ugv 1 2 3", "ugv"),
        std::pair("ugv 0 0 0 0 0", "speed"), std::pair("step_us 0.5", "step_us"),
        std::pair("ugv 0 0 0 0 1; ugv 9 0 0 0 1", "2 robots for 1 nodes")}) {
    const auto refused = mujoco(options)->init(1, 1);
    ASSERT_FALSE(refused.ok()) << options;
    EXPECT_EQ(refused.error().code, Code::invalid_config);
    EXPECT_NE(refused.error().message.find(name), std::string::npos) << refused.error().to_string();
  }
}

TEST(Mujoco, options_survive_a_round_trip_through_text) {
  MujocoOptions options;
  options.boxes = {{{0, 0, 0}, {1, 0.1, 3}, 12}};
  options.robots = {{RobotKind::uav, {1, 2, 3}, 0.3, 2, true, {{4, 5, 6}, {0, 0, 1}}}};
  const auto read = mujoco_options(to_text(options));
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(to_text(*read), to_text(options));
  EXPECT_EQ(read->robots[0].waypoints.size(), 2U);
  EXPECT_TRUE(read->robots[0].loop);
}

}  // namespace
}  // namespace hyphos::cosim
