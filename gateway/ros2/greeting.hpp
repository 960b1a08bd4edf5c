#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace hyphos::gateway::ros2 {

/// A datagram with one HEARTBEAT.
using Greeting = std::array<std::uint8_t, 52>;

/// The heartbeat to send before a datagram that begins a sample, so that a new volatile reader
/// begins with this sample. Empty if the datagram begins no sample.
///
/// A volatile reader of Cyclone DDS begins after the last sample of the first heartbeat that it
/// receives, and drops the parts of earlier samples. Fast DDS sends its first heartbeat after the
/// first sample, so a lost part of that sample would never be requested. This heartbeat announces
/// only the samples before this one. Its count is 0, the lowest, so that readers with an earlier
/// heartbeat ignore it.
[[nodiscard]] std::optional<Greeting> greeting_before(std::span<const std::uint8_t> datagram);

}  // namespace hyphos::gateway::ros2
