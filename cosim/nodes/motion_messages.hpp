#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cosim/core/geometry.hpp"
#include "hyphos/codec.hpp"
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
/// hyphos.msgs.Twist: its linear part, and the turn about z. Returns nothing if `bytes` are not a
/// valid Twist.
[[nodiscard]] std::optional<Motion> decode_twist(std::span<const std::byte> bytes);

}  // namespace hyphos::cosim
