#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "lab/peers/octets.hpp"

namespace hyphos::lab {

/// The wire format of sensor_msgs/Image: the format of ROS 1, or CDR with its encapsulation as in
/// ROS 2.
enum class ImageWire : std::uint8_t { ros1, cdr };

namespace detail {

inline constexpr std::string_view kLittleEndian{"\0\1\0\0", 4};

/// Numbers in CDR are aligned to their size. The encapsulation has the size of one number.
inline std::size_t aligned(ImageWire wire, std::size_t at) {
  return wire == ImageWire::cdr ? (at + 3) / 4 * 4 : at;
}

}  // namespace detail

/// The bytes before the pixels of a grey image of one row, including the number of pixels.
inline std::string image_head(ImageWire wire, std::size_t size) {
  std::string head;
  const auto word = [&](std::size_t value) {
    head.resize(detail::aligned(wire, head.size()), '\0');
    for (unsigned shift = 0; shift < 32; shift += 8) {
      head.push_back(static_cast<char>(value >> shift));
    }
  };
  const auto text = [&](std::string_view letters) {
    const bool ends_with_0 = wire == ImageWire::cdr;
    word(letters.size() + (ends_with_0 ? 1 : 0));
    head += letters;
    if (ends_with_0) head.push_back('\0');
  };
  if (wire == ImageWire::cdr) {
    head = detail::kLittleEndian;
  } else {
    word(0);  // seq
  }
  word(0);
  word(0);  // stamp
  text("");
  word(1);
  word(size);
  text("mono8");
  head.push_back('\0');  // little endian
  word(size);
  word(size);
  return head;
}

/// The pixels of an image. Empty if the message is not an image.
inline std::span<const std::byte> pixels_of(ImageWire wire, std::span<const std::byte> message) {
  std::size_t at = wire == ImageWire::cdr ? detail::kLittleEndian.size() : 4;  // or seq
  const auto word = [&]() -> std::uint32_t {
    at = detail::aligned(wire, at);
    std::uint32_t value = 0;
    if (at + 4 <= message.size()) std::memcpy(&value, message.data() + at, 4);
    at += 4;
    return value;
  };
  at += 8;       // stamp
  at += word();  // frame_id
  word();
  word();
  at += word();  // encoding
  ++at;
  word();
  return octets_at(message, detail::aligned(wire, at));
}

}  // namespace hyphos::lab
