#include "mapper.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "planner.hpp"
#include "simulator.hpp"

namespace patrol {
namespace {

struct Ride {
  double worst_m = 0.0;
  double worst_rad = 0.0;
  double odometry_m = 0.0;  // error of the odometry at the end
};

// Drives the robot with the planner for some time, builds a map and compares it with the truth.
Ride ride(Simulator& sim, Mapper& mapper, const Pose2& start, double seconds) {
  Ride out;
  Planner planner;
  for (int tick = 0; tick < static_cast<int>(seconds * 20.0); ++tick) {
    for (int i = 0; i < 5; ++i) sim.step(0.01);
    const Pose2 pose = mapper.add_scan(sim.scan(), sim.odometry());
    out.worst_m = std::max(out.worst_m, distance(pose, sim.truth()));
    out.worst_rad = std::max(out.worst_rad, std::abs(wrap_angle(pose.theta - sim.truth().theta)));
    if (tick % 10 == 0) planner.set_map(mapper.grid().snapshot());
    const Drive drive = planner.update(pose, static_cast<double>(sim.now_ns()) * 1e-9);
    sim.command(drive.speed, drive.turn_rate);
  }
  out.odometry_m = distance(compose(start, sim.odometry()), sim.truth());
  return out;
}

TEST(Mapper, the_map_follows_the_robot_and_has_the_walls_in_place) {
  const World world = World::building();
  SimulatorConfig config;
  config.turn_scale = 0.94;  // an odometry with an error of metres
  Simulator sim(world, config);
  MapperConfig mapper_config;
  mapper_config.start = config.start;
  Mapper mapper(mapper_config);
  const Ride result = ride(sim, mapper, config.start, 45.0);
  EXPECT_GT(result.odometry_m, 0.5) << "the test is worth little if wheels alone would do";
  EXPECT_LT(result.worst_m, 0.15);
  EXPECT_LT(result.worst_rad, 0.03);
  EXPECT_EQ(mapper.stats().unmatched, 0U);

  mapper.finish();
  const OccupancyGrid& grid = mapper.grid();
  int walls = 0, misplaced = 0, free = 0, blocked = 0;
  for (int y = 0; y < grid.height(); ++y) {
    for (int x = 0; x < grid.width(); ++x) {
      if (!grid.known(x, y)) continue;
      const double p = grid.probability(x, y);
      const double clearance = world.clearance(grid.center(x, y));
      if (p > 0.7) ++walls, misplaced += clearance > 0.15 ? 1 : 0;
      if (p < 0.3) ++free;
      if (p < 0.3 && clearance == 0.0) ++blocked;
    }
  }
  EXPECT_GT(walls, 800);
  EXPECT_GT(free, 10'000);
  EXPECT_LT(misplaced, walls / 50);
  EXPECT_LT(blocked, free / 100);
}

TEST(Mapper, the_trajectory_is_the_driven_path) {
  const World world = World::building();
  SimulatorConfig config;
  Simulator sim(world, config);
  MapperConfig mapper_config;
  mapper_config.start = config.start;
  Mapper mapper(mapper_config);
  sim.command(0.5, 0.0);
  for (int tick = 0; tick < 100; ++tick) {
    for (int i = 0; i < 5; ++i) sim.step(0.01);
    mapper.add_scan(sim.scan(), sim.odometry());
  }
  const std::vector<Pose2> way = mapper.trajectory();
  ASSERT_GT(way.size(), 20U);
  EXPECT_LT(distance(way.front(), config.start), 0.2);
  EXPECT_LT(distance(way.back(), sim.truth()), 0.1);
  for (std::size_t i = 1; i < way.size(); ++i) EXPECT_LT(distance(way[i - 1], way[i]), 0.12);
}

// A ring of four corridors around a core: the robot revisits the first place after 40 m.
World ring() {
  auto block = [](double x0, double y0, double x1, double y1) {
    return Block{{x0, y0}, {x1, y1}, 2.5, {200, 200, 200}};
  };
  return World({block(-0.1, 0, 0, 12), block(12, 0, 12.1, 12), block(0, -0.1, 12, 0),
                block(0, 12, 12, 12.1), block(2, 2, 10, 10), block(4, 0, 4.4, 0.5),
                block(11.4, 3, 12, 3.3), block(7, 11.6, 7.5, 12), block(0, 7, 0.4, 8)});
}

// Follows the middle of the ring's corridors, counter-clockwise.
Drive along_ring(const Pose2& pose) {
  const Point2 corners[] = {{11, 1}, {11, 11}, {1, 11}, {1, 1}};
  std::size_t next = 0;
  if (pose.x > 10 && pose.y < 10)
    next = 1;
  else if (pose.y > 10 && pose.x > 2)
    next = 2;
  else if (pose.x < 2 && pose.y > 2)
    next = 3;
  const Point2 seen = transform(inverse(pose), corners[next]);
  const double bearing = std::atan2(seen.y, seen.x);
  return {std::abs(bearing) > 0.5 ? 0.1 : 0.8, 2.0 * bearing};
}

TEST(Mapper, the_loop_is_closed_after_a_round) {
  const World world = ring();
  SimulatorConfig config;
  config.start = {1.5, 1.0, 0.0};
  config.laser_range_m = 4.0;  // too short to see the end of the corridor
  config.turn_scale = 0.95;
  Simulator sim(world, config);
  MapperConfig mapper_config;
  mapper_config.start = config.start;
  Mapper mapper(mapper_config);
  // A bare corridor gives no information about the position along it. So the pose has the error of
  // the odometry until the start is seen again.
  double before = 0.0;
  int after_closing = 0;
  for (int tick = 0; tick < 20 * 75 && after_closing < 20; ++tick) {
    for (int i = 0; i < 5; ++i) sim.step(0.01);
    mapper.add_scan(sim.scan(), sim.odometry());
    if (mapper.stats().loops_closed == 0) {
      before = std::max(before, distance(mapper.pose(), sim.truth()));
    } else {
      ++after_closing;
    }
    const Drive drive = along_ring(sim.truth());
    sim.command(drive.speed, drive.turn_rate);
  }
  EXPECT_GT(distance(compose(config.start, sim.odometry()), sim.truth()), 0.5);
  ASSERT_GE(mapper.stats().loops_closed, 1U);
  EXPECT_GT(before, 0.2);
  EXPECT_LT(distance(mapper.pose(), sim.truth()), 0.1);
  const std::uint64_t revision = mapper.revision();
  mapper.finish();
  EXPECT_GT(mapper.revision(), revision);
  EXPECT_LT(distance(mapper.pose(), sim.truth()), 0.1);
}

TEST(Mapper, the_number_of_scans_is_limited_and_localisation_works) {
  const World world = World::building();
  SimulatorConfig config;
  Simulator sim(world, config);
  MapperConfig mapper_config;
  mapper_config.start = config.start;
  mapper_config.max_keyframes = 5;
  Mapper mapper(mapper_config);
  sim.command(0.5, 0.0);
  for (int tick = 0; tick < 120; ++tick) {
    for (int i = 0; i < 5; ++i) sim.step(0.01);
    mapper.add_scan(sim.scan(), sim.odometry());
  }
  EXPECT_EQ(mapper.stats().keyframes, 5U);
  EXPECT_LT(distance(mapper.pose(), sim.truth()), 0.15);
}

TEST(Mapper, a_robot_at_rest_keeps_one_scan) {
  const World world = World::building();
  Simulator sim(world);
  Mapper mapper;
  for (int i = 0; i < 50; ++i) mapper.add_scan(sim.scan(), sim.odometry());
  EXPECT_EQ(mapper.stats().keyframes, 1U);
  EXPECT_EQ(mapper.stats().scans, 50U);
  EXPECT_LT(distance(mapper.pose(), Pose2{}), 0.02);
}

TEST(Mapper, the_odometry_is_used_when_the_laser_sees_nothing) {
  const World world = World::building();
  Simulator sim(world);
  Mapper mapper;
  Scan scan = sim.scan();
  mapper.add_scan(scan, {});
  for (float& r : scan.ranges) r = std::numeric_limits<float>::infinity();
  mapper.add_scan(scan, {0.5, 0.0, 0.0});
  mapper.add_scan(scan, {1.0, 0.0, 0.0});
  EXPECT_NEAR(mapper.pose().x, 1.0, 1e-9);
  EXPECT_EQ(mapper.stats().unmatched, 2U);
  EXPECT_EQ(mapper.stats().keyframes, 1U);
  scan.ranges.clear();
  mapper.add_scan(scan, {1.0, 0.0, 0.0});
  EXPECT_NEAR(mapper.pose().x, 1.0, 1e-9);
}

TEST(Mapper, mapping_is_deterministic) {
  const World world = World::building();
  auto run = [&] {
    SimulatorConfig config;
    Simulator sim(world, config);
    Mapper mapper;
    ride(sim, mapper, config.start, 5.0);
    return std::make_pair(mapper.pose().x, mapper.grid().snapshot().percents);
  };
  EXPECT_EQ(run(), run());
}

}  // namespace
}  // namespace patrol
