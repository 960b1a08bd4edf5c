#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "occupancy_grid.hpp"
#include "pose_graph.hpp"
#include "scan_matcher.hpp"

namespace patrol {
namespace {

constexpr double kPi = std::numbers::pi;

// An asymmetric room, as points every 3 cm.
std::vector<Point2> room() {
  std::vector<Point2> out;
  auto wall = [&](Point2 a, Point2 b) {
    const int n = static_cast<int>(distance(a, b) / 0.03);
    for (int i = 0; i <= n; ++i) {
      out.push_back({a.x + (b.x - a.x) * i / n, a.y + (b.y - a.y) * i / n});
    }
  };
  wall({-3, -2}, {4, -2});
  wall({4, -2}, {4, 3});
  wall({4, 3}, {-1, 3});
  wall({-3, 1}, {-3, -2});
  wall({1, 0.5}, {2, 1.2});
  return out;
}

// Every seventh point of the room as seen from a pose.
std::vector<Point2> seen_from(const Pose2& pose) {
  std::vector<Point2> out;
  const std::vector<Point2> points = room();
  for (std::size_t i = 0; i < points.size(); i += 7) {
    out.push_back(transform(inverse(pose), points[i]));
  }
  return out;
}

TEST(LikelihoodField, bounds_are_the_maxima_of_their_blocks) {
  const LikelihoodField field(room(), 0.1, 0.1, 4);
  std::mt19937 random(1);
  std::uniform_int_distribution<int> cell(-20, 90);
  int lit = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const int x = cell(random), y = cell(random), level = trial % 4;
    int most = 0;
    for (int dy = 0; dy < 1 << level; ++dy) {
      for (int dx = 0; dx < 1 << level; ++dx)
        most = std::max<int>(most, field.bound(0, x + dx, y + dy));
    }
    EXPECT_EQ(field.bound(level, x, y), most) << level << " at " << x << " " << y;
    lit += most > 0 ? 1 : 0;
  }
  EXPECT_GT(lit, 200);
}

TEST(LikelihoodField, bounds_hold_if_the_field_is_smaller_than_a_block) {
  const std::vector<Point2> one = {{0.0, 0.0}};
  const LikelihoodField field(one, 0.1, 0.1, 7);
  for (int y = -80; y < 40; y += 3) {
    for (int x = -80; x < 40; x += 3) {
      int most = 0;
      for (int dy = 0; dy < 64; ++dy) {
        for (int dx = 0; dx < 64; ++dx) most = std::max<int>(most, field.bound(0, x + dx, y + dy));
      }
      ASSERT_EQ(field.bound(6, x, y), most) << x << " " << y;
    }
  }
}

TEST(ScanMatcher, a_pose_far_from_the_guess_is_found) {
  const LikelihoodField field(room(), 0.05, 0.08, 6);
  const Pose2 truth{0.83, -0.41, 0.27};
  const SearchWindow window{1.5, 0.5, 0.05};
  const MatchResult coarse = search(field, seen_from(truth), {}, window);
  EXPECT_LT(distance(coarse.pose, truth), 0.1);
  EXPECT_NEAR(coarse.pose.theta, truth.theta, 0.03);
  EXPECT_GT(coarse.score, 0.6);
}

TEST(ScanMatcher, branch_and_bound_equals_exhaustive_search) {
  const std::vector<Point2> points = seen_from({0.2, 0.1, 0.05});
  const SearchWindow window{0.6, 0.1, 0.1};
  // With one level there is no pyramid: every candidate is scored.
  const MatchResult all = search(LikelihoodField(room(), 0.05, 0.08, 1), points, {}, window);
  const MatchResult bounded = search(LikelihoodField(room(), 0.05, 0.08, 5), points, {}, window);
  EXPECT_DOUBLE_EQ(all.score, bounded.score);
}

TEST(ScanMatcher, the_pose_is_refined_below_the_cell_size) {
  const LikelihoodField field(room(), 0.05, 0.08, 4);
  const Pose2 truth{0.313, -0.127, 0.083};
  const Pose2 guess = compose(truth, {0.05, -0.04, 0.02});
  const MatchResult fine =
      refine(field, seen_from(truth), {}, guess, guess, Eigen::Matrix3d::Zero());
  EXPECT_LT(distance(fine.pose, truth), 0.006);
  EXPECT_NEAR(fine.pose.theta, truth.theta, 0.002);
  EXPECT_GT(fine.information.diagonal().minCoeff(), 0.0);
}

TEST(ScanMatcher, the_prior_decides_in_directions_without_information) {
  // A straight corridor gives no information about the position along it.
  std::vector<Point2> corridor;
  for (int i = -700; i <= 700; ++i) {
    corridor.push_back({0.01 * i, 1.0});
    corridor.push_back({0.01 * i, -1.0});
  }
  const LikelihoodField field(corridor, 0.05, 0.08, 4);
  std::vector<Point2> points;
  for (int i = -30; i <= 30; ++i) {
    points.push_back({0.1 * i, 0.95});
    points.push_back({0.1 * i, -1.05});
  }
  const Eigen::Matrix3d information = Eigen::Vector3d(100.0, 100.0, 100.0).asDiagonal();
  const Pose2 prior{0.4, 0.0, 0.0};
  const MatchResult match = refine(field, points, {}, prior, prior, information);
  EXPECT_NEAR(match.pose.x, 0.4, 0.01) << "along: the prior";
  EXPECT_NEAR(match.pose.y, 0.05, 0.01) << "across: the scan";
}

TEST(ScanMatcher, the_end_of_the_known_walls_does_not_bias_the_pose) {
  std::vector<Point2> known, seen, normals;
  for (int i = 0; i <= 300; ++i) {
    known.push_back({0.01 * i, 1.0});
    known.push_back({0.01 * i, -1.0});
  }
  for (int i = 0; i <= 80; ++i) {  // extends 1 m beyond the known walls
    seen.push_back({0.05 * i, 1.0});
    seen.push_back({0.05 * i, -1.0});
    normals.insert(normals.end(), 2, {0.0, 1.0});
  }
  const LikelihoodField field(known, 0.05, 0.08, 4);
  const Eigen::Matrix3d weak = Eigen::Vector3d(10.0, 10.0, 10.0).asDiagonal();
  EXPECT_NEAR(refine(field, seen, normals, {}, {}, weak).pose.x, 0.0, 0.002);
  EXPECT_LT(refine(field, seen, {}, {}, {}, weak).pose.x, -0.01) << "what the normals are for";
}

TEST(ScanMatcher, an_empty_scan_or_map_gives_no_match) {
  const std::vector<Point2> points = {{1.0, 1.0}};
  EXPECT_EQ(search(LikelihoodField({}, 0.05, 0.08, 4), points, {}, {}).score, 0.0);
  EXPECT_EQ(search(LikelihoodField(room(), 0.05, 0.08, 4), {}, {}, {}).score, 0.0);
  const MatchResult far =
      search(LikelihoodField(room(), 0.05, 0.08, 4), points, {500.0, 500.0, 0.0}, {}, 0.1);
  EXPECT_EQ(far.score, 0.0);
  EXPECT_EQ(far.pose.x, 500.0);
}

TEST(PoseGraph, a_drifted_square_is_closed) {
  PoseGraph graph;
  const Eigen::Matrix3d information = Eigen::Matrix3d::Identity() * 100.0;
  const Pose2 side{1.0, 0.0, kPi / 2.0};
  const Pose2 drifted{1.05, 0.02, kPi / 2.0 + 0.05};
  Pose2 pose;
  graph.add_pose(pose);
  for (std::size_t i = 1; i < 4; ++i) {
    pose = compose(pose, drifted);
    graph.add_pose(pose);
    graph.add_edge({i - 1, i, side, information, false});
  }
  graph.add_edge({3, 0, side, information, true});
  EXPECT_GT(graph.optimize(), 0.05);
  EXPECT_NEAR(graph.poses()[2].x, 1.0, 1e-3);
  EXPECT_NEAR(graph.poses()[2].y, 1.0, 1e-3);
  EXPECT_EQ(graph.poses()[0].x, 0.0) << "the first pose is fixed";
  EXPECT_LT(graph.optimize(), 1e-3) << "nothing is left to do";
}

TEST(PoseGraph, a_wrong_loop_bends_the_graph_less_than_a_trusted_edge) {
  auto bent = [](bool loop) {
    PoseGraph graph;
    const Eigen::Matrix3d information = Eigen::Matrix3d::Identity() * 400.0;
    graph.add_pose({});
    for (std::size_t i = 1; i <= 20; ++i) {
      graph.add_pose({static_cast<double>(i), 0.0, 0.0});
      graph.add_edge({i - 1, i, {1.0, 0.0, 0.0}, information, false});
    }
    graph.add_edge({0, 20, {0.0, 15.0, 1.0}, information, loop});
    graph.optimize(30);
    return distance(graph.poses()[20], Pose2{20.0, 0.0, 0.0});
  };
  EXPECT_LT(bent(true), 2.0);
  EXPECT_GT(bent(false), 10.0);
}

TEST(PoseGraph, travel_is_measured_along_the_edges) {
  PoseGraph graph;
  for (int i = 0; i < 4; ++i) graph.add_pose({});
  const Eigen::Matrix3d information = Eigen::Matrix3d::Identity();
  graph.add_edge({0, 1, {3.0, 4.0, 0.0}, information, false});
  graph.add_edge({1, 2, {1.0, 0.0, 0.0}, information, false});
  const std::vector<double> travel = graph.travel_from(0, 5.5);
  EXPECT_DOUBLE_EQ(travel[1], 5.0);
  EXPECT_TRUE(std::isinf(travel[2])) << "beyond the limit";
  EXPECT_TRUE(std::isinf(travel[3])) << "not joined";
}

Scan fan(std::vector<float> ranges) {
  Scan scan;
  scan.angle_min = -0.2;
  scan.angle_increment = 0.1;
  scan.range_min = 0.1;
  scan.range_max = 10.0;
  scan.ranges = std::move(ranges);
  return scan;
}

TEST(OccupancyGrid, beams_clear_their_path_and_fill_their_end) {
  OccupancyGrid grid;
  const Scan scan = fan({2.0F, 2.0F, 2.0F, 2.0F, 2.0F});
  for (int i = 0; i < 3; ++i) grid.integrate(scan, {-0.48, 0.32, 0.0});
  EXPECT_GT(grid.probability(grid.cell_x(1.52), grid.cell_y(0.32)), 0.9);
  EXPECT_LT(grid.probability(grid.cell_x(0.72), grid.cell_y(0.32)), 0.25);
  EXPECT_FALSE(grid.known(grid.cell_x(1.82), grid.cell_y(0.32))) << "behind the wall";
  const GridMap map = grid.snapshot();
  EXPECT_GT(map.percent(map.cell_x(1.52), map.cell_y(0.32)), 90);
  EXPECT_EQ(map.percent(map.cell_x(1.82), map.cell_y(0.32)), -1);
}

TEST(OccupancyGrid, the_grid_grows_without_losing_cells) {
  OccupancyGrid grid;
  const Scan scan = fan({2.0F, 2.0F, 2.0F, 2.0F, 2.0F});
  grid.integrate(scan, {0.0, 0.0, 0.0});
  const double before = grid.probability(grid.cell_x(2.0), grid.cell_y(0.0));
  EXPECT_GT(before, 0.5);
  const int width = grid.width();
  grid.integrate(scan, {-40.0, -30.0, 0.0});
  grid.integrate(scan, {40.0, 50.0, 0.0});
  EXPECT_GT(grid.width(), width);
  EXPECT_DOUBLE_EQ(grid.probability(grid.cell_x(2.0), grid.cell_y(0.0)), before);
  EXPECT_GT(grid.probability(grid.cell_x(-38.0), grid.cell_y(-30.0)), 0.5);
}

TEST(OccupancyGrid, cells_outside_the_maximum_extent_are_counted) {
  GridConfig config;
  config.max_extent_m = 20.0;
  OccupancyGrid grid(config);
  grid.integrate(fan({9.0F, 9.0F, 9.0F, 9.0F, 9.0F}), {5.0, 0.0, 0.0});
  EXPECT_EQ(grid.dropped_outside(), 5U);
  grid.integrate(fan({1.0F}), {1e9, 0.0, 0.0});
  EXPECT_EQ(grid.dropped_outside(), 6U);
  EXPECT_EQ(grid.width(), 0) << "nothing was drawn, nothing allocated";
}

TEST(OccupancyGrid, invalid_ranges_are_ignored) {
  OccupancyGrid grid;
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  grid.integrate(fan({inf, nan, -1.0F, 0.01F, 10.0F, 1e30F}), {});
  EXPECT_EQ(grid.width(), 0);
}

}  // namespace
}  // namespace patrol
