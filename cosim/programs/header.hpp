#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "cosim/core/packet.hpp"

namespace hyphos::cosim {

/// The header of flow packets: the flow, and the final receiver even with two hops. It counts as
/// part of the payload. 24 bytes, little-endian.
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

/// `bytes` must have room for the header.
void write_header(const Header& header, std::span<std::byte> bytes);
/// Returns nothing if the bytes do not begin with a header.
[[nodiscard]] std::optional<Header> read_header(std::span<const std::byte> bytes);

}  // namespace hyphos::cosim
