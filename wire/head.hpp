#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "wire/packet.hpp"
#include "wire/protobuf.hpp"

/// The protobuf head of a packet, written and read by hand. Used by packet.cpp only.
namespace hyphos::wire {

/// All strings at their maximum length, ten bytes per varint, eight per fixed field, and the tags.
inline constexpr std::size_t kLongestHead =
    kMaxChannelBytes + kMaxTypeNameBytes + 8 + 5 * 12 + 14 * 11 + 10 * kMaxAttachedBuffers + 8;
static_assert(kLongestHead <= kMaxHeadBytes);

/// Writes at most kLongestHead bytes and returns their end. `handed` points to that stamp
/// afterwards, or is null if the message has none.
[[nodiscard]] std::byte* write_head(std::byte* at, std::string_view channel, const TypeId& type,
                                    const Envelope& message, const ClockInfo& clock,
                                    std::byte*& submitted);

/// Reads a head and checks every value in it. Unknown fields are skipped.
[[nodiscard]] Result<void> parse_head(std::span<const std::byte> bytes, Header& out);

}  // namespace hyphos::wire
