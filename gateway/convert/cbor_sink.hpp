#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "gateway/convert/scan.hpp"
#include "gateway/convert/shape.hpp"

namespace hyphos::gateway {

/// Writes a message as rosbridge's CBOR (RFC 8949): arrays of uint8 as byte strings, other arrays
/// of numbers as typed arrays in little endian (RFC 8746), else as JsonSink.
class CborSink {
 public:
  explicit CborSink(std::vector<std::byte>& out) : out_(out) {}

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

 private:
  void head(unsigned major, std::uint64_t value);
  void plain(std::string_view text);
  void little(std::uint64_t bits, std::size_t width);
  void whole(std::int64_t value);

  std::vector<std::byte>& out_;
  bool typed_ = false;  // numbers are elements of a typed array
};

}  // namespace hyphos::gateway
