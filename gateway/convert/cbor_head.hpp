#pragma once

#include <cstdint>

namespace hyphos::gateway {

/// The major types of CBOR (RFC 8949, section 3.1).
enum CborMajor : unsigned {
  kCborUnsigned,
  kCborNegative,
  kCborBytes,
  kCborText,
  kCborArray,
  kCborMap,
  kCborTag,
  kCborSimple,
};

/// Appends the head of an item in the fewest possible bytes.
template <typename Bytes>
void append_cbor_head(Bytes& out, unsigned major, std::uint64_t value) {
  using Byte = typename Bytes::value_type;
  const auto put = [&](std::uint64_t byte) { out.push_back(static_cast<Byte>(byte)); };
  const unsigned first = major << 5U;
  if (value < 24) return put(first | value);
  const unsigned power = value > UINT32_MAX   ? 3
                         : value > UINT16_MAX ? 2
                         : value > UINT8_MAX  ? 1
                                              : 0;
  put(first | (24U + power));
  for (unsigned left = 1U << power; left > 0; --left) put(value >> (8 * (left - 1)) & 0xffU);
}

}  // namespace hyphos::gateway
