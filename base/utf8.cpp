#include "base/utf8.hpp"

#include <cstdint>

namespace hyphos {

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  if (first == 0xe0 && byte(1) < 0xa0) return 0;   // overlong
  if (first == 0xed && byte(1) >= 0xa0) return 0;  // surrogate
  if (first == 0xf0 && byte(1) < 0x90) return 0;   // overlong
  if (first == 0xf4 && byte(1) >= 0x90) return 0;  // beyond U+10FFFF
  return length;
}

std::size_t find_bad_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto byte = static_cast<std::uint8_t>(text[at]);
    if (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') return at;
    const std::size_t length = utf8_length(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

}  // namespace hyphos
