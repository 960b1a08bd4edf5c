// Steered robots in MuJoCo: the motion that results from a command.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "cosim/remote/remote.hpp"

namespace hyphos::cosim {
namespace {

constexpr std::int64_t kMs = 1'000'000;

/// Robots and their commands. Time advances in steps of 1 ms.
class Field {
 public:
  Field(const std::string& options, std::uint32_t robots)
      : physics(Worker::start({}, {COSIM_WORKER, "--adapter", COSIM_MUJOCO, "--options", options})
                    .or_throw()) {
    const auto ready = physics.init(robots, 1);
    EXPECT_TRUE(ready.ok()) << ready.error().to_string();
  }
  std::string tell(NodeId robot, const Motion& motion) {
    const auto told = physics.steer(robot, motion);
    EXPECT_TRUE(told.ok()) << told.error().to_string();
    return told.ok() ? *told : "";
  }
  void go_on(double seconds, const std::function<void(std::span<const Pose>)>& look = {}) {
    for (auto left = static_cast<std::int64_t>(seconds * 1000); left > 0; --left) {
      now_ms_ += 1;
      const auto ran = physics.advance({now_ms_ * kMs});
      ASSERT_TRUE(ran.ok()) << ran.error().to_string();
      if (look) look(physics.poses());
    }
  }
  [[nodiscard]] const Pose& at(NodeId robot) const { return physics.poses()[robot]; }

  RemotePhysics physics;

