#include "planner.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "cost_map.hpp"

namespace patrol {
namespace {

constexpr double kCell = 0.05;

// A map of `size` m per side, with cells given by a function of their centre.
GridMap make_map(double size, const std::function<int(Point2)>& percent) {
  const int n = static_cast<int>(std::lround(size / kCell));
  GridMap map{kCell, {0.0, 0.0}, n, n, {}};
  for (int y = 0; y < n; ++y) {
    for (int x = 0; x < n; ++x) {
      map.percents.push_back(static_cast<std::int8_t>(percent(map.center(x, y))));
    }
  }
  return map;
}

bool near_edge(Point2 p, double size) { return std::min({p.x, p.y, size - p.x, size - p.y}) < 0.1; }

// 8 m x 8 m, closed, with a wall at x = 4 that is open from y = 6.5 to 7.5.
int two_rooms(Point2 p) {
  if (near_edge(p, 8.0)) return 100;
  if (std::abs(p.x - 4.0) < 0.1 && !(p.y > 6.5 && p.y < 7.5)) return 100;
  return 0;
}

double length_of(const std::vector<Point2>& path) {
  double sum = 0.0;
  for (std::size_t i = 1; i < path.size(); ++i) sum += distance(path[i - 1], path[i]);
  return sum;
}

// A robot that executes its commands exactly.
Pose2 moved(const Pose2& pose, const Drive& drive, double dt) {
  return compose(pose, {drive.speed * dt, 0.0, drive.turn_rate * dt});
}

TEST(CostMap, paths_pass_the_door_and_keep_clear_of_walls) {
  const CostMap map(make_map(8.0, two_rooms), 0.1, 0.3, 0.5);
  const std::vector<Point2> path = map.path({1.0, 1.0}, {7.0, 1.0});
  ASSERT_FALSE(path.empty());
  EXPECT_LT(distance(path.front(), Point2{1.0, 1.0}), 0.15);
  EXPECT_LT(distance(path.back(), Point2{7.0, 1.0}), 0.15);
  const double shortest = 2.0 * std::hypot(3.0, 5.5);
  EXPECT_GT(length_of(path), shortest - 0.5);
  EXPECT_LT(length_of(path), 1.2 * shortest);
  for (const Point2& p : path) EXPECT_GE(map.clearance(map.index_of(p)), 0.3);
}

TEST(CostMap, an_unreachable_goal_has_no_path) {
  const CostMap map(
      make_map(8.0,
               [](Point2 p) { return near_edge(p, 8.0) || std::abs(p.x - 4.0) < 0.1 ? 100 : 0; }),
      0.1, 0.3, 0.5);
  EXPECT_TRUE(map.path({1.0, 1.0}, {7.0, 1.0}).empty());
  EXPECT_TRUE(map.path({1.0, 1.0}, {100.0, 1.0}).empty()) << "outside the map";
  EXPECT_TRUE(map.path({-5.0, 1.0}, {1.0, 1.0}).empty());
  EXPECT_TRUE(std::isinf(map.costs_from({1.0, 1.0})[map.index_of({7.0, 1.0})]));
}

TEST(CostMap, a_star_has_the_cost_of_dijkstra) {
  const CostMap map(make_map(8.0, two_rooms), 0.1, 0.3, 0.3);
  const Point2 from{1.05, 1.05}, to{6.95, 2.05};
  // Without a comfort zone beyond the radius, the cost is the length.
  EXPECT_NEAR(length_of(map.path(from, to)), map.costs_from(from)[map.index_of(to)], 0.02);
}

TEST(CostMap, a_robot_too_close_to_a_wall_finds_a_path_out) {
  const CostMap map(make_map(8.0, two_rooms), 0.1, 0.3, 0.5);
  EXPECT_FALSE(map.passable(map.index_of({0.25, 1.0})));
  EXPECT_FALSE(map.path({0.25, 1.0}, {3.0, 1.0}).empty());
}

TEST(CostMap, frontiers_are_between_free_and_unknown_cells) {
  const CostMap map(make_map(8.0, [](Point2 p) { return p.x < 4.0 ? 0 : -1; }), 0.1, 0.2, 0.3);
  EXPECT_TRUE(map.frontier(map.index_of({3.95, 4.0})));
  EXPECT_FALSE(map.frontier(map.index_of({3.0, 4.0})));
  EXPECT_FALSE(map.frontier(map.index_of({5.0, 4.0})));
}

TEST(Planner, the_planner_waits_for_a_map) {
  Planner planner;
  const Drive drive = planner.update({}, 0.0);
  EXPECT_EQ(drive.speed, 0.0);
  EXPECT_EQ(planner.state(), PlannerState::kWaiting);
  EXPECT_FALSE(planner.go_to({1.0, 1.0}, {}));
}

TEST(Planner, a_goal_in_the_next_room_is_reached) {
  Planner planner;
  const GridMap map = make_map(8.0, two_rooms);
  planner.set_map(map);
  Pose2 pose{1.0, 1.0, -2.0};
  ASSERT_TRUE(planner.go_to({7.0, 1.0}, pose));
  double now = 0.0;
  while (planner.goals_reached() == 0 && now < 60.0) {
    pose = moved(pose, planner.update(pose, now), 0.05);
    now += 0.05;
    EXPECT_EQ(two_rooms(pose.position()), 0) << "drove into a wall";
  }
  EXPECT_EQ(planner.goals_reached(), 1U);
  EXPECT_LT(distance(pose.position(), Point2{7.0, 1.0}), 0.3);
}

TEST(Planner, unknown_space_is_explored_first) {
  Planner planner;
  planner.set_map(make_map(8.0, [](Point2 p) {
    if (near_edge(p, 8.0)) return 100;
    return p.x < 5.0 ? 0 : -1;
  }));
  planner.update({1.0, 4.0, 0.0}, 0.0);
  EXPECT_EQ(planner.state(), PlannerState::kExploring);
  ASSERT_TRUE(planner.goal());
  EXPECT_NEAR(planner.goal()->x, 5.0, 0.11);
}

TEST(Planner, a_patrol_of_a_known_map_reaches_every_place) {
  Planner planner;
  planner.set_map(make_map(8.0, two_rooms));
  Pose2 pose{1.0, 1.0, 0.0};
  bool right = false, back = false;
  for (double now = 0.0; now < 400.0 && !back; now += 0.05) {
    pose = moved(pose, planner.update(pose, now), 0.05);
    right |= pose.x > 6.0 && pose.y < 2.0;
    back |= right && pose.x < 3.0;
    ASSERT_EQ(two_rooms(pose.position()), 0);
  }
  EXPECT_EQ(planner.state(), PlannerState::kPatrolling);
  EXPECT_TRUE(right);
  EXPECT_TRUE(back) << "once everything has been seen it begins again";
  EXPECT_GT(planner.goals_reached(), 10U);
  EXPECT_EQ(planner.recoveries(), 0U);
}

TEST(Planner, a_stuck_robot_backs_off_and_goes_elsewhere) {
  Planner planner;
  planner.set_map(make_map(8.0, two_rooms));
  const Pose2 pose{1.0, 1.0, 0.8};  // stays the same, independent of the wheels
  bool backwards = false;
  std::optional<Point2> first;
  for (double now = 0.0; now < 8.0; now += 0.05) {
    const Drive drive = planner.update(pose, now);
    if (!first) first = planner.goal();
    backwards |= drive.speed < 0.0;
  }
  EXPECT_TRUE(backwards);
  EXPECT_GE(planner.recoveries(), 1U);
  ASSERT_TRUE(planner.goal());
  EXPECT_GT(distance(*planner.goal(), *first), 0.5);
}

TEST(Planner, a_blocked_path_is_dropped) {
  Planner planner;
  planner.set_map(make_map(8.0, two_rooms));
  const Pose2 pose{1.0, 1.0, 0.0};
  ASSERT_TRUE(planner.go_to({7.0, 1.0}, pose));
  planner.update(pose, 0.0);
  planner.set_map(make_map(
      8.0, [](Point2 p) { return near_edge(p, 8.0) || std::abs(p.x - 4.0) < 0.1 ? 100 : 0; }));
  planner.update(pose, 0.05);
  ASSERT_TRUE(planner.goal()) << "another goal, on this side";
  EXPECT_LT(planner.goal()->x, 4.0);
}

}  // namespace
}  // namespace patrol
