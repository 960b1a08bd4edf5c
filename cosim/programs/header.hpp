#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "cosim/core/packet.hpp"

namespace hyphos::cosim {

/// What programs of flows put before their bytes, and count as part of them: to which flow a packet
/// belongs, and whom it is for even if it takes two hops. 24 bytes, little-endian.
struct Header {
  enum class Kind : std::uint8_t { message, acknowledgement, request, reply };

  std::uint16_t flow = 0;
  Kind kind = Kind::message;
  NodeId from = 0;
  NodeId to = 0;  ///< or kEveryone
  std::uint32_t sequence = 0;
  Time sent{};

  bool operator==(const Header&) const = default;
};
inline constexpr std::size_t kHeaderBytes = 24;

/// `bytes` has room for it.
void write_header(const Header& header, std::span<std::byte> bytes);
/// Nothing if the bytes do not begin with one.
[[nodiscard]] std::optional<Header> read_header(std::span<const std::byte> bytes);

}  // namespace hyphos::cosim
