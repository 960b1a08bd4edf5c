#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "gateway/convert/conversion_error.hpp"
#include "gateway/convert/proto_out.hpp"
#include "gateway/convert/shape.hpp"
#include "wire/protobuf.hpp"

namespace hyphos::gateway {

using Bytes = std::span<const std::byte>;

/// The occurrences of one field in a message.
struct Found {
  std::uint64_t number = 0;  ///< of a singular number: the last one
  Bytes bytes;               ///< of a singular string, blob or message: the last one
  Bytes from;                ///< of a repeated field: from its first occurrence to the end
  std::uint32_t times = 0;   ///< occurrences
};

/// Finds the fields of protobuf messages, which may come in any order, repeatedly, or not at all.
/// The results are on a stack that is reused: after it has grown, a message costs no allocation.
class Scan {
 public:
  explicit Scan(ConversionError& failure) : failure_(failure) {}

  /// Pushes one Found for each field of `shape`. pop() removes them.
  bool push(const Shape& shape, Bytes message) {
    const std::size_t base = found_.size();
    found_.resize(base + shape.fields.size());
    wire::ProtoReader reader(message);
    const std::byte* const end = message.data() + message.size();
    while (!reader.done()) {
      std::uint64_t number = 0;
      std::uint32_t type = 0;
      wire::ProtoValue value;
      const std::byte* const at = end - reader.left();
      if (!reader.field(number, type, value))
        return failure_.fail("is not a valid protobuf message");
      const Field* const field = shape.find(number);
      if (field == nullptr || !fits(*field, type)) continue;
      Found& found = found_[base + static_cast<std::size_t>(field - shape.fields.data())];
      if (found.times++ == 0) found.from = {at, end};
      found.number = value.number;
      found.bytes = value.bytes;
    }
    return true;
  }
  void pop(const Shape& shape) { found_.resize(found_.size() - shape.fields.size()); }
  /// Of the message pushed last. Valid until the next push.
  [[nodiscard]] const Found& found(const Shape& shape, std::size_t field) const {
    return found_[found_.size() - shape.fields.size() + field];
  }

  /// The bytes of a singular message. Several pieces are merged, as in protobuf.
  Bytes whole(const Field& field, const Found& found) {
    if (found.times <= 1) return found.bytes;
    std::vector<std::byte>& merged = merged_.emplace_back();
    each(field, found, [&](std::uint32_t, const wire::ProtoValue& piece) {
      merged.insert(merged.end(), piece.bytes.begin(), piece.bytes.end());
      return true;
    });
    return merged;
  }

  /// Calls `take(wire type, value)` for each occurrence until it returns false.
  template <typename Take>
  static bool each(const Field& field, const Found& found, Take take) {
    wire::ProtoReader reader(found.from);
    for (std::uint32_t left = found.times; left > 0;) {
      std::uint64_t number = 0;
      std::uint32_t type = 0;
      wire::ProtoValue value;
      if (!reader.field(number, type, value)) return false;
      if (number != field.number || !fits(field, type)) continue;
      if (!take(type, value)) return false;
      --left;
    }
    return true;
  }

  /// Calls `take(number)` for each number of a repeated field, packed or not.
  template <typename Take>
  bool each_number(const Field& field, const Found& found, Take take) {
    const bool read = each(field, found, [&](std::uint32_t type, const wire::ProtoValue& value) {
      if (type != wire::kBytes) return take(value.number);
      wire::ProtoReader packed(value.bytes);
      while (!packed.done()) {
        std::uint64_t number = 0;
        const bool good = field.store == Store::fixed32   ? packed.fixed(number, 4)
                          : field.store == Store::fixed64 ? packed.fixed(number, 8)
                                                          : packed.varint(number);
        if (!good) return failure_.fail("is not a valid protobuf message");
        if (!take(number)) return false;
      }
      return true;
    });
    return read;
  }
  bool count_numbers(const Field& field, const Found& found, std::size_t& count) {
    count = 0;
    return each(field, found, [&](std::uint32_t type, const wire::ProtoValue& value) {
      count += type != wire::kBytes ? 1 : packed_count(field, value.bytes);
      return true;
    });
  }

 private:
  /// Other wire types are ignored as unknown fields, as in protobuf.
  static bool fits(const Field& field, std::uint32_t type) {
    return type == wire_type_of(field) || (field.repeated && type == wire::kBytes);
  }
  static std::size_t packed_count(const Field& field, Bytes packed) {
    if (field.store == Store::fixed32) return packed.size() / 4;
    if (field.store == Store::fixed64) return packed.size() / 8;
    std::size_t ends = 0;
    for (const std::byte byte : packed) ends += std::to_integer<std::size_t>(byte) >> 7U ^ 1U;
    return ends;
  }

  ConversionError& failure_;
  std::vector<Found> found_;
  std::deque<std::vector<std::byte>> merged_;
};

/// Converts a protobuf number to the form of ROS: integers as two's complement in 64 bits.
inline std::uint64_t unpacked(const Field& field, std::uint64_t number) {
  if (field.store == Store::zigzag) return (number >> 1U) ^ (0 - (number & 1U));
  if (field.store == Store::fixed32 && field.is_signed && !field.is_float()) {
    return static_cast<std::uint64_t>(
        static_cast<std::int64_t>(static_cast<std::int32_t>(static_cast<std::uint32_t>(number))));
  }
  return number;
}

/// False if an integer does not fit in `field.width` bytes.
inline bool in_range(const Field& field, std::uint64_t number) {
  if (field.width == 8 || field.is_float()) return true;
  if (!field.is_signed) return number >> (8U * field.width) == 0;
  const auto value = static_cast<std::int64_t>(number);
  const std::int64_t top = std::int64_t{1} << (8U * field.width - 1);
  return value >= -top && value < top;
}

}  // namespace hyphos::gateway
