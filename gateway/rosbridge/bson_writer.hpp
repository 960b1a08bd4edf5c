#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace hyphos::gateway::rosbridge {

/// The types of elements (bsonspec.org). Others have no counterpart in ROS.
enum class Bson : std::uint8_t {
  real = 0x01,
  text = 0x02,
  document = 0x03,
  array = 0x04,
  binary = 0x05,
  boolean = 0x08,
  null = 0x0a,
  int32 = 0x10,
  int64 = 0x12,
};

static_assert(std::endian::native == std::endian::little);

/// Appends the elements of a document. A key ends at its first NUL, because BSON has no other form.
class BsonWriter {
 public:
  /// Begins the document itself, or a document inside it. Pass the result to end().
  std::size_t begin() {
    out_.append(4, '\0');
    return out_.size() - 4;
  }
  std::size_t begin(std::string_view key, Bson type) {
    head(key, type);
    return begin();
  }
  void end(std::size_t begun) {
    out_ += '\0';
    const auto size = static_cast<std::uint32_t>(out_.size() - begun);
    std::memcpy(out_.data() + begun, &size, sizeof size);
  }
  void null(std::string_view key) { head(key, Bson::null); }
  void boolean(std::string_view key, bool value) {
    head(key, Bson::boolean);
    out_ += value ? '\1' : '\0';
  }
  void real(std::string_view key, double value) { number(key, Bson::real, value); }
  void whole(std::string_view key, std::int64_t value) {
    if (std::in_range<std::int32_t>(value)) {
      number(key, Bson::int32, static_cast<std::int32_t>(value));
    } else {
      number(key, Bson::int64, value);
    }
  }
  /// Above the range of int64, BSON has floating-point numbers only.
  void whole(std::string_view key, std::uint64_t value) {
    if (std::in_range<std::int64_t>(value)) return whole(key, static_cast<std::int64_t>(value));
    real(key, static_cast<double>(value));
  }
  void text(std::string_view key, std::string_view value) {
    head(key, Bson::text);
    length(value.size() + 1);
    out_.append(value) += '\0';
  }
  void binary(std::string_view key, std::span<const std::byte> value) {
    head(key, Bson::binary);
    length(value.size());
    out_ += '\0';  // the subtype of plain bytes
    out_.append(reinterpret_cast<const char*>(value.data()), value.size());
  }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  void head(std::string_view key, Bson type) {
    out_ += static_cast<char>(type);
    out_.append(key.substr(0, key.find('\0'))) += '\0';
  }
  template <typename Number>
  void number(std::string_view key, Bson type, Number value) {
    head(key, type);
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    out_.append(bytes, sizeof value);
  }
  void length(std::size_t value) {
    const auto size = static_cast<std::uint32_t>(value);
    char bytes[sizeof size];
    std::memcpy(bytes, &size, sizeof size);
    out_.append(bytes, sizeof size);
  }

  std::string out_;
};

}  // namespace hyphos::gateway::rosbridge
