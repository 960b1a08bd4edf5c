#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gateway/convert/shape.hpp"
#include "wire/protobuf.hpp"

namespace hyphos::gateway {

/// A protobuf message is written in two equal passes. The first pass measures the sizes that
/// precede inner messages and packed numbers. The second pass writes.
class ProtoMeasure {
 public:
  static constexpr bool kMeasures = true;
  void tag(std::uint32_t number, wire::ProtoType type) { varint(number << 3 | type); }
  void varint(std::uint64_t value) { at_ += wire::varint_size(value); }
  void fixed(std::uint64_t /*value*/, std::size_t bytes) { at_ += bytes; }
  void raw(std::span<const std::byte> bytes) { at_ += bytes.size(); }
  /// Room that the caller fills. This pass has none yet.
  std::byte* room(std::size_t size) {
    at_ += size;
    return nullptr;
  }
  [[nodiscard]] std::size_t at() const { return at_; }

 private:
  std::size_t at_ = 0;
};

class ProtoWrite {
 public:
  static constexpr bool kMeasures = false;
  explicit ProtoWrite(std::byte* to) : begin_(to), out_(to) {}
  void tag(std::uint32_t number, wire::ProtoType type) { out_.tag(number, type); }
  void varint(std::uint64_t value) { out_.raw_varint(value); }
  void fixed(std::uint64_t value, std::size_t bytes) {
    wire::put_le(out_.room(bytes), value, bytes);
  }
  void raw(std::span<const std::byte> bytes) {
    if (!bytes.empty()) out_.raw(bytes);
  }
  std::byte* room(std::size_t size) { return out_.room(size); }
  [[nodiscard]] std::size_t at() const { return static_cast<std::size_t>(out_.end() - begin_); }

 private:
  std::byte* begin_;
  wire::ProtoWriter out_;
};

/// The sizes that the first pass found, in the order in which both passes need them.
class Sizes {
 public:
  /// Measures the output of `write`, or returns the measured size.
  template <typename Out, typename Write>
  bool of(Out& out, std::size_t& size, Write write) {
    if constexpr (Out::kMeasures) {
      const std::size_t place = sizes_.size();
      sizes_.push_back(0);
      const std::size_t before = out.at();
      if (!write()) return false;
      size = sizes_[place] = out.at() - before;
    } else {
      size = sizes_[next_++];
    }
    return true;
  }
  void clear() {
    sizes_.clear();
    next_ = 0;
  }

 private:
  std::vector<std::size_t> sizes_;
  std::size_t next_ = 0;
};

/// Writes a field that has a length prefix. In the first pass `write` runs before the length is
/// known.
template <typename Out, typename Write>
bool with_length(Out& out, Sizes& sizes, std::uint32_t number, bool even_empty, Write write) {
  std::size_t size = 0;
  if (!sizes.of(out, size, write)) return false;
  if (size > 0 || even_empty) {
    out.tag(number, wire::kBytes);
    out.varint(size);
  }
  if constexpr (Out::kMeasures) return true;
  return write();
}

/// Writes a ROS number as protobuf does. Integers arrive as two's complement in 64 bits.
template <typename Out>
void put_number(Out& out, const Field& field, std::uint64_t bits) {
  switch (field.store) {
    case Store::fixed32:
      return out.fixed(bits, 4);
    case Store::fixed64:
      return out.fixed(bits, 8);
    case Store::zigzag:
      return out.varint(bits << 1U ^ (0 - (bits >> 63U)));
    default:
      return out.varint(bits);
  }
}

[[nodiscard]] inline wire::ProtoType wire_type_of(const Field& field) {
  switch (field.store) {
    case Store::fixed32:
      return wire::kFixed32;
    case Store::fixed64:
      return wire::kFixed64;
    case Store::length:
      return wire::kBytes;
    default:
      return wire::kVarint;
  }
}

/// Writes a singular number. Zero is omitted, as in proto3.
template <typename Out>
void put_field(Out& out, const Field& field, std::uint64_t bits) {
  if (bits == 0) return;
  out.tag(field.number, wire_type_of(field));
  put_number(out, field, bits);
}

template <typename Out>
void put_bytes(Out& out, const Field& field, std::span<const std::byte> bytes, bool even_empty) {
  if (bytes.empty() && !even_empty) return;
  out.tag(field.number, wire::kBytes);
  out.varint(bytes.size());
  out.raw(bytes);
}

}  // namespace hyphos::gateway
