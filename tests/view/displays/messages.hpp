#pragma once

#include <cmath>
#include <cstring>
#include <numbers>
#include <string>
#include <vector>

#include "hyphos/msgs/geometry.pb.h"
#include "hyphos/msgs/nav.pb.h"
#include "hyphos/msgs/sensor.pb.h"
#include "hyphos/msgs/std.pb.h"
#include "hyphos/msgs/tf.pb.h"
#include "hyphos/msgs/visualization.pb.h"
#include "view/core/sample.hpp"

/// Messages for the tests of displays. Times are in seconds after 1,000,000 s.
namespace hyphos::view::testing {

inline constexpr std::int64_t kEpoch = 1'000'000'000'000'000;
inline std::int64_t at_s(double seconds) {
  return kEpoch + static_cast<std::int64_t>(seconds * 1e9);
}

inline void set_header(msgs::Header& header, const std::string& frame, double seconds) {
  header.set_frame_id(frame);
  header.set_stamp_ns(at_s(seconds));
}

inline void set_pose(msgs::Pose& pose, double x, double y, double z, double yaw = 0) {
  pose.mutable_position()->set_x(x);
  pose.mutable_position()->set_y(y);
  pose.mutable_position()->set_z(z);
  pose.mutable_orientation()->set_z(std::sin(yaw / 2));
  pose.mutable_orientation()->set_w(std::cos(yaw / 2));
}

inline msgs::TransformStamped transform(const std::string& parent, const std::string& child,
                                        double x, double y, double z, double yaw, double seconds) {
  msgs::TransformStamped made;
  set_header(*made.mutable_header(), parent, seconds);
  made.set_child_frame_id(child);
  auto& to = *made.mutable_transform();
  to.mutable_translation()->set_x(x);
  to.mutable_translation()->set_y(y);
  to.mutable_translation()->set_z(z);
  to.mutable_rotation()->set_z(std::sin(yaw / 2));
  to.mutable_rotation()->set_w(std::cos(yaw / 2));
  return made;
}

struct CloudMessage {
  msgs::PointCloud head;
  std::vector<std::byte> bytes;
};

/// float x y z and one more field of 4 bytes.
inline CloudMessage cloud(const std::string& frame, double seconds,
                          const std::vector<std::array<float, 4>>& points,
                          const std::string& fourth = "intensity",
                          int type = msgs::PointField::FLOAT32) {
  CloudMessage made;
  set_header(*made.head.mutable_header(), frame, seconds);
  made.head.set_height(1);
  made.head.set_width(static_cast<std::uint32_t>(points.size()));
  made.head.set_point_step(16);
  made.head.set_row_step(static_cast<std::uint32_t>(points.size() * 16));
  std::uint32_t offset = 0;
  for (const std::string& name : {std::string("x"), std::string("y"), std::string("z"), fourth}) {
    auto& field = *made.head.add_fields();
    field.set_name(name);
    field.set_offset(offset);
    field.set_count(1);
    field.set_datatype(static_cast<msgs::PointField::DataType>(
        offset == 12 ? type : static_cast<int>(msgs::PointField::FLOAT32)));
    offset += 4;
  }
  made.bytes.resize(points.size() * 16);
  if (!points.empty()) std::memcpy(made.bytes.data(), points.data(), made.bytes.size());
  return made;
}

template <typename T>
Sample sample(std::uint32_t channel, const T& message, double seconds,
              std::vector<std::byte> buffer = {}) {
  Sample made;
  made.channel = channel;
  made.time_ns = at_s(seconds);
  const std::string bytes = message.SerializeAsString();
  made.payload = Buffer::copy_of(std::string_view(bytes));
  if (!buffer.empty()) made.buffers.push_back(Buffer::adopt(std::move(buffer)));
  return made;
}

}  // namespace hyphos::view::testing
