#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hyphos {

/// `text` in quotes, as required by RFC 8259. Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string json_quote(std::string_view text);

/// Writes one JSON value with two spaces of indentation. The caller must balance begin and end, and
/// write a key before every value inside an object.
class JsonWriter {
 public:
  void begin_object() { begin('{'); }
  void end_object() { end('}'); }
  void begin_list() { begin('['); }
  void end_list() { end(']'); }
  void key(std::string_view name);

  void text(std::string_view value) { raw(json_quote(value)); }
  void number(std::int64_t value) { raw(std::to_string(value)); }
  void real(double value);  ///< infinities and NaN, which JSON lacks, become null
  void boolean(bool value) { raw(value ? "true" : "false"); }
  void null() { raw("null"); }
  void texts(const std::vector<std::string>& values);

  [[nodiscard]] std::string take() && { return std::move(out_) + '\n'; }

 private:
  void begin(char bracket);
  void end(char bracket);
  void raw(std::string_view value);
  void separate();
  void new_line();

  std::string out_;
  std::vector<bool> has_items_;  // one per open bracket
  bool after_key_ = false;
};

}  // namespace hyphos
