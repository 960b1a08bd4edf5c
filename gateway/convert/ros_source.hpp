#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "gateway/convert/conversion_error.hpp"
#include "gateway/convert/proto_out.hpp"
#include "gateway/convert/scan.hpp"
#include "gateway/convert/shape.hpp"
#include "gateway/convert/utf.hpp"

namespace hyphos::gateway {

/// Reads a message in the encoding of ROS 1 (kCdr false) or ROS 2 (XCDR1 of either byte order).
template <bool kCdr>
class RosCursor {
 public:
  RosCursor(Bytes in, ConversionError& failure) : in_(in), failure_(failure) {}

  /// `before`: bytes before the message, which count for its alignment.
  bool begin(std::size_t before = 0) {
    if constexpr (kCdr) {
      if (in_.size() < 4 || in_[0] != std::byte{0} || std::to_integer<unsigned>(in_[1]) > 1) {
        return failure_.fail("has an unknown encapsulation: XCDR1 begins with 00 01 or 00 00");
      }
      big_endian_ = in_[1] == std::byte{0};
      at_ = 4;
      Bytes skipped;
      return take(before, skipped);
    }
    return true;
  }
  bool end() {
    // Writers of CDR may pad the last word.
    if (left() <= (kCdr ? 3U : 0U)) return true;
    return failure_.fail(std::to_string(left()) + " bytes follow after the last field");
  }
  [[nodiscard]] std::size_t left() const { return in_.size() - at_; }
  [[nodiscard]] bool big_endian() const { return big_endian_; }

  bool take(std::size_t size, Bytes& bytes) {
    if (size > left()) {
      return failure_.fail("needs " + std::to_string(size) + " bytes, but only " +
                           std::to_string(left()) + " are left");
    }
    bytes = in_.subspan(at_, size);
    at_ += size;
    return true;
  }
  void align(std::size_t width) {
    if constexpr (kCdr) {
      const std::size_t past = (at_ - 4) % width;
      if (past != 0) at_ = std::min(in_.size(), at_ + width - past);
    }
  }
  bool raw(std::size_t width, std::uint64_t& bits) {
    align(width);
    Bytes bytes;
    if (!take(width, bytes)) return false;
    bits = value(bytes.data(), width);
    return true;
  }
  [[nodiscard]] std::uint64_t value(const std::byte* at, std::size_t width) const {
    if (!kCdr || !big_endian_) return wire::get_le(at, width);
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < width; ++i)
      bits = bits << 8U | std::to_integer<std::uint64_t>(at[i]);
    return bits;
  }

 private:
  Bytes in_;
  ConversionError& failure_;
  std::size_t at_ = 0;
  bool big_endian_ = false;
};

/// Writes the message of a cursor as protobuf. Attached buffers are not copied: `attached` refers
/// to them.
template <bool kCdr, typename Out>
class FromRos {
 public:
  FromRos(RosCursor<kCdr>& in, Out& out, Sizes& sizes, ConversionError& failure, Bytes& attached)
      : in_(in), out_(out), sizes_(sizes), failure_(failure), attached_(attached) {}

  bool message(const Shape& shape) {
    if (kCdr && shape.fields.empty()) {
      Bytes dummy;
      return in_.take(1, dummy);
    }
    for (const Field& field : shape.fields) {
      if (!value(field)) return failure_.in(field.name);
    }
    return true;
  }

 private:
  static constexpr std::size_t kMostOfNothing = 1U << 16U;  // elements that have no bytes

  bool value(const Field& field) {
    if (field.count != Count::one) return list(field);
    if (field.kind == Kind::message) return inner(field, false);
    if (field.is_text()) return text(field, false);
    std::uint64_t bits = 0;
    if (!number(field, bits)) return false;
    put_field(out_, field, bits);
    return true;
  }

