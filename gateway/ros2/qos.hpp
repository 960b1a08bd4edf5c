#pragma once

#include <cstdint>
#include <string>

namespace hyphos::gateway::ros2 {

/// What DDS calls QoS, as far as ROS 2 sets it. Of others the depth is not known: DDS does not
/// tell.
struct Qos {
  bool reliable = true;
  bool transient_local = false;  ///< what ROS 1 and Hyphos call latched
  std::int32_t depth = 10;
  std::int64_t deadline_ms = 0;  ///< a message at least so often; 0: no promise

  bool operator==(const Qos&) const = default;
};

/// Why a reader that asks for `asked` hears nothing of a writer with `offered`, and what of the
/// channel would let it, for people; empty: it hears it.
[[nodiscard]] std::string mismatch(const Qos& offered, const Qos& asked);

}  // namespace hyphos::gateway::ros2
