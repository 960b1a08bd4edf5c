#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cosim/core/geometry.hpp"
#include "cosim/sense/sensors.hpp"
#include "hyphos/codec.hpp"
#include "hyphos/node.hpp"
#include "hyphos/time.hpp"

/// The messages between physics and nodes, encoded and decoded by hand. The plug-ins of a robot
/// bring the generated classes, perhaps of another version.
namespace hyphos::cosim {

[[nodiscard]] TypeId odometry_type();
[[nodiscard]] TypeId twist_type();

/// hyphos.msgs.Odometry: the pose in the frame "world", and both velocities in the robot frame
/// "base".
[[nodiscard]] std::vector<std::byte> encode_odometry(const Pose& pose, Time now,
                                                     std::string_view frame = "base");
[[nodiscard]] TypeId transforms_type();
/// hyphos.msgs.TfMessage: the place of the robot frame in "world".
[[nodiscard]] std::vector<std::byte> encode_frame(const Pose& pose, Time now,
                                                  std::string_view frame = "base");
/// The policy of a channel of a sensor.
[[nodiscard]] PublisherOptions publisher_of(const SensorChannel& sensor);
/// hyphos.msgs.Twist: its linear part, and the turn about z. Returns nothing if `bytes` are not a
/// valid Twist.
[[nodiscard]] std::optional<Motion> decode_twist(std::span<const std::byte> bytes);

}  // namespace hyphos::cosim
