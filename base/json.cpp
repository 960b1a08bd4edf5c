#include "base/json.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "base/config.hpp"
#include "base/utf8.hpp"

namespace hyphos {

std::string json_quote(std::string_view text) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text.front());
    if (byte == '"' || byte == '\\') {
      out += {'\\', text.front()};
    } else if (byte == '\n') {
      out += "\\n";
    } else if (byte == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += {'\\', 'u', '0', '0', kHex[byte >> 4U], kHex[byte & 0xfU]};
    } else {
      std::size_t length = 1;
      while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xc0U) == 0x80U) {
        ++length;
      }
      const std::string_view character = text.substr(0, length);
      if (find_bad_utf8(character) == std::string_view::npos) {
        out += character;
      } else {
        out += "\xef\xbf\xbd";
      }
      text.remove_prefix(length);
      continue;
    }
    text.remove_prefix(1);
  }
  return out + '"';
}

void JsonWriter::key(std::string_view name) {
  separate();
  out_ += json_quote(name) + ": ";
  after_key_ = true;
}

void JsonWriter::real(double value) {
  if (!std::isfinite(value)) return null();
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  raw(error == std::errc() ? std::string_view(digits.data(), end) : "null");
}

void JsonWriter::texts(const std::vector<std::string>& values) {
  begin_list();
  for (const std::string& value : values) text(value);
  end_list();
}

void JsonWriter::begin(char bracket) {
  separate();
  out_ += bracket;
  has_items_.push_back(false);
}

void JsonWriter::end(char bracket) {
  const bool filled = has_items_.back();
  has_items_.pop_back();
  if (filled) new_line();
  out_ += bracket;
}

void JsonWriter::raw(std::string_view value) {
  separate();
  out_ += value;
}

void JsonWriter::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_items_.empty()) return;
  if (has_items_.back()) out_ += ',';
  has_items_.back() = true;
  new_line();
}

void JsonWriter::new_line() {
  out_ += '\n';
  out_.append(2 * has_items_.size(), ' ');
}

}  // namespace hyphos
