#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "gateway/net/unit_reader.hpp"
#include "hyphos/buffer.hpp"
#include "hyphos/result.hpp"

/// The frames of ROS-TCP: length and bytes of a name, then length and bytes of a payload. Lengths
/// have 32 bits, little endian. A name that begins with "__" is a command of the protocol, with
/// JSON as payload. Eight zero bytes are a keep-alive.
namespace hyphos::gateway::ros_tcp {

inline constexpr std::size_t kMostName = 4096;

struct Frame {
  std::string_view name;  ///< without trailing NULs, with which some clients pad
  std::span<const std::byte> payload;
};

/// Measures the frame that begins with these bytes. Errors: overloaded (a payload above
/// `max_payload`), corrupt (a name longer than kMostName: the bytes are most likely not frames).
[[nodiscard]] Result<net::Measured> measure_frame(std::span<const std::byte> bytes,
                                                  std::size_t max_payload);

/// Splits a whole frame that measure_frame() has measured.
[[nodiscard]] Frame parse_frame(std::span<const std::byte> unit);

/// The bytes before a payload of `payload` bytes.
[[nodiscard]] Buffer frame_head(std::string_view name, std::size_t payload);
/// A complete frame, followed by frame_head(): an announcement and the head of the announced frame.
[[nodiscard]] Buffer frame_and_head(std::string_view announcement, std::string_view text,
                                    std::string_view name, std::size_t payload);
[[nodiscard]] Buffer whole_frame(std::string_view name, std::string_view payload);

}  // namespace hyphos::gateway::ros_tcp
