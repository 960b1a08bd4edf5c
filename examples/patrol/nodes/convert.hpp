#pragma once

#include <cmath>
#include <limits>

#include "grid_map.hpp"
#include "hyphos/msgs/nav.pb.h"
#include "hyphos/msgs/sensor.pb.h"
#include "pose.hpp"
#include "scan.hpp"

// Converts between the messages of the channels and the plain types of examples/patrol/core.
// REQUIRES: the input has passed unusable() of check.hpp.
namespace patrol {

inline void set_pose(const Pose2& pose, hyphos::msgs::Pose& out) {
  out.mutable_position()->set_x(pose.x);
  out.mutable_position()->set_y(pose.y);
  out.mutable_orientation()->set_z(std::sin(pose.theta / 2));
  out.mutable_orientation()->set_w(std::cos(pose.theta / 2));
}

inline Pose2 get_pose(const hyphos::msgs::Pose& pose) {
  const auto& q = pose.orientation();
  const double yaw =
      std::atan2(2 * (q.w() * q.z() + q.x() * q.y()), 1 - 2 * (q.y() * q.y() + q.z() * q.z()));
  return {pose.position().x(), pose.position().y(), yaw};
}

inline hyphos::msgs::LaserScan to_message(const Scan& scan) {
  hyphos::msgs::LaserScan out;
  out.mutable_header()->set_stamp_ns(scan.stamp_ns);
  out.mutable_header()->set_frame_id("laser");
  out.set_angle_min(static_cast<float>(scan.angle_min));
  out.set_angle_increment(static_cast<float>(scan.angle_increment));
  if (!scan.ranges.empty()) {
    out.set_angle_max(static_cast<float>(scan.angle(scan.ranges.size() - 1)));
  }
  out.set_range_min(static_cast<float>(scan.range_min));
  out.set_range_max(static_cast<float>(scan.range_max));
  out.mutable_ranges()->Assign(scan.ranges.begin(), scan.ranges.end());
  return out;
}

inline Scan from_message(const hyphos::msgs::LaserScan& in, const Pose2& mount) {
  Scan scan;
  scan.stamp_ns = in.header().stamp_ns();
  scan.angle_min = in.angle_min();
  scan.angle_increment = in.angle_increment();
  scan.range_min = in.range_min();
  // 0 means that the driver sets no limit.
  scan.range_max = in.range_max() > 0 ? static_cast<double>(in.range_max())
                                      : std::numeric_limits<double>::infinity();
  scan.mount = mount;
  scan.ranges.assign(in.ranges().begin(), in.ranges().end());
  return scan;
}

inline hyphos::msgs::OccupancyGrid to_message(const GridMap& map, std::int64_t stamp_ns) {
  hyphos::msgs::OccupancyGrid out;
  out.mutable_header()->set_stamp_ns(stamp_ns);
  out.mutable_header()->set_frame_id("map");
  out.mutable_info()->set_resolution(static_cast<float>(map.resolution_m));
  out.mutable_info()->set_width(static_cast<std::uint32_t>(map.width));
  out.mutable_info()->set_height(static_cast<std::uint32_t>(map.height));
  set_pose({map.origin.x, map.origin.y, 0}, *out.mutable_info()->mutable_origin());
  out.set_data(map.percents.data(), map.percents.size());
  return out;
}

inline GridMap from_message(const hyphos::msgs::OccupancyGrid& in) {
  GridMap map;
  map.resolution_m = in.info().resolution();
  map.width = static_cast<int>(in.info().width());
  map.height = static_cast<int>(in.info().height());
  map.origin = get_pose(in.info().origin()).position();
  map.percents.assign(in.data().begin(), in.data().end());
  return map;
}

}  // namespace patrol
