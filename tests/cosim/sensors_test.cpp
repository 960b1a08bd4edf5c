// The sensors of simulated robots, against closed formulas.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "cosim/sense/rays.hpp"
#include "cosim/sense/robot_sensors.hpp"
#include "hyphos/msgs/sensor.pb.h"
#include "hyphos/msgs/tf.pb.h"

namespace hyphos::cosim {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kNothing = std::numeric_limits<double>::infinity();
constexpr double kBody = 0.3;

Pose at(double x, double y, double yaw = 0) { return {{x, y, 0.5}, {}, about_z(yaw), {}}; }

Rays rays(std::uint32_t count) {
  Rays made{{}, 20, {}};
  for (std::uint32_t i = 0; i < count; ++i) {
    const double angle = -kPi + 2 * kPi / count * i;
    made.directions.push_back({std::cos(angle), std::sin(angle), 0});
  }
  return made;
}

SensorOptions lidar(std::uint32_t count) {
  SensorOptions options;
  options.kind = SensorKind::lidar;
  options.channel = "scan";
  options.frame = "lidar";
  options.rate_hz = 10;
  options.rays = count;
  options.from = -kPi;
  options.to = kPi - 2 * kPi / count;
  options.range_m = 20;
  return options;
}

template <typename T>
T parsed(const Reading& reading) {
  T message;
  const auto bytes = reading.message.bytes();
  EXPECT_TRUE(message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  return message;
}

TEST(CosimRays, ranges_in_a_room_are_those_of_its_walls) {
  const Scene room({{{-5, 3, 0}, {5, 4, 2}, 0},
                    {{-5, -4, 0}, {5, -3, 2}, 0},
                    {{5, -4, 0}, {6, 4, 2}, 0},
                    {{-6, -4, 0}, {-5, 4, 2}, 0}});
  for (const double yaw : {0.0, 0.3, -2.0}) {
    const std::vector<Pose> poses{at(1, 0.5, yaw)};
    const auto ranges = cast_rays(room, poses, 0, rays(360), kBody);
    ASSERT_EQ(ranges.size(), 360U);
    for (std::uint32_t i = 0; i < ranges.size(); ++i) {
      const double angle = -kPi + 2 * kPi / 360 * i + yaw;
      const double dx = std::cos(angle);
      const double dy = std::sin(angle);
      const double to_x = dx > 0 ? (5 - 1) / dx : dx < 0 ? (-5 - 1) / dx : kNothing;
      const double to_y = dy > 0 ? (3 - 0.5) / dy : dy < 0 ? (-3 - 0.5) / dy : kNothing;
      EXPECT_NEAR(ranges[i], std::min(to_x, to_y), 1e-6) << "ray " << i << ", yaw " << yaw;
    }
  }
}

TEST(CosimRays, a_robot_is_a_cylinder) {
  const Scene empty;
  const std::vector<Pose> poses{at(0, 0), at(4, 0)};
  const auto ranges = cast_rays(empty, poses, 0, rays(4), kBody);  // back, right, ahead, left
  EXPECT_NEAR(ranges[2], 4 - kBody, 1e-9);
  EXPECT_EQ(ranges[0], kNothing);
  EXPECT_EQ(ranges[1], kNothing);
  EXPECT_EQ(cast_rays(empty, poses, 0, rays(4), 0)[2], kNothing);
}

TEST(CosimRays, a_robot_far_above_the_scanner_is_not_in_its_plane) {
  std::vector<Pose> poses{at(0, 0), at(4, 0)};
  poses[1].position.z = 5;
  EXPECT_EQ(cast_rays(Scene{}, poses, 0, rays(4), kBody)[2], kNothing);
}

TEST(CosimRays, a_scanner_inside_a_box_measures_zero) {
  const Scene block({{{-1, -1, 0}, {1, 1, 2}, 0}});
  for (const double range : cast_rays(block, std::vector<Pose>{at(0, 0)}, 0, rays(8), kBody)) {
    EXPECT_EQ(range, 0);
  }
}

TEST(CosimRays, a_low_wall_is_under_the_rays_and_a_low_mount_sees_it) {
  const Scene kerb({{{3, -5, 0}, {4, 5, 0.4}, 0}});
  const std::vector<Pose> poses{at(0, 0)};
  Rays all = rays(4);
  EXPECT_EQ(cast_rays(kerb, poses, 0, all, kBody)[2], kNothing);
  all.mount = {0.5, 0, -0.2};
  EXPECT_NEAR(cast_rays(kerb, poses, 0, all, kBody)[2], 2.5, 1e-9);
}

TEST(CosimRays, a_tilted_scanner_sees_the_ground) {
  Pose pose = at(0, 0);
  const double pitch = 0.1;  // nose down: about the y axis
  pose.orientation = {0, std::sin(pitch / 2), 0, std::cos(pitch / 2)};
  const auto ranges = cast_rays(Scene{}, std::vector<Pose>{pose}, 0, rays(4), kBody);
  EXPECT_NEAR(ranges[2], 0.5 / std::sin(pitch), 1e-6);
  EXPECT_EQ(ranges[0], kNothing);
}

/// Physics that draws: the red of each pixel is its column, and its depth is its row.
class Painter final : public Physics {
 public:
  Result<void> init(std::uint32_t, std::uint64_t) override { return success(); }
  Result<void> advance(Time) override { return success(); }
  Time next_event_time() const override { return kNever; }
  std::span<const Pose> poses() const override { return {}; }
  Result<Picture> look(NodeId robot, const View& view) override {
    ++pictures;
    seen = view;
    last = robot;
    Picture picture;
    for (std::uint32_t i = 0; i < view.width * view.height; ++i) {
      picture.rgb.insert(picture.rgb.end(), {std::byte(i % view.width), {}, {}});
      if (view.depth) picture.depth.push_back(static_cast<float>(i / view.width));
    }
    return picture;
  }
  int pictures = 0;
  NodeId last = 99;
  View seen{};
};

struct Sensing {
  explicit Sensing(const std::vector<RobotSensing>& robots, std::uint64_t seed = 1)
      : sensors(RobotSensors::make({&physics, &scene, false, seed}, robots).or_throw()) {}
  std::vector<Reading> read(NodeId robot, std::int64_t ms) {
    std::vector<Reading> readings;
    EXPECT_TRUE(sensors->read(robot, Time{ms * 1'000'000}, poses, readings).ok());
    return readings;
  }
  Scene scene{{{{3, -100, 0}, {4, 100, 2}, 0}}};
  Painter physics;
  std::vector<Pose> poses{at(0, 0), at(0, 9)};
  std::unique_ptr<RobotSensors> sensors;
};

TEST(CosimSensors, the_message_of_a_lidar_is_a_laser_scan) {
  Sensing sensing({{{lidar(4)}}, {}});
  EXPECT_EQ(sensing.sensors->next(0), Time{0});
  EXPECT_EQ(sensing.sensors->next(1), kNever);
  EXPECT_TRUE(sensing.sensors->channels(1).empty());
  const auto readings = sensing.read(0, 250);
  ASSERT_EQ(readings.size(), 1U);
  EXPECT_EQ(sensing.sensors->next(0), Time{300'000'000});
  const auto scan = parsed<msgs::LaserScan>(readings[0]);
  EXPECT_EQ(scan.header().stamp_ns(), 250'000'000);
  EXPECT_EQ(scan.header().frame_id(), "lidar");
  EXPECT_FLOAT_EQ(scan.angle_min(), static_cast<float>(-kPi));
  EXPECT_FLOAT_EQ(scan.scan_time(), 0.1F);
  EXPECT_FLOAT_EQ(scan.range_max(), 20);
  ASSERT_EQ(scan.ranges_size(), 4);
  EXPECT_FLOAT_EQ(scan.ranges(2), 3);
}

TEST(CosimSensors, noise_has_the_deviation_asked_for_and_depends_on_the_seed_only) {
  SensorOptions options = lidar(1);
  options.from = options.to = 0;
  options.rate_hz = 1000;
  options.noise = 0.1;
  const auto sample = [&](std::uint64_t seed) {
    Sensing sensing({{{options}}}, seed);
    std::vector<float> all;
    for (int i = 0; i < 4000; ++i) {
      all.push_back(parsed<msgs::LaserScan>(sensing.read(0, i).at(0)).ranges(0));
    }
    return all;
  };
  const auto first = sample(1);
  EXPECT_EQ(first, sample(1));
  EXPECT_NE(first, sample(2));
  double sum = 0;
  double squares = 0;
  for (const float range : first) {
    sum += range - 3;
    squares += (range - 3) * (range - 3);
  }
  EXPECT_NEAR(sum / 4000, 0, 4 * 0.1 / std::sqrt(4000));
  EXPECT_NEAR(std::sqrt(squares / 4000), 0.1, 4 * 0.1 / std::sqrt(8000));
}

SensorOptions camera(bool depth) {
  SensorOptions options;
  options.kind = SensorKind::camera;
  options.channel = "front/image";
  options.frame = "camera";
  options.rate_hz = 10;
  options.width = 20;
  options.height = 10;
  options.fov = kPi / 2;
  options.depth = depth;
  options.mount = {0.3, 0, 0.4};
  return options;
}

TEST(CosimSensors, a_camera_has_pixels_intrinsics_and_depth) {
  Sensing sensing({{{camera(true)}}});
  const auto channels = sensing.sensors->channels(0);
  ASSERT_EQ(channels.size(), 3U);
  EXPECT_EQ(channels[0].name, "front/image");
  EXPECT_EQ(channels[1].name, "front/camera_info");
  EXPECT_EQ(channels[2].name, "front/depth");
  EXPECT_EQ(channels[2].type.name, "hyphos.msgs.Image");
  const auto readings = sensing.read(0, 300);
  ASSERT_EQ(readings.size(), 3U);
  for (const Reading& reading : readings) {
    if (reading.sensor == 1) {
      const auto info = parsed<msgs::CameraInfo>(reading);
      ASSERT_EQ(info.k_size(), 9);
      EXPECT_NEAR(info.k(0), 10, 1e-9) << "half of the width at 90 degrees";
      EXPECT_NEAR(info.k(2), 9.5, 1e-9);
      EXPECT_NEAR(info.k(5), 4.5, 1e-9);
      EXPECT_EQ(info.p_size(), 12);
      EXPECT_EQ(info.d_size(), 5);
      EXPECT_EQ(info.distortion_model(), "plumb_bob");
      EXPECT_TRUE(reading.attached.empty());
      continue;
    }
    const auto image = parsed<msgs::Image>(reading);
    EXPECT_EQ(image.header().stamp_ns(), 300'000'000);
    EXPECT_EQ(image.header().frame_id(), "camera");
    EXPECT_EQ(image.width(), 20U);
    EXPECT_EQ(image.height(), 10U);
    ASSERT_EQ(reading.attached.size(), 1U);
    EXPECT_EQ(reading.attached[0].size(), image.step() * image.height());
    if (reading.sensor == 0) {
      EXPECT_EQ(image.encoding(), "rgb8");
      EXPECT_EQ(std::to_integer<int>(reading.attached[0].data()[3 * 27]), 7);
    } else {
      EXPECT_EQ(image.encoding(), "32FC1");
      EXPECT_EQ(reading.attached[0].as<float>()[45], 2);
    }
  }
  EXPECT_EQ(sensing.physics.pictures, 1) << "image and depth are one picture";
}

TEST(CosimSensors, no_picture_is_drawn_for_channels_without_subscribers) {
  Sensing sensing({{{camera(true)}}});
  sensing.sensors->leave_out(0, 2);
  EXPECT_EQ(sensing.read(0, 0).size(), 2U);
  EXPECT_FALSE(sensing.physics.seen.depth);
  sensing.sensors->leave_out(0, 0);
  EXPECT_EQ(sensing.read(0, 100).size(), 1U);
  EXPECT_EQ(sensing.physics.pictures, 1);
  sensing.sensors->leave_out(0, 1);
  EXPECT_EQ(sensing.sensors->next(0), kNever);
}

TEST(CosimSensors, the_places_of_sensors_are_told_once) {
  SensorOptions eye = camera(false);
  eye.aim = about_z(kPi / 2);
  SensorOptions beside = lidar(4);
  beside.mount = {0, 0.1, 0.2};
  Sensing sensing({{{eye, beside}, "base", true}});
  const auto channels = sensing.sensors->channels(0);
  ASSERT_EQ(channels.size(), 4U);
  EXPECT_EQ(channels[3].name, "tf_static");
  EXPECT_TRUE(channels[3].latched);
  const auto readings = sensing.read(0, 0);
  const auto found = std::ranges::find(readings, 3U, &Reading::sensor);
  ASSERT_NE(found, readings.end());
  const auto places = parsed<msgs::TfMessage>(*found);
  ASSERT_EQ(places.transforms_size(), 2);
  EXPECT_EQ(places.transforms(0).header().frame_id(), "base");
  EXPECT_EQ(places.transforms(0).child_frame_id(), "camera");
  EXPECT_NEAR(places.transforms(1).transform().translation().z(), 0.2, 1e-12);
  EXPECT_NEAR(places.transforms(1).transform().rotation().w(), 1, 1e-12);
  // The camera looks to the left: its optical axis z is y of the robot, its x is x, its y is −z.
  const auto& r = places.transforms(0).transform().rotation();
  const Quaternion optical{r.x(), r.y(), r.z(), r.w()};
  EXPECT_NEAR(length(turned(optical, {0, 0, 1}) - Vec3{0, 1, 0}), 0, 1e-12);
  EXPECT_NEAR(length(turned(optical, {1, 0, 0}) - Vec3{1, 0, 0}), 0, 1e-12);
  EXPECT_NEAR(length(turned(optical, {0, 1, 0}) - Vec3{0, 0, -1}), 0, 1e-12);
  for (const Reading& reading : sensing.read(0, 100)) EXPECT_NE(reading.sensor, 3U);
}

TEST(CosimSensors, a_channel_survives_as_a_word) {
  RobotSensing robot{{lidar(4), camera(true)}, "base", true};
  for (const SensorChannel& channel : channels_of(robot)) {
    const auto read = sensor_of(to_word(channel)).or_throw();
    EXPECT_EQ(read.name, channel.name);
    EXPECT_EQ(read.type, channel.type);
    EXPECT_EQ(read.latched, channel.latched);
  }
  EXPECT_FALSE(sensor_of("scan").ok());
}

}  // namespace
}  // namespace hyphos::cosim
