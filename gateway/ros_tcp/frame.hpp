#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "gateway/net/unit_reader.hpp"
#include "hyphos/buffer.hpp"
#include "hyphos/result.hpp"

/// The frames of ROS-TCP: length and bytes of a name, length and bytes of a payload; lengths are 32
/// bits, little endian. A name that begins with "__" is a command of the protocol, with JSON as
/// payload. 8 zero bytes are a sign of life.
namespace hyphos::gateway::ros_tcp {

inline constexpr std::size_t kMostName = 4096;

struct Frame {
  std::string_view name;  ///< without NULs at its end, which some clients pad with
  std::span<const std::byte> payload;
};

/// How long the frame is that begins with these bytes. Errors: overloaded (a payload beyond
/// `max_payload`), corrupt (a name beyond kMostName: the bytes are no frames, most likely).
[[nodiscard]] Result<net::Measured> measure_frame(std::span<const std::byte> bytes,
                                                  std::size_t max_payload);

/// Splits a whole frame, as measure_frame() has measured it.
[[nodiscard]] Frame parse_frame(std::span<const std::byte> unit);

/// What stands before a payload of `payload` bytes.
[[nodiscard]] Buffer frame_head(std::string_view name, std::size_t payload);
/// A frame of `before`, then frame_head(): for an announcement and what it announces.
[[nodiscard]] Buffer frame_and_head(std::string_view announcement, std::string_view text,
                                    std::string_view name, std::size_t payload);
[[nodiscard]] Buffer whole_frame(std::string_view name, std::string_view payload);

}  // namespace hyphos::gateway::ros_tcp
