#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "hyphos/msgs/nav.pb.h"
#include "hyphos/msgs/sensor.pb.h"

// Checks of messages. Each function returns the reason why a message cannot be used, or "" if it
// can. The algorithms of examples/patrol/core must never receive unset fields, a NaN, or a size
// that does not match the data.
namespace patrol {

inline constexpr double kFarthest = 1e6;                // m from the origin, for any position
inline constexpr double kWidestSweep = 12.6;            // rad: two turns
inline constexpr int kMostRanges = 16'384;              // of a scan
inline constexpr std::uint64_t kMostCells = 1U << 26U;  // of a map: 400 m by 400 m at 5 cm

// Drivers that set no stamp leave 0. Differences of two stamps must fit into 64 bits.
inline std::string_view unusable_stamp(std::int64_t stamp_ns) {
  if (stamp_ns == 0) return "the stamp is 0, which means unset";
  if (std::abs(stamp_ns / 2) >= std::int64_t{1} << 61U) return "the stamp is out of range";
  return "";
}

inline std::string_view unusable(const hyphos::msgs::Pose& pose) {
  const auto& p = pose.position();
  // Written so that NaN is refused.
  const bool near = std::abs(p.x()) <= kFarthest && std::abs(p.y()) <= kFarthest;
  if (!near || !std::isfinite(p.z())) return "the position is not finite, or beyond 1000 km";
  const auto& q = pose.orientation();
  const double norm2 = q.x() * q.x() + q.y() * q.y() + q.z() * q.z() + q.w() * q.w();
  if (norm2 == 0) return "the orientation is all zeros, which means unset";
  if (!(std::abs(norm2 - 1) < 0.1)) return "the orientation is not a unit quaternion";
  return "";
}

inline std::string_view unusable(const hyphos::msgs::PoseStamped& message) {
  const std::string_view stamp = unusable_stamp(message.header().stamp_ns());
  return stamp.empty() ? unusable(message.pose()) : stamp;
}

inline std::string_view unusable(const hyphos::msgs::Odometry& message) {
  const std::string_view stamp = unusable_stamp(message.header().stamp_ns());
  return stamp.empty() ? unusable(message.pose().pose()) : stamp;
}

inline std::string_view unusable(const hyphos::msgs::Twist& twist) {
  const bool finite = std::isfinite(twist.linear().x()) && std::isfinite(twist.angular().z());
  return finite ? "" : "the speed is not finite";
}

// range_max 0 means unset, which is no limit: see from_message(). Single ranges may have any value:
// a range that is not finite or outside the limits is no return.
inline std::string_view unusable(const hyphos::msgs::LaserScan& scan) {
  if (const std::string_view stamp = unusable_stamp(scan.header().stamp_ns()); !stamp.empty()) {
    return stamp;
  }
  const int count = scan.ranges_size();
  if (count == 0) return "it has no ranges";
  if (count > kMostRanges) return "it has more than 16384 ranges";
  const double first = scan.angle_min(), step = scan.angle_increment(), last = scan.angle_max();
  if (!std::isfinite(first) || !std::isfinite(step) || !std::isfinite(last)) {
    return "an angle is not finite";
  }
  if (step == 0 && count > 1) return "angle_increment is 0";
  if (std::abs(first) > kWidestSweep || std::abs(step) * (count - 1) > kWidestSweep) {
    return "the angles span more than two turns";
  }
  // Drivers round their angles, and differ by one range at the end of a full turn. An angle_max of
  // 0 may be unset.
  const double off = step == 0 ? 0 : std::abs((last - first) / step - (count - 1));
  if (last != 0 && off > 1.5 + 0.01 * count) return "the number of ranges does not fit the angles";
  const double least = scan.range_min(), most = scan.range_max();
  if (!(least >= 0) || !(most >= 0) || std::isinf(least)) {
    return "range_min or range_max is negative or not a number";
  }
  if (most > 0 && most <= least) return "range_max is not above range_min";
  return "";
}

inline std::string_view unusable(const hyphos::msgs::OccupancyGrid& map) {
  const std::uint64_t cells = std::uint64_t{map.info().width()} * map.info().height();
  if (cells == 0) return "it has no cells";
  if (cells > kMostCells) return "it has more than 2^26 cells";
  if (cells != map.data().size()) return "its data do not have width times height cells";
  const double resolution = map.info().resolution();
  if (!(resolution >= 1e-3 && resolution <= 100)) return "a cell is not from 1 mm to 100 m wide";
  hyphos::msgs::Pose origin = map.info().origin();
  const auto& q = origin.orientation();
  // All zeros mean unset. That is the usual map, without a rotation.
  if (q.x() == 0 && q.y() == 0 && q.z() == 0 && q.w() == 0) origin.mutable_orientation()->set_w(1);
  if (const std::string_view reason = unusable(origin); !reason.empty()) return reason;
  const bool turned = std::abs(q.x()) > 1e-3 || std::abs(q.y()) > 1e-3 || std::abs(q.z()) > 1e-3;
  return turned ? "its origin is turned" : "";
}

}  // namespace patrol
