#include "gateway/ros2/call_header.hpp"

#include <cstring>

namespace hyphos::gateway::ros2 {
namespace {

constexpr std::size_t kCallEncapsulation = 4;
constexpr std::size_t kHeader = 16;

std::uint64_t read_number(const std::byte* at, bool big_endian) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) {
    value |= std::to_integer<std::uint64_t>(at[i]) << 8U * (big_endian ? 7 - i : i);
  }
  return value;
}

void write_number(std::byte* at, std::uint64_t value, bool big_endian) {
  for (std::size_t i = 0; i < sizeof value; ++i) {
    at[i] = static_cast<std::byte>(value >> 8U * (big_endian ? 7 - i : i));
  }
}

bool is_big_endian(std::span<const std::byte> message) { return message[1] == std::byte{0}; }

}  // namespace

std::optional<CallHeader> take_header(std::span<const std::byte> message,
                                      std::vector<std::byte>& body) {
  if (message.size() < kCallEncapsulation + kHeader) return std::nullopt;
  const bool big_endian = is_big_endian(message);
  const std::byte* const at = message.data() + kCallEncapsulation;
  const CallHeader header{read_number(at, big_endian),
                          static_cast<std::int64_t>(read_number(at + 8, big_endian))};
  body.assign(message.begin(), message.begin() + kCallEncapsulation);
  body.insert(body.end(), message.begin() + kCallEncapsulation + kHeader, message.end());
  return header;
}

std::vector<std::byte> put_header(const CallHeader& header, std::span<const std::byte> message) {
  std::vector<std::byte> whole(message.size() + kHeader);
  std::memcpy(whole.data(), message.data(), kCallEncapsulation);
  const bool big_endian = is_big_endian(message);
  write_number(whole.data() + kCallEncapsulation, header.client, big_endian);
  write_number(whole.data() + kCallEncapsulation + 8, static_cast<std::uint64_t>(header.call),
               big_endian);
  std::memcpy(whole.data() + kCallEncapsulation + kHeader, message.data() + kCallEncapsulation,
              message.size() - kCallEncapsulation);
  return whole;
}

}  // namespace hyphos::gateway::ros2
