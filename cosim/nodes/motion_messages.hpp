#pragma once

#include <optional>
#include <span>
#include <vector>

#include "cosim/core/geometry.hpp"
#include "hyphos/codec.hpp"
#include "hyphos/time.hpp"

/// The messages between physics and nodes, written and read by hand: a robot's plug-ins bring the
/// generated classes themselves, perhaps of another version.
namespace hyphos::cosim {

[[nodiscard]] TypeId odometry_type();
[[nodiscard]] TypeId twist_type();

/// hyphos.msgs.Odometry: the pose in the frame "world", both velocities in that of the robot,
/// "base".
[[nodiscard]] std::vector<std::byte> encode_odometry(const Pose& pose, Time now);
/// hyphos.msgs.Twist: its linear part, and the turn about z. Nothing if it is none.
[[nodiscard]] std::optional<Motion> decode_twist(std::span<const std::byte> bytes);

}  // namespace hyphos::cosim
