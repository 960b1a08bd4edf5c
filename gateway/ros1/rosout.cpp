#include "gateway/ros1/rosout.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "gateway/ros1/header.hpp"

namespace hyphos::gateway::ros1 {
namespace {

constexpr std::size_t kLength = 4;
constexpr std::size_t kStamp = 8;
constexpr int kTexts = 4;  // name, msg, file, function

/// The levels of ROS 1 are bits, in this order. Those of `rcl_interfaces/Log` are 10, 20, …
constexpr std::array<std::uint8_t, 5> kLevels = {1, 2, 4, 8, 16};

std::byte level_of_ros1(std::byte level) {
  const auto* const at = std::ranges::find(kLevels, static_cast<std::uint8_t>(level));
  return static_cast<std::byte>(at == kLevels.end() ? 0 : 10 * (at - kLevels.begin() + 1));
}

/// A level between two others counts as the lower one.
std::byte level_to_ros1(std::byte level) {
  const std::size_t number = static_cast<std::uint8_t>(level) / 10;
  return static_cast<std::byte>(kLevels[std::clamp<std::size_t>(number, 1, kLevels.size()) - 1]);
}

Error malformed_log() {
  return {Code::corrupt, "the log line is incomplete", std::string(kRosout)};
}

/// The size of the texts and the line number at the start of `bytes`. 0 if they are incomplete.
std::size_t size_of_rest(std::span<const std::byte> bytes) {
  std::size_t at = 0;
  for (int text = 0; text < kTexts; ++text) {
    if (bytes.size() - at < kLength) return 0;
    const std::size_t size = read_length(bytes.subspan(at));
    if (bytes.size() - at - kLength < size) return 0;
    at += kLength + size;
  }
  return bytes.size() - at < kLength ? 0 : at + kLength;
}

std::byte* put(std::byte* to, std::span<const std::byte> bytes) {
  return std::ranges::copy(bytes, to).out;
}

}  // namespace

Result<Buffer> line_of_ros1(std::span<const std::byte> line) {
  // The header: number, stamp, and the name of a frame.
  constexpr std::size_t kFrame = kLength + kStamp;
  if (line.size() < kFrame + kLength) return malformed_log();
  const std::size_t frame = read_length(line.subspan(kFrame));
  if (line.size() - kFrame - kLength < frame + 1) return malformed_log();
  const std::size_t level = kFrame + kLength + frame;
  const auto rest = line.subspan(level + 1);
  const std::size_t size = size_of_rest(rest);
  if (size == 0) return malformed_log();
  WritableBuffer out = WritableBuffer::on_heap(kStamp + 1 + size);
  std::byte* to = put(out.data(), line.subspan(kLength, kStamp));
  *to++ = level_of_ros1(line[level]);
  put(to, rest.first(size));
  return std::move(out).freeze();
}

Result<Buffer> line_to_ros1(std::span<const std::byte> line) {
  if (line.size() < kStamp + 1) return malformed_log();
  const auto rest = line.subspan(kStamp + 1);
  if (rest.empty() || size_of_rest(rest) != rest.size()) return malformed_log();
  constexpr std::array<std::byte, kLength> kZero{};
  WritableBuffer out = WritableBuffer::on_heap(line.size() + 3 * kLength);
  std::byte* to = put(out.data(), kZero);
  to = put(to, line.first(kStamp));
  to = put(to, kZero);  // no frame
  *to++ = level_to_ros1(line[kStamp]);
  to = put(to, rest);
  put(to, kZero);  // no topics
  return std::move(out).freeze();
}

}  // namespace hyphos::gateway::ros1
