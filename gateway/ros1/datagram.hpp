#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

/// Datagrams of UDPROS (wiki.ros.org/ROS/UDPROS): a message with its length prefix, in blocks. Pure
/// functions.
namespace hyphos::gateway::ros1 {

/// The payload of the largest datagram of IPv4.
inline constexpr std::size_t kMaxDatagram = 65'507;
inline constexpr std::size_t kDatagramHead = 8;

enum class DatagramKind : std::uint8_t { first = 0, further = 1, ping = 2, error = 3 };

struct DatagramHead {
  std::int32_t connection = 0;
  DatagramKind kind = DatagramKind::first;
  std::uint8_t message = 0;  ///< counts the messages, and is never 0
  std::uint16_t block = 0;   ///< the number of blocks if `kind` is first, otherwise their index
};

[[nodiscard]] std::array<std::byte, kDatagramHead> write_datagram_head(const DatagramHead& head);

/// The number of datagrams of at most `most` bytes for this number of bytes. nullopt: too many, or
/// `most` has no room for bytes.
[[nodiscard]] std::optional<std::uint16_t> count_datagrams(std::size_t bytes, std::size_t most);

}  // namespace hyphos::gateway::ros1
