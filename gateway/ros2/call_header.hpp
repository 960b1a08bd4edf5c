#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace hyphos::gateway::ros2 {

/// The start of requests and replies of Cyclone DDS, after the encapsulation header.
struct CallHeader {
  std::uint64_t client = 0;
  std::int64_t call = 0;

  bool operator==(const CallHeader&) const = default;
};

/// Splits a message into header and body. nullopt if it is too short.
[[nodiscard]] std::optional<CallHeader> take_header(std::span<const std::byte> message,
                                                    std::vector<std::byte>& body);
/// `message` must have at least its encapsulation header.
[[nodiscard]] std::vector<std::byte> put_header(const CallHeader& header,
                                                std::span<const std::byte> message);

}  // namespace hyphos::gateway::ros2