 private:
  std::int64_t now_ms_ = 0;
};

/// The mean motion of a robot over some seconds: velocity in the frame of its heading, and turn.
Motion mean_motion(Field& field, NodeId robot, double seconds) {
  Motion sum;
  int count = 0;
  field.go_on(seconds, [&](std::span<const Pose> poses) {
    const Pose& pose = poses[robot];
    sum.velocity = sum.velocity + turned_back(about_z(yaw_of(pose.orientation)), pose.velocity);
    sum.turn += turned(pose.orientation, pose.turn).z;
    ++count;
  });
  return {sum.velocity * (1.0 / count), sum.turn / count};
}

/// The accuracy of steering in docs/how-to/cosim_nodes.md, some seconds after a command.
void expect_reached(const Motion& is, const Motion& told) {
  EXPECT_LT(length(is.velocity - told.velocity), 0.05 + 0.05 * length(told.velocity))
      << is.velocity.x << " " << is.velocity.y << " " << is.velocity.z;
  EXPECT_NEAR(is.turn, told.turn, 0.03 + 0.05 * std::abs(told.turn));
}

class Drives : public testing::TestWithParam<std::pair<double, double>> {};

TEST_P(Drives, a_ugv_reaches_its_commanded_motion) {
  const auto& [ahead, turn] = GetParam();
  Field field("ugv 0 0 0 0.7 1", 1);
  const Motion told{{ahead, 0, 0}, turn};
  EXPECT_EQ(field.tell(0, told), "");
  field.go_on(3);
  Motion is = mean_motion(field, 0, 2);
  EXPECT_LT(std::abs(is.velocity.y), 0.15 * std::abs(ahead * turn) + 0.01) << "its centre slides";
  is.velocity.y = 0;
  expect_reached(is, told);
  EXPECT_NEAR(field.at(0).position.z, 0.165, 0.03) << "on its wheels";
}
INSTANTIATE_TEST_SUITE_P(Mujoco, Drives,
                         testing::Values(std::pair(0.3, 0.0), std::pair(1.0, 0.0),
                                         std::pair(-1.0, 0.0), std::pair(3.0, 0.0),
                                         std::pair(0.0, 0.5), std::pair(0.0, -2.0),
                                         std::pair(1.0, 0.3), std::pair(1.0, -1.0),
                                         std::pair(-0.5, 0.5), std::pair(2.0, 1.0),
                                         std::pair(3.0, 1.0)));

class Flies : public testing::TestWithParam<std::tuple<double, double, double, double>> {};

TEST_P(Flies, a_uav_reaches_its_commanded_motion) {
  const auto& [x, y, z, turn] = GetParam();
  Field field("uav 0 0 50 -0.4 1", 1);
  const Motion told{{x, y, z}, turn};
  EXPECT_EQ(field.tell(0, told), "");
  field.go_on(5);
  expect_reached(mean_motion(field, 0, 2), told);
}
INSTANTIATE_TEST_SUITE_P(
    Mujoco, Flies,
    testing::Values(std::tuple(1.0, 0.0, 0.0, 0.0), std::tuple(0.0, 2.0, 0.0, 0.0),
                    std::tuple(0.0, 0.0, 1.5, 0.0), std::tuple(0.0, 0.0, -2.0, 0.0),
                    std::tuple(0.0, 0.0, 0.0, 1.0), std::tuple(3.0, -1.0, 0.5, 0.5),
                    std::tuple(10.0, 0.0, 0.0, 0.0), std::tuple(2.0, 0.0, 0.0, -1.0),
                    std::tuple(3.0, 0.0, 0.0, 1.0)));

TEST(MujocoSteering, a_uav_keeps_its_height_and_its_heading) {
  Field field("uav 0 0 5 1.2 1", 1);
  field.tell(0, {{4, 0, 0}, 0});
  double lowest = 5;
  double highest = 5;
  field.go_on(10, [&](std::span<const Pose> poses) {
    lowest = std::min(lowest, poses[0].position.z);
    highest = std::max(highest, poses[0].position.z);
  });
  EXPECT_GT(lowest, 4.8);
  EXPECT_LT(highest, 5.2);
  EXPECT_NEAR(field.at(0).position.z, 5, 0.01);
  EXPECT_NEAR(yaw_of(field.at(0).orientation), 1.2, 0.01);
  // The UAV rises, and keeps the height at which it receives the stop command.
  field.tell(0, {{0, 0, 2}, 0});
  field.go_on(3);
  const double there = field.at(0).position.z;
  field.tell(0, {});
  field.go_on(5);
  const double stays = field.at(0).position.z;
  EXPECT_NEAR(stays, there, 0.3);
  field.tell(0, {});  // a repeated command does not make it sink
  field.go_on(20);
  EXPECT_NEAR(field.at(0).position.z, stays, 0.05);
  EXPECT_LT(length(field.at(0).velocity), 0.01);
}

TEST(MujocoSteering, an_accelerating_uav_tilts_and_reports_it) {
  Field field("uav 0 0 5 0 1", 1);
  field.tell(0, {{10, 0, 0}, 0});
  double most = 0;
  double turns = 0;
  Quaternion before;
  double worst = 0;
  field.go_on(2, [&](std::span<const Pose> poses) {
    const Pose& pose = poses[0];
    const Vec3 up = turned(pose.orientation, {0, 0, 1});
    most = std::max(most, std::atan2(up.x, up.z));
    turns = std::max(turns, std::abs(pose.turn.y));
    worst = std::max(worst, length(turn_between(before, pose.orientation) - pose.turn * 0.001));
    before = pose.orientation;
  });
  EXPECT_GT(most, 0.3) << "rad: 4 m/s² need 22 degrees";
  EXPECT_LT(most, 0.6);
  EXPECT_GT(turns, 0.5) << "rad/s about its own y";
  EXPECT_LT(worst, 1e-4) << "rad in a step";
}

TEST(MujocoSteering, a_wall_stops_a_steered_ugv_until_it_turns_back) {
  Field field("box 3 -2 0 4 2 2 10; ugv 0 0 0 0 1", 1);
  field.tell(0, {{1.5, 0, 0}, 0});
  double farthest = 0;
  double highest = 0;
  field.go_on(10, [&](std::span<const Pose> poses) {
    farthest = std::max(farthest, poses[0].position.x);
    highest = std::max(highest, poses[0].position.z);
  });
  EXPECT_GT(farthest, 2.3) << "it reached the wall";
  EXPECT_LT(farthest, 2.7) << "its nose is 0.42 m in front of its centre";
  EXPECT_LT(highest, 0.4) << "it does not climb";
  field.tell(0, {{-1, 0, 0}, 0});
  field.go_on(3);
  EXPECT_LT(field.at(0).position.x, 1);
}

TEST(MujocoSteering, a_ugv_stops_on_command) {
  Field field("ugv 0 0 0 0 1", 1);
  field.tell(0, {{2, 0, 0}, 0.5});
  field.go_on(2);
  field.tell(0, {});
  field.go_on(2);
  const Vec3 there = field.at(0).position;
  field.go_on(5);
  EXPECT_LT(length(field.at(0).position - there), 0.01);
}

TEST(MujocoSteering, a_robot_follows_the_feasible_part_and_reports_the_rest) {
  Field field("ugv 0 0 0 0 1; uav 0 9 5 0 1", 2);
  EXPECT_EQ(field.tell(0, {{1, 0.5, 0}, 0}), "it has wheels and cannot move sideways");
  EXPECT_EQ(field.tell(0, {{1, 1e-12, 0}, 0}), "");
  EXPECT_EQ(field.tell(0, {{9, 0, -1}, -5}),
            "it has wheels and cannot rise; its speed is at most 3 m/s, not 9; its turn is at most "
            "2 rad/s, not -5");
  EXPECT_EQ(field.tell(1, {{12, 16, 0}, 0}), "its speed is at most 15 m/s, not 20");
  field.tell(0, {{1, 0.5, 0}, 0});
  field.go_on(3);
  expect_reached(mean_motion(field, 0, 2), {{1, 0, 0}, 0});
}

TEST(MujocoSteering, a_robot_follows_waypoints_until_the_first_command) {
  const std::string way = "ugv 0 0 0 0 1; waypoint 100 0 0; uav 0 9 5 0 1; waypoint 100 9 5";
  Field field(way, 2);
  Field other(way, 2);
  field.go_on(2);
  other.go_on(2);
  EXPECT_GT(field.at(0).position.x, 1);
  field.tell(0, {});
  field.go_on(10);
  other.go_on(10);
  EXPECT_LT(field.at(0).position.x, 3) << "it no longer follows its waypoints";
  EXPECT_EQ(field.at(1).position, other.at(1).position) << "the other robot continues";
}

TEST(MujocoSteering, a_command_within_a_step_applies_from_the_next_step) {
  Field field("uav 0 0 5 0 1", 1);
  Field other("uav 0 0 5 0 1", 1);
  ASSERT_TRUE(field.physics.advance({2'500'000}).ok());  // the step of 1 ms from 2 ms is not over
  field.tell(0, {{5, 0, 0}, 0});
  ASSERT_TRUE(field.physics.advance({3'000'000}).ok() && other.physics.advance({3'000'000}).ok());
  EXPECT_EQ(field.at(0).velocity, other.at(0).velocity);
  ASSERT_TRUE(field.physics.advance({9'000'000}).ok() && other.physics.advance({9'000'000}).ok());
  EXPECT_NE(field.at(0).velocity, other.at(0).velocity);
}

TEST(MujocoSteering, a_uav_lands_on_command_and_rises_again) {
  Field field("uav 0 0 2 0 1", 1);
  field.tell(0, {{0, 0, -1}, 0});
  field.go_on(6);
  EXPECT_LT(field.at(0).position.z, 0.2);
  EXPECT_LT(length(field.at(0).velocity), 0.1);
  field.tell(0, {{0, 0, 1}, 0});
  field.go_on(4);
  EXPECT_GT(field.at(0).position.z, 2);
}

}  // namespace
}  // namespace hyphos::cosim
