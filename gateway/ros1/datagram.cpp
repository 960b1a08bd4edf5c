#include "gateway/ros1/datagram.hpp"

#include <bit>
#include <cstring>
#include <limits>
#include <utility>

namespace hyphos::gateway::ros1 {

static_assert(std::endian::native == std::endian::little);

std::array<std::byte, kDatagramHead> write_datagram_head(const DatagramHead& head) {
  std::array<std::byte, kDatagramHead> bytes{};
  std::memcpy(bytes.data(), &head.connection, sizeof head.connection);
  bytes[4] = static_cast<std::byte>(head.kind);
  bytes[5] = static_cast<std::byte>(head.message);
  std::memcpy(bytes.data() + 6, &head.block, sizeof head.block);
  return bytes;
}

std::optional<std::uint16_t> count_datagrams(std::size_t bytes, std::size_t most) {
  if (most <= kDatagramHead) return std::nullopt;
  const std::size_t part = most - kDatagramHead;
  const std::size_t count = (bytes + part - 1) / part;
  if (!std::in_range<std::uint16_t>(count)) return std::nullopt;
  return static_cast<std::uint16_t>(count);
}

}  // namespace hyphos::gateway::ros1
