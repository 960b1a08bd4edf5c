#include "gateway/convert/utf.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hyphos::gateway {

namespace {

constexpr char32_t kReplacement = 0xfffd;

std::size_t ascii_prefix(std::string_view text) {
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    if ((word & 0x8080808080808080U) != 0) break;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
  return at;
}

void append(char32_t character, std::string& out) {
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (character < 0x80) {
    put(character);
  } else if (character < 0x800) {
    put(0xc0U | character >> 6U);
    put(0x80U | (character & 0x3fU));
  } else if (character < 0x10000) {
    put(0xe0U | character >> 12U);
    put(0x80U | (character >> 6U & 0x3fU));
    put(0x80U | (character & 0x3fU));
  } else {
    put(0xf0U | character >> 18U);
    put(0x80U | (character >> 12U & 0x3fU));
    put(0x80U | (character >> 6U & 0x3fU));
    put(0x80U | (character & 0x3fU));
  }
}

}  // namespace

std::size_t first_character(std::string_view text, char32_t& character) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return static_cast<unsigned char>(text[i]);
  };
  const std::uint32_t first = byte(0);
  if (first < 0x80) {
    character = first;
    return 1;
  }
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  std::uint32_t value = first & (0xffU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
    value = value << 6U | (byte(i) & 0x3fU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kLeast[size] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return 0;
  character = value;
  return size;
}

bool is_utf8(std::string_view text) {
  for (;;) {
    text.remove_prefix(ascii_prefix(text));
    if (text.empty()) return true;
    char32_t character = 0;
    const std::size_t size = first_character(text, character);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
}

void append_utf8(std::string_view text, std::string& out) {
  while (!text.empty()) {
    const std::size_t plain = ascii_prefix(text);
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) return;
    char32_t character = 0;
    const std::size_t size = first_character(text, character);
    append(size == 0 ? kReplacement : character, out);
    text.remove_prefix(size == 0 ? 1 : size);
  }
}

void to_utf16(std::string_view utf8, std::u16string& out) {
  while (!utf8.empty()) {
    char32_t character = 0;
    const std::size_t size = first_character(utf8, character);
    utf8.remove_prefix(size == 0 ? 1 : size);
    if (size == 0) character = kReplacement;
    if (character < 0x10000) {
      out.push_back(static_cast<char16_t>(character));
    } else {
      out.push_back(static_cast<char16_t>(0xd800 + ((character - 0x10000) >> 10U)));
      out.push_back(static_cast<char16_t>(0xdc00 + ((character - 0x10000) & 0x3ffU)));
    }
  }
}

void append_utf8(std::u16string_view utf16, std::string& out) {
  for (std::size_t i = 0; i < utf16.size(); ++i) {
    const char32_t unit = utf16[i];
    if (unit < 0xd800 || unit >= 0xe000) {
      append(unit, out);
    } else if (unit < 0xdc00 && i + 1 < utf16.size() && utf16[i + 1] >= 0xdc00 &&
               utf16[i + 1] < 0xe000) {
      append(0x10000 + ((unit - 0xd800) << 10U) + (utf16[++i] - 0xdc00U), out);
    } else {
      append(kReplacement, out);
    }
  }
}

}  // namespace hyphos::gateway
