// The laser scanner of simulated robots, against closed formulas.
#include "cosim/sense/scan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "hyphos/msgs/sensor.pb.h"

namespace hyphos::cosim {
namespace {

constexpr double kPi = std::numbers::pi;

Pose at(double x, double y, double yaw = 0) { return {{x, y, 0.5}, {}, about_z(yaw), {}}; }

ScanOptions scanner(std::uint32_t beams = 360) {
  ScanOptions options;
  options.beams = beams;
  options.from = -kPi;
  options.to = kPi - 2 * kPi / beams;
  return options;
}

TEST(CosimScan, ranges_in_a_room_are_those_of_its_walls) {
  const Scene room({{{-5, 3, 0}, {5, 4, 2}, 0},
                    {{-5, -4, 0}, {5, -3, 2}, 0},
                    {{5, -4, 0}, {6, 4, 2}, 0},
                    {{-6, -4, 0}, {-5, 4, 2}, 0}});
  for (const double yaw : {0.0, 0.3, -2.0}) {
    const std::vector<Pose> poses{at(1, 0.5, yaw)};
    const auto options = scanner();
    const auto ranges = scan_ranges(room, poses, 0, options);
    ASSERT_EQ(ranges.size(), 360U);
    for (std::uint32_t i = 0; i < ranges.size(); ++i) {
      const double angle = options.from + 2 * kPi / 360 * i + yaw;
      const double dx = std::cos(angle);
      const double dy = std::sin(angle);
      const double far = std::numeric_limits<double>::infinity();
      const double to_x = dx > 0 ? (5 - 1) / dx : dx < 0 ? (-5 - 1) / dx : far;
      const double to_y = dy > 0 ? (3 - 0.5) / dy : dy < 0 ? (-3 - 0.5) / dy : far;
      EXPECT_NEAR(ranges[i], std::min(to_x, to_y), 1e-4) << "beam " << i << ", yaw " << yaw;
    }
  }
}

TEST(CosimScan, a_robot_is_a_cylinder) {
  const Scene empty;
  const std::vector<Pose> poses{at(0, 0), at(4, 0)};
  const auto ranges = scan_ranges(empty, poses, 0, scanner(4));  // back, right, ahead, left
  EXPECT_FLOAT_EQ(ranges[2], 4 - 0.3F);
  EXPECT_EQ(ranges[0], std::numeric_limits<float>::infinity());
  EXPECT_EQ(ranges[1], std::numeric_limits<float>::infinity());
  ScanOptions blind = scanner(4);
  blind.body_m = 0;
  EXPECT_EQ(scan_ranges(empty, poses, 0, blind)[2], std::numeric_limits<float>::infinity());
}

TEST(CosimScan, a_robot_far_above_the_scanner_is_not_in_its_plane) {
  const Scene empty;
  std::vector<Pose> poses{at(0, 0), at(4, 0)};
  poses[1].position.z = 5;
  EXPECT_EQ(scan_ranges(empty, poses, 0, scanner(4))[2], std::numeric_limits<float>::infinity());
}

TEST(CosimScan, a_scanner_inside_a_box_measures_zero) {
  const Scene block({{{-1, -1, 0}, {1, 1, 2}, 0}});
  for (const float range : scan_ranges(block, std::vector<Pose>{at(0, 0)}, 0, scanner(8))) {
    EXPECT_EQ(range, 0);
  }
}

TEST(CosimScan, a_low_wall_is_under_the_beams) {
  const Scene kerb({{{3, -5, 0}, {4, 5, 0.4}, 0}});
  EXPECT_EQ(scan_ranges(kerb, std::vector<Pose>{at(0, 0)}, 0, scanner(4))[2],
            std::numeric_limits<float>::infinity());
}

TEST(CosimScan, a_tilted_scanner_sees_the_ground) {
  Pose pose = at(0, 0);
  const double pitch = 0.1;  // nose down: about the y axis
  pose.orientation = {0, std::sin(pitch / 2), 0, std::cos(pitch / 2)};
  const auto ranges = scan_ranges(Scene{}, std::vector<Pose>{pose}, 0, scanner(4));
  EXPECT_NEAR(ranges[2], 0.5 / std::sin(pitch), 1e-4);
  EXPECT_EQ(ranges[0], std::numeric_limits<float>::infinity());
}

TEST(CosimScan, the_message_is_a_laser_scan) {
  const Scene wall({{{3, -5, 0}, {4, 5, 2}, 0}});
  ScanOptions options = scanner(4);
  options.rate_hz = 10;
  auto scans = Scans::make(wall, {options, std::nullopt}, 1).or_throw();
  const std::vector<Pose> poses{at(0, 0), at(0, 9)};
  EXPECT_EQ(scans->next(0), Time{0});
  EXPECT_EQ(scans->next(1), kNever);
  EXPECT_TRUE(scans->channels(1).empty());
  std::vector<Reading> readings;
  ASSERT_TRUE(scans->read(0, Time{250'000'000}, poses, readings).ok());
  ASSERT_EQ(readings.size(), 1U);
  EXPECT_EQ(scans->next(0), Time{300'000'000});
  msgs::LaserScan scan;
  const auto bytes = readings[0].message.bytes();
  ASSERT_TRUE(scan.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  EXPECT_EQ(scan.header().stamp_ns(), 250'000'000);
  EXPECT_EQ(scan.header().frame_id(), "base");
  EXPECT_FLOAT_EQ(scan.angle_min(), static_cast<float>(-kPi));
  EXPECT_FLOAT_EQ(scan.scan_time(), 0.1F);
  EXPECT_FLOAT_EQ(scan.range_max(), 20);
  ASSERT_EQ(scan.ranges_size(), 4);
  EXPECT_FLOAT_EQ(scan.ranges(2), 3);
}

TEST(CosimScan, noise_has_the_deviation_asked_for_and_depends_on_the_seed_only) {
  const Scene wall({{{5, -100, 0}, {6, 100, 2}, 0}});
  ScanOptions options = scanner(1);
  options.from = options.to = 0;
  options.rate_hz = 1000;
  options.noise_m = 0.1;
  const std::vector<Pose> poses{at(0, 0)};
  const auto sample = [&](std::uint64_t seed) {
    auto scans = Scans::make(wall, {options}, seed).or_throw();
    std::vector<float> all;
    for (int i = 0; i < 4000; ++i) {
      std::vector<Reading> readings;
      EXPECT_TRUE(scans->read(0, Time{i * 1'000'000LL}, poses, readings).ok());
      msgs::LaserScan scan;
      const auto bytes = readings.at(0).message.bytes();
      EXPECT_TRUE(scan.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
      all.push_back(scan.ranges(0));
    }
    return all;
  };
  const auto first = sample(1);
  EXPECT_EQ(first, sample(1));
  EXPECT_NE(first, sample(2));
  double sum = 0;
  double squares = 0;
  for (const float range : first) {
    sum += range - 5;
    squares += (range - 5) * (range - 5);
  }
  EXPECT_NEAR(sum / 4000, 0, 4 * 0.1 / std::sqrt(4000));
  EXPECT_NEAR(std::sqrt(squares / 4000), 0.1, 4 * 0.1 / std::sqrt(8000));
}

}  // namespace
}  // namespace hyphos::cosim
