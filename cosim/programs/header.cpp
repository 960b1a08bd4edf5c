#include "cosim/programs/header.hpp"

#include <concepts>

namespace hyphos::cosim {
namespace {

// Bytes: flow 2, kind 1, mark 1, from 4, to 4, sequence 4, sent 8.
constexpr auto kMark = std::byte{0xf1};
constexpr std::size_t kKinds = 4;

template <std::unsigned_integral Number>
void put(std::span<std::byte> bytes, std::size_t at, Number value) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    bytes[at + i] = static_cast<std::byte>(value >> (8 * i));
  }
}

template <std::unsigned_integral Number>
Number get(std::span<const std::byte> bytes, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    value |= std::to_integer<std::uint64_t>(bytes[at + i]) << (8 * i);
  }
  return static_cast<Number>(value);
}

}  // namespace

void write_header(const Header& header, std::span<std::byte> bytes) {
  put(bytes, 0, header.flow);
  bytes[2] = static_cast<std::byte>(header.kind);
  bytes[3] = kMark;
  put(bytes, 4, header.from);
  put(bytes, 8, header.to);
  put(bytes, 12, header.sequence);
  put(bytes, 16, static_cast<std::uint64_t>(header.sent.ns));
}

std::optional<Header> read_header(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeaderBytes || bytes[3] != kMark) return std::nullopt;
  const auto kind = std::to_integer<std::uint8_t>(bytes[2]);
  if (kind >= kKinds) return std::nullopt;
  return Header{
      get<std::uint16_t>(bytes, 0),  static_cast<Header::Kind>(kind),
      get<std::uint32_t>(bytes, 4),  get<std::uint32_t>(bytes, 8),
      get<std::uint32_t>(bytes, 12), {static_cast<std::int64_t>(get<std::uint64_t>(bytes, 16))}};
}

}  // namespace hyphos::cosim
