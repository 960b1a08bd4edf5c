#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "hyphos/msgs/geometry.pb.h"
#include "hyphos/msgs/log.pb.h"
#include "hyphos/msgs/nav.pb.h"
#include "hyphos/msgs/sensor.pb.h"
#include "hyphos/msgs/tf.pb.h"
#include "tests/view/panels/fake_source.hpp"

namespace hyphos::view {

/// Three seconds of a robot that drives a circle of 2 m, from `begin_ms` on: tf, odom, scan, path,
/// a camera and a log.
inline std::unique_ptr<FakeSource> robot_recording(int begin_ms = 0) {
  auto source = std::make_unique<FakeSource>();
  msgs::Path path;
  for (int ms = begin_ms; ms <= begin_ms + 3'000; ms += 50) {
    const std::int64_t stamp = FakeSource::kStart + std::int64_t{ms} * 1'000'000;
    const double angle = (ms - begin_ms) * 0.0006 + begin_ms * 0.00002;
    const double x = 2 * std::cos(angle);
    const double y = 2 * std::sin(angle);
    const double yaw = angle + M_PI / 2;
    msgs::TfMessage tf;
    const auto frame = [&](const char* parent, const char* child, double fx, double fy,
                           double fyaw) {
      auto& one = *tf.add_transforms();
      one.mutable_header()->set_stamp_ns(stamp);
      one.mutable_header()->set_frame_id(parent);
      one.set_child_frame_id(child);
      one.mutable_transform()->mutable_translation()->set_x(fx);
      one.mutable_transform()->mutable_translation()->set_y(fy);
      one.mutable_transform()->mutable_rotation()->set_z(std::sin(fyaw / 2));
      one.mutable_transform()->mutable_rotation()->set_w(std::cos(fyaw / 2));
    };
    frame("map", "odom", 0, 0, 0);
    frame("odom", "base", x, y, yaw);
    frame("base", "laser", 0.2, 0, 0);
    source->add("tf", ms, tf);
    msgs::Odometry odom;
    odom.mutable_header()->set_stamp_ns(stamp);
    odom.mutable_header()->set_frame_id("odom");
    odom.set_child_frame_id("base");
    odom.mutable_pose()->mutable_pose()->mutable_position()->set_x(x);
    odom.mutable_pose()->mutable_pose()->mutable_position()->set_y(y);
    odom.mutable_pose()->mutable_pose()->mutable_orientation()->set_z(std::sin(yaw / 2));
    odom.mutable_pose()->mutable_pose()->mutable_orientation()->set_w(std::cos(yaw / 2));
    odom.mutable_twist()->mutable_twist()->mutable_linear()->set_x(1.2 + 0.1 * std::sin(ms * 0.01));
    source->add("odom", ms, odom);
    if (ms % 100 != 0) continue;
    msgs::LaserScan scan;
    scan.mutable_header()->set_stamp_ns(stamp);
    scan.mutable_header()->set_frame_id("laser");
    scan.set_angle_min(-2);
    scan.set_angle_max(2);
    scan.set_angle_increment(0.01F);
    scan.set_range_min(0.05F);
    scan.set_range_max(20);
    for (int i = 0; i <= 400; ++i) {
      scan.add_ranges(static_cast<float>(3 + std::sin(i * 0.05 + ms * 0.002)));
    }
    source->add("scan", ms, scan);
    auto& pose = *path.add_poses();
    *pose.mutable_header() = odom.header();
    *pose.mutable_pose() = odom.pose().pose();
    *path.mutable_header() = odom.header();
    source->add("path", ms, path);
    msgs::Log log;
    log.set_level(ms % 1000 == 0 ? msgs::Log::WARN : msgs::Log::INFO);
    log.set_name(ms % 300 == 0 ? "planner" : "mapper");
    log.set_msg("at " + std::to_string(ms) + " ms the robot is at " + std::to_string(x));
    source->add("log", ms, log);
    constexpr int kWidth = 160;
    constexpr int kHeight = 120;
    msgs::Image image;
    image.mutable_header()->set_stamp_ns(stamp);
    image.mutable_header()->set_frame_id("camera");
    image.set_width(kWidth);
    image.set_height(kHeight);
    image.set_step(kWidth * 3);
    image.set_encoding("rgb8");
    std::vector<std::uint8_t> pixels;
    for (int row = 0; row < kHeight; ++row) {
      for (int column = 0; column < kWidth; ++column) {
        pixels.push_back(static_cast<std::uint8_t>(column + ms / 20));
        pixels.push_back(static_cast<std::uint8_t>(row * 2));
        pixels.push_back(static_cast<std::uint8_t>((column ^ row) & 0x40 ? 160 : 60));
      }
    }
    source->add_attached("camera", ms, image, Buffer::adopt(std::move(pixels)));
  }
  return source;
}

}  // namespace hyphos::view
