#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// XCDR1 as ROS 2 uses it, for the few types that the gateway writes and reads itself.
namespace hyphos::gateway::ros2 {

static_assert(std::endian::native == std::endian::little);

class CdrWriter {
 public:
  template <typename Number>
  void number(Number value) {
    align(sizeof value);
    const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
  }
  void flag(bool value) { number<std::uint8_t>(value ? 1 : 0); }
  void text(std::string_view value) {
    count(value.size() + 1);
    const auto* const bytes = reinterpret_cast<const std::byte*>(value.data());
    bytes_.insert(bytes_.end(), bytes, bytes + value.size());
    bytes_.push_back(std::byte{0});
  }
  /// Writes the number of elements of the list that follows.
  void count(std::size_t value) { number(static_cast<std::uint32_t>(value)); }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void align(std::size_t size) {
    while ((bytes_.size() - kEncapsulation) % size != 0) bytes_.push_back(std::byte{0});
  }

  static constexpr std::size_t kEncapsulation = 4;
  std::vector<std::byte> bytes_{std::byte{0}, std::byte{1}, std::byte{0}, std::byte{0}};
};

/// After the first read beyond the end, all values are 0 and failed() is true.
class CdrReader {
 public:
  explicit CdrReader(std::span<const std::byte> bytes) : bytes_(bytes) {
    failed_ = bytes.size() < at_ || bytes[0] != std::byte{0} || bytes[1] > std::byte{1};
    is_big_endian_ = !failed_ && bytes[1] == std::byte{0};
  }
  [[nodiscard]] bool failed() const { return failed_; }

  template <typename Number>
  Number number() {
    constexpr std::size_t kSize = sizeof(Number);
    at_ = kEncapsulation + (at_ - kEncapsulation + kSize - 1) / kSize * kSize;
    if (!reach(kSize)) return Number{};
    std::byte raw[kSize];
    for (std::size_t i = 0; i < kSize; ++i) {
      raw[is_big_endian_ ? kSize - 1 - i : i] = bytes_[at_ + i];
    }
    at_ += kSize;
    Number value;
    std::memcpy(&value, raw, kSize);
    return value;
  }
  bool flag() { return number<std::uint8_t>() != 0; }
  std::string text() {
    const std::size_t size = number<std::uint32_t>();
    if (size == 0 || !reach(size)) {
      failed_ = true;
      return {};
    }
    const auto* const data = reinterpret_cast<const char*>(bytes_.data()) + at_;
    at_ += size;
    return {data, size - 1};
  }
  /// The number of elements, of at least one byte each. 0 if the remaining bytes are too few.
  std::size_t count() {
    const std::size_t claimed = number<std::uint32_t>();
    if (failed_ || claimed > bytes_.size() - at_) {
      failed_ = true;
      return 0;
    }
    return claimed;
  }

 private:
  bool reach(std::size_t size) {
    if (!failed_ && at_ <= bytes_.size() && size <= bytes_.size() - at_) return true;
    failed_ = true;
    return false;
  }

  static constexpr std::size_t kEncapsulation = 4;
  const std::span<const std::byte> bytes_;
  std::size_t at_ = kEncapsulation;
  bool is_big_endian_ = false;
  bool failed_ = false;
};

}  // namespace hyphos::gateway::ros2
