#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "gateway/convert/conversion_error.hpp"
#include "gateway/convert/shape.hpp"
#include "gateway/convert/utf.hpp"
#include "hyphos/buffer.hpp"
#include "wire/protobuf.hpp"

namespace hyphos::gateway {

/// An output that only measures. `Write` is the output that writes into memory of that size.
class Measure {
 public:
  void bytes(const void* /*from*/, std::size_t size) { at_ += size; }
  void zeros(std::size_t size) { at_ += size; }
  [[nodiscard]] std::size_t at() const { return at_; }

 private:
  std::size_t at_ = 0;
};

class Write {
 public:
  explicit Write(std::byte* to) : begin_(to), at_(to) {}
  void bytes(const void* from, std::size_t size) {
    if (size == 0) return;
    std::memcpy(at_, from, size);
    at_ += size;
  }
  void zeros(std::size_t size) {
    std::memset(at_, 0, size);
    at_ += size;
  }
  [[nodiscard]] std::size_t at() const { return static_cast<std::size_t>(at_ - begin_); }

 private:
  std::byte* begin_;
  std::byte* at_;
};

/// A Measure or a Write that leaves a hole for one array, which is not copied.
template <typename Out>
class Around {
 public:
  /// `array` may be empty: there is then no hole.
  Around(Out out, const Buffer& array) : out_(out), array_(array.data()), size_(array.size()) {}

  void bytes(const void* from, std::size_t size) {
    if (size == size_ && from == array_ && size > 0) {
      hole_ = out_.at();
      passed_ = size;
    } else {
      out_.bytes(from, size);
    }
  }
  void zeros(std::size_t size) { out_.zeros(size); }
  /// Includes the array after it was passed.
  [[nodiscard]] std::size_t at() const { return out_.at() + passed_; }
  /// The position at which the array belongs.
  [[nodiscard]] std::size_t hole() const { return hole_; }

 private:
  Out out_;
  const std::byte* const array_;
  const std::size_t size_;
  std::size_t hole_ = 0;
  std::size_t passed_ = 0;
};

/// Seconds and nanoseconds of a ROS time. The seconds are rounded down.
struct RosTime {
  std::int64_t seconds = 0;
  std::int64_t nanoseconds = 0;
};
[[nodiscard]] inline RosTime ros_time(std::int64_t ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  RosTime time{ns / kSecond, ns % kSecond};
  if (time.nanoseconds < 0) {
    time.nanoseconds += kSecond;
    --time.seconds;
  }
  return time;
}

/// Writes a message in the encoding of ROS 1 (kCdr false) or ROS 2 (XCDR1, little endian).
template <bool kCdr, typename Out>
class RosSink {
 public:
  /// `before`: zeros before the message, which count for its alignment.
  RosSink(Out& out, ConversionError& failure, std::size_t before = 0)
      : out_(out), failure_(failure) {
    if constexpr (kCdr) {
      constexpr std::byte kLittleEndian[4] = {std::byte{0}, std::byte{1}, std::byte{0},
                                              std::byte{0}};
      out_.bytes(kLittleEndian, sizeof kLittleEndian);
      out_.zeros(before);
    }
  }

  bool open(const Shape& shape) {
    // rosidl adds one byte to a structure without members, because IDL has no empty structures.
    if (kCdr && shape.fields.empty()) out_.zeros(1);
    return true;
  }
  bool close(const Shape& /*shape*/) { return true; }
  bool key(const Field& /*field*/) { return true; }

  bool number(const Field& field, std::uint64_t bits) {
    align(field.width);
    std::byte little[8];
    wire::put_le(little, bits, field.width);
    out_.bytes(little, field.width);
    return true;
  }
  bool text(const Field& field, std::string_view text) {
    if (kCdr && field.kind == Kind::wstring) return wide(text);
    length(text.size() + (kCdr ? 1 : 0));
    out_.bytes(text.data(), text.size());
    if (kCdr) out_.zeros(1);
    return true;
  }
  bool time(const Field& field, std::int64_t ns) {
    const RosTime time = ros_time(ns);
    const bool is_unsigned = !field.ros2 && field.kind == Kind::time;
    const std::int64_t least = is_unsigned ? 0 : std::numeric_limits<std::int32_t>::min();
    const std::int64_t most = is_unsigned ? std::numeric_limits<std::uint32_t>::max()
                                          : std::numeric_limits<std::int32_t>::max();
    if (time.seconds < least || time.seconds > most) {
      return failure_.fail("is " + std::to_string(ns) + " ns, out of range for a " +
                           (field.kind == Kind::time ? "time" : "duration") + " in ROS " +
                           (field.ros2 ? "2" : "1"));
    }
    word(static_cast<std::uint32_t>(time.seconds));
    word(static_cast<std::uint32_t>(time.nanoseconds));
    return true;
  }

  bool list(const Field& field, std::size_t count) {
    if (field.count != Count::fixed) length(count);
    return true;
  }
  bool item(const Field& /*field*/) { return true; }
  bool end_list(const Field& /*field*/) { return true; }
  bool packed(const Field& field, std::span<const std::byte> numbers) {
    if (numbers.empty()) return true;
    align(field.width);
    out_.bytes(numbers.data(), numbers.size());
    return true;
  }
  bool blob(const Field& field, std::size_t size) { return list(field, size); }
  bool piece(const Field& /*field*/, std::span<const std::byte> bytes) {
    out_.bytes(bytes.data(), bytes.size());
    return true;
  }
  bool end_blob(const Field& /*field*/) { return true; }

 private:
  void align(std::size_t width) {
    if constexpr (kCdr) {
      // the 4-byte encapsulation header does not count
      const std::size_t past = (out_.at() - 4) % width;
      if (past != 0) out_.zeros(width - past);
    }
  }
  void word(std::uint32_t value) {
    align(4);
    std::byte little[4];
    wire::put_le(little, value, 4);
    out_.bytes(little, 4);
  }
  void length(std::size_t count) { word(static_cast<std::uint32_t>(count)); }
  /// ROS 2 writes each UTF-16 unit in four bytes, without a terminator.
  bool wide(std::string_view text) {
    std::u16string units;
    to_utf16(text, units);
    length(units.size());
    for (const char16_t unit : units) word(unit);
    return true;
  }

  Out& out_;
  ConversionError& failure_;
};

}  // namespace hyphos::gateway
