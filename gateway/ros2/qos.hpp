#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hyphos::gateway::ros2 {

/// The source of a writer's liveliness: DDS, or its program, for all of its writers or for each
/// one.
enum class Liveliness : std::uint8_t { automatic, manual_by_participant, manual_by_topic };

/// The QoS of DDS, as far as ROS 2 sets it. The depth of remote endpoints is unknown, because DDS
/// does not announce it.
struct Qos {
  bool reliable = true;
  bool transient_local = false;  ///< "latched" in ROS 1 and Hyphos
  std::int32_t depth = 10;
  std::int64_t deadline_ms = 0;  ///< longest time between messages, 0: no promise
  std::int64_t lifespan_ms = 0;  ///< of a writer: age at which a message expires, 0: never
  // ROS 2 leaves these at their defaults unless a program sets them.
  Liveliness liveliness = Liveliness::automatic;
  std::int64_t lease_ms = 0;  ///< longest time between liveliness signals, 0: no promise
  bool exclusive = false;     ///< one writer at a time
  std::vector<std::string> partitions{};  ///< empty: the default partition
  bool xcdr1 = true;                      ///< the representation that ROS 2 writes

  bool operator==(const Qos&) const = default;
};

/// Every policy that keeps a reader that requests `asked` from matching a writer with `offered`, as
/// text for users. Empty: they match.
[[nodiscard]] std::vector<std::string> differences(const Qos& offered, const Qos& asked);

/// The reason why a reader that requests `asked` does not match a writer with `offered`, and the
/// remedy in the channel's policy, as text for users. Empty: they match.
[[nodiscard]] std::string mismatch(const Qos& offered, const Qos& asked);

}  // namespace hyphos::gateway::ros2
