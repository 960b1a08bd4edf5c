#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace hyphos::lab {

/// The octets after their 32-bit number at `at`. Empty if the message is too short.
inline std::span<const std::byte> octets_at(std::span<const std::byte> message, std::size_t at) {
  std::uint32_t count = 0;
  if (at > message.size() || message.size() - at < sizeof count) return {};
  std::memcpy(&count, message.data() + at, sizeof count);
  const auto octets = message.subspan(at + sizeof count);
  return count <= octets.size() ? octets.first(count) : std::span<const std::byte>();
}

}  // namespace hyphos::lab