  bool number(const Field& field, std::uint64_t& bits) {
    if (field.is_time()) return time(field, bits);
    if (!in_.raw(field.width, bits)) return false;
    if (field.is_signed && !field.is_float() && field.width < 8) {
      const unsigned unused = 64 - 8 * field.width;
      bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << unused) >> unused);
    }
    if (field.flag) bits = bits != 0 ? 1 : 0;
    return true;
  }
  bool time(const Field& field, std::uint64_t& bits) {
    std::uint64_t seconds = 0;
    std::uint64_t nanoseconds = 0;
    if (!in_.raw(4, seconds) || !in_.raw(4, nanoseconds)) return false;
    const auto as_signed = [](std::uint64_t word) {
      return static_cast<std::int64_t>(static_cast<std::int32_t>(static_cast<std::uint32_t>(word)));
    };
    const bool ros1_time = !field.ros2 && field.kind == Kind::time;
    const bool ros1_duration = !field.ros2 && !ros1_time;
    const std::int64_t ns =
        (ros1_time ? static_cast<std::int64_t>(seconds) : as_signed(seconds)) * 1'000'000'000 +
        (ros1_duration ? as_signed(nanoseconds) : static_cast<std::int64_t>(nanoseconds));
    bits = static_cast<std::uint64_t>(ns);
    return true;
  }

  bool text(const Field& field, bool even_empty) {
    std::string made;
    std::string_view text;
    if (field.kind == Kind::wstring ? !wide(made) : !narrow(text)) return false;
    if (field.kind == Kind::wstring) {
      text = made;
    } else if (!is_utf8(text)) {
      append_utf8(text, made);
      text = made;
    }
    if (!failure_.accept(text_problem(field, text.size()))) return false;
    put_bytes(out_, field, std::as_bytes(std::span(text)), even_empty);
    return true;
  }
  bool narrow(std::string_view& text) {
    std::uint64_t size = 0;
    Bytes bytes;
    if (!in_.raw(4, size) || !in_.take(size, bytes)) return false;
    text = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    if (kCdr && !text.empty() && text.back() == '\0') text.remove_suffix(1);
    return true;
  }
  bool wide(std::string& text) {
    std::uint64_t count = 0;
    Bytes bytes;
    if (!in_.raw(4, count) || !in_.take(4 * count, bytes)) return false;
    std::u16string units;
    for (std::size_t i = 0; i < count; ++i) {
      units.push_back(static_cast<char16_t>(in_.value(bytes.data() + 4 * i, 4)));
    }
    append_utf8(units, text);
    return true;
  }

  bool inner(const Field& field, bool even_empty) {
    return with_length(out_, sizes_, field.number, even_empty,
                       [&] { return message(*field.shape); });
  }

  bool list(const Field& field) {
    std::uint64_t count = field.size;
    if (field.count != Count::fixed && !in_.raw(4, count)) return false;
    if (!failure_.accept(count_problem(field, count))) return false;
    const std::size_t least = element_size(field);
    if (least == 0 ? count > kMostOfNothing : count > in_.left() / least) {
      return failure_.fail("claims " + std::to_string(count) + " elements, but only " +
                           std::to_string(in_.left()) + " bytes are left");
    }
    if (field.blob) return blob(field, count);
    if (field.kind == Kind::message || field.is_text()) {
      for (std::uint64_t i = 0; i < count; ++i) {
        if (field.is_text() ? !text(field, true) : !inner(field, true)) return false;
      }
      return true;
    }
    if (field.is_float() && !in_.big_endian()) return floats(field, count);
    return with_length(out_, sizes_, field.number, false, [&] {
      for (std::uint64_t i = 0; i < count; ++i) {
        std::uint64_t bits = 0;
        if (!number(field, bits)) return false;
        put_number(out_, field, bits);
      }
      return true;
    });
  }
  static std::size_t element_size(const Field& field) {
    if (field.kind == Kind::message) return field.shape->least;
    if (field.is_text()) return 4;
    return field.is_time() ? 8 : field.width;
  }
  bool blob(const Field& field, std::size_t size) {
    Bytes bytes;
    if (!in_.take(size, bytes)) return false;
    if (field.attached) {
      attached_ = bytes;
    } else {
      put_bytes(out_, field, bytes, false);
    }
    return true;
  }
  /// Copies the floats unchanged.
  bool floats(const Field& field, std::size_t count) {
    if (count == 0) return true;
    in_.align(field.width);
    Bytes bytes;
    if (!in_.take(count * field.width, bytes)) return false;
    put_bytes(out_, field, bytes, false);
    return true;
  }

  RosCursor<kCdr>& in_;
  Out& out_;
  Sizes& sizes_;
  ConversionError& failure_;
  Bytes& attached_;
};

}  // namespace hyphos::gateway
