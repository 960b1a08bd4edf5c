#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

/// The protobuf wire format, by hand. For messages that are encoded very often or very early, for
/// which the protobuf library is too slow or too large. Pure functions over bytes.
namespace hyphos::wire {

inline void put_le(std::byte* at, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) at[i] = static_cast<std::byte>(value >> (8 * i));
}
inline std::uint64_t get_le(const std::byte* at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value |= std::to_integer<std::uint64_t>(at[i]) << (8 * i);
  return value;
}

enum ProtoType : std::uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

[[nodiscard]] inline std::size_t varint_size(std::uint64_t value) {
  std::size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

/// Writes fields in the order of the calls. As in proto3, zero values are left out. The caller must
/// provide enough memory.
class ProtoWriter {
 public:
  explicit ProtoWriter(std::byte* at) : at_(at) {}

  void raw_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) *at_++ = static_cast<std::byte>(value | 0x80);
    *at_++ = static_cast<std::byte>(value);
  }
  void tag(std::uint32_t field, ProtoType type) { raw_varint(field << 3 | type); }
  void varint(std::uint32_t field, std::uint64_t value) {
    if (value == 0) return;
    tag(field, kVarint);
    raw_varint(value);
  }
  void fixed(std::uint32_t field, std::uint64_t value) {
    if (value == 0) return;
    tag(field, kFixed64);
    put_le(at_, value, 8);
    at_ += 8;
  }
  void text(std::uint32_t field, std::string_view value) {
    if (value.empty()) return;
    open(field, value.size());
    raw(std::as_bytes(std::span(value)));
  }
  /// Starts a field of `size` bytes, which the caller writes next.
  void open(std::uint32_t field, std::size_t size) {
    tag(field, kBytes);
    raw_varint(size);
  }
  void raw(std::span<const std::byte> bytes) {
    std::memcpy(room(bytes.size()), bytes.data(), bytes.size());
  }
  /// Reserves `size` bytes, which the caller writes.
  std::byte* room(std::size_t size) {
    std::byte* const place = at_;
    at_ += size;
    return place;
  }
  [[nodiscard]] std::byte* end() const { return at_; }

 private:
  std::byte* at_;
};

/// The value of one field of any type: a number, or bytes.
struct ProtoValue {
  std::uint64_t number = 0;
  std::span<const std::byte> bytes;

  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

/// Reads fields one after the other. After the first failure every further read fails.
class ProtoReader {
 public:
  explicit ProtoReader(std::span<const std::byte> in) : in_(in) {}

  [[nodiscard]] bool done() const { return in_.empty(); }
  [[nodiscard]] std::size_t left() const { return in_.size(); }
  bool varint(std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64 && !in_.empty(); shift += 7) {
      const auto byte = std::to_integer<std::uint64_t>(in_[0]);
      in_ = in_.subspan(1);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  bool fixed(std::uint64_t& value, std::size_t bytes) {
    if (in_.size() < bytes) return false;
    value = get_le(in_.data(), bytes);
    in_ = in_.subspan(bytes);
    return true;
  }
  bool bytes(std::span<const std::byte>& value) {
    std::uint64_t size = 0;
    if (!varint(size) || size > in_.size()) return false;
    value = in_.first(size);
    in_ = in_.subspan(size);
    return true;
  }
  /// Reads the next field: its number, its wire type and its value.
  bool field(std::uint64_t& number, std::uint32_t& type, ProtoValue& value) {
    std::uint64_t tag = 0;
    if (!varint(tag) || tag < 8 || tag > UINT32_MAX) return false;
    number = tag >> 3;
    type = static_cast<std::uint32_t>(tag & 7);
    switch (type) {
      case kVarint:
        return varint(value.number);
      case kFixed64:
        return fixed(value.number, 8);
      case kFixed32:
        return fixed(value.number, 4);
      case kBytes:
        return bytes(value.bytes);
      default:
        return false;  // groups have not existed since proto3
    }
  }

 private:
  std::span<const std::byte> in_;
};

}  // namespace hyphos::wire
