#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hyphos::gateway::ros2 {

/// Who says that a writer lives: DDS, or its program, for all of its writers or for each.
enum class Liveliness : std::uint8_t { automatic, manual_by_participant, manual_by_topic };

/// What DDS calls QoS, as far as ROS 2 sets it. Of others the depth is not known: DDS does not
/// tell.
struct Qos {
  bool reliable = true;
  bool transient_local = false;  ///< what ROS 1 and Hyphos call latched
  std::int32_t depth = 10;
  std::int64_t deadline_ms = 0;  ///< a message at least so often; 0: no promise
  // What ROS 2 leaves at these defaults, unless a program says otherwise.
  Liveliness liveliness = Liveliness::automatic;
  std::int64_t lease_ms = 0;  ///< it says at least so often that it lives; 0: no promise
  bool exclusive = false;     ///< one writer at a time
  std::vector<std::string> partitions{};  ///< none: the default one
  bool xcdr1 = true;                      ///< the form that ROS 2 writes

  bool operator==(const Qos&) const = default;
};

/// Why a writer with `offered` is not heard by a reader that asks for `asked`, by every policy that
/// differs, for people; empty: it is heard.
[[nodiscard]] std::vector<std::string> differences(const Qos& offered, const Qos& asked);

/// Why a reader that asks for `asked` hears nothing of a writer with `offered`, and what of the
/// channel would let it, for people; empty: it hears it.
[[nodiscard]] std::string mismatch(const Qos& offered, const Qos& asked);

}  // namespace hyphos::gateway::ros2
