#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace hyphos::gateway::ros2 {

/// What requests and replies of Cyclone DDS begin with, after the encapsulation.
struct CallHeader {
  std::uint64_t client = 0;
  std::int64_t call = 0;

  bool operator==(const CallHeader&) const = default;
};

/// The message without its header; nothing if it is too short.
[[nodiscard]] std::optional<CallHeader> take_header(std::span<const std::byte> message,
                                                    std::vector<std::byte>& body);
/// `message` has at least its encapsulation.
[[nodiscard]] std::vector<std::byte> put_header(const CallHeader& header,
                                                std::span<const std::byte> message);

}  // namespace hyphos::gateway::ros2
