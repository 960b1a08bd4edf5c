#include "gateway/ros1/xml_text.hpp"

#include <cstddef>
#include <span>

#include "gateway/convert/base64.hpp"
#include "gateway/convert/utf.hpp"

namespace hyphos::gateway::ros1 {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// The length of the UTF-8 character at the start of `text`. 0 if XML cannot hold it.
std::size_t character(std::string_view text) {
  char32_t code = 0;
  const std::size_t length = first_character(text, code);
  const bool is_control = code < 0x20 && code != '\t' && code != '\n';
  return is_control || code == 0xFFFE || code == 0xFFFF ? 0 : length;
}

}  // namespace

void append_escaped(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = character(text);
    switch (text[0]) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '\r':
        out += "&#13;";
        break;  // otherwise a parser converts it to \n
      default:
        out += length == 0 ? kReplacement : text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
}

void append_base64(std::string& out, std::string_view bytes) {
  Base64Writer writer(out);
  writer.write(std::as_bytes(std::span(bytes)));
  writer.end();
}

std::optional<std::string> from_base64(std::string_view text) {
  std::string plain(text);
  std::erase_if(plain, [](char letter) {
    return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
  });
  const std::size_t padding = plain.size() - (plain.find_last_not_of('=') + 1);
  if (padding > 2 || plain.size() % 4 != 0) return std::nullopt;
  std::string bytes(base64_size(plain), '\0');
  if (!decode_base64(plain, reinterpret_cast<std::byte*>(bytes.data()))) return std::nullopt;
  return bytes;
}

}  // namespace hyphos::gateway::ros1
