#pragma once

#include <string>
#include <string_view>

#include "gateway/convert/base64.hpp"
#include "gateway/convert/scan.hpp"
#include "gateway/convert/shape.hpp"

namespace hyphos::gateway {

/// Writes a message as rosbridge does: uint8[] and char[] as base64, times as objects with two
/// numbers, and floats that JSON lacks (NaN, infinity) as null.
class JsonSink {
 public:
  explicit JsonSink(std::string& out) : out_(out), base64_(out) {}

  bool open(const Shape& shape);
  bool close(const Shape& shape);
  bool key(const Field& field);
  bool number(const Field& field, std::uint64_t bits);
  bool text(const Field& field, std::string_view text);
  bool time(const Field& field, std::int64_t ns);
  bool list(const Field& field, std::size_t count);
  bool item(const Field& field);
  bool end_list(const Field& field);
  bool packed(const Field& field, Bytes numbers);
  bool blob(const Field& field, std::size_t size);
  bool piece(const Field& field, Bytes bytes);
  bool end_blob(const Field& field);

 private:
  std::string& out_;
  Base64Writer base64_;
};

/// True for arrays that rosbridge writes as base64, and not as lists of numbers.
[[nodiscard]] inline bool is_base64(const Field& field) {
  return field.blob && (field.kind == Kind::uint8 || field.kind == Kind::character);
}

/// Appends a quoted string. Bytes that are not UTF-8 are replaced.
void append_json_text(std::string_view text, std::string& out);

}  // namespace hyphos::gateway
