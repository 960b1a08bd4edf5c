#include "gateway/ros2/greeting.hpp"

#include <algorithm>
#include <cstddef>

namespace hyphos::gateway::ros2 {
namespace {

// RTPS 2.5, 9.4.5: the submessages, and the places of their fields after the header.
constexpr std::uint8_t kHeartbeatId = 0x07;
constexpr std::uint8_t kDataId = 0x15;
constexpr std::uint8_t kDataFragId = 0x16;
constexpr std::uint8_t kRtpsLittle = 0x01;
constexpr std::uint8_t kRtpsFinal = 0x02;  // requests no acknowledgement
constexpr std::size_t kRtpsHeader = 20;
constexpr std::size_t kSubmessageHeader = 4;
constexpr std::size_t kWriterAt = 8;
constexpr std::size_t kSequenceAt = 12;
constexpr std::size_t kFragmentAt = 20;
constexpr std::size_t kLeastSample = 24;  // bytes up to and including the number of the fragment

/// Reads and writes a number of 32 bits in either byte order.
std::uint32_t rtps_number(std::span<const std::uint8_t> bytes, std::size_t at, bool little) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value = value << 8U | bytes[at + (little ? 3 - i : i)];
  }
  return value;
}
void put_rtps_number(std::span<std::uint8_t> bytes, std::size_t at, std::uint32_t value,
                     bool little) {
  for (std::size_t i = 0; i < 4; ++i) {
    bytes[at + (little ? i : 3 - i)] = static_cast<std::uint8_t>(value >> (8 * i));
  }
}

Greeting greeting_of(std::span<const std::uint8_t> datagram, std::span<const std::uint8_t> sample,
                     bool little) {
  Greeting made{};
  std::ranges::copy(datagram.first(kRtpsHeader), made.begin());
  const std::span<std::uint8_t> body = std::span(made).subspan(kRtpsHeader + kSubmessageHeader);
  made[kRtpsHeader] = kHeartbeatId;
  made[kRtpsHeader + 1] = static_cast<std::uint8_t>(kRtpsFinal | (little ? kRtpsLittle : 0));
  made[kRtpsHeader + (little ? 2 : 3)] = static_cast<std::uint8_t>(body.size());
  // To all readers. The first sample is 1, the last is the one before this sample, the count is 0.
  std::ranges::copy(sample.subspan(kWriterAt, 4), body.begin() + 4);
  put_rtps_number(body, 12, 1, little);
  std::uint32_t high = rtps_number(sample, kSequenceAt, little);
  const std::uint32_t low = rtps_number(sample, kSequenceAt + 4, little);
  if (low == 0) --high;
  put_rtps_number(body, 16, high, little);
  put_rtps_number(body, 20, low - 1, little);
  return made;
}

}  // namespace

std::optional<Greeting> greeting_before(std::span<const std::uint8_t> datagram) {
  std::size_t at = kRtpsHeader;
  while (at + kSubmessageHeader <= datagram.size()) {
    const std::uint8_t kind = datagram[at];
    const bool little = (datagram[at + 1] & kRtpsLittle) != 0;
    const std::size_t size = static_cast<std::size_t>(datagram[at + (little ? 2 : 3)]) |
                             static_cast<std::size_t>(datagram[at + (little ? 3 : 2)]) << 8U;
    const auto body = datagram.subspan(at + kSubmessageHeader);
    if (kind == kDataId || kind == kDataFragId) {
      if (body.size() < kLeastSample) return std::nullopt;
      if (kind == kDataFragId && rtps_number(body, kFragmentAt, little) != 1) return std::nullopt;
      return greeting_of(datagram, body, little);
    }
    at += kSubmessageHeader + size;
  }
  return std::nullopt;
}

}  // namespace hyphos::gateway::ros2
