#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "gateway/convert/scan.hpp"
#include "gateway/convert/shape.hpp"
#include "hyphos/buffer.hpp"

namespace hyphos::gateway {

/// Writes a message as rosbridge's CBOR (RFC 8949): arrays of uint8 as byte strings, other numeric
/// arrays as typed arrays in little endian (RFC 8746), and the rest as JsonSink. Leaves a hole for
/// one array, which is not copied.
class CborSink {
 public:
  /// `array` may be empty: there is then no hole.
  CborSink(std::vector<std::byte>& out, const Buffer& array)
      : out_(out), array_(array.data()), size_(array.size()) {}

  bool open(const Shape& shape);
  bool close(const Shape& /*shape*/) { return true; }
  bool key(const Field& field);
  bool number(const Field& field, std::uint64_t bits);
  bool text(const Field& field, std::string_view text);
  bool time(const Field& field, std::int64_t ns);
  bool list(const Field& field, std::size_t count);
  bool item(const Field& /*field*/) { return true; }
  bool end_list(const Field& field);
  bool packed(const Field& field, Bytes numbers);
  bool blob(const Field& field, std::size_t size);
  bool piece(const Field& field, Bytes bytes);
  bool end_blob(const Field& /*field*/) { return true; }

  /// The position at which the array belongs.
  [[nodiscard]] std::size_t hole() const { return hole_; }

 private:
  void head(unsigned major, std::uint64_t value);
  void plain(std::string_view text);
  void little(std::uint64_t bits, std::size_t width);
  void whole(std::int64_t value);

  std::vector<std::byte>& out_;
  const std::byte* const array_;
  const std::size_t size_;
  std::size_t hole_ = 0;
  bool typed_ = false;  // numbers are elements of a typed array
};

}  // namespace hyphos::gateway
