#include "gateway/rosbridge/json_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

#include "gateway/convert/json_sink.hpp"
#include "gateway/convert/long_texts.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

void append_escape(std::string& out, std::uint32_t unit) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "\\u%04x", unit & 0xffffU);
  out += text.data();
}

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

/// Appends text from outside of strings. Returns true if it quoted a word.
bool append_outside(std::string& out, std::string_view text) {
  constexpr std::string_view kWords[] = {"-Infinity", "Infinity", "NaN"};
  bool found = false;
  while (!text.empty()) {
    const auto* const word =
        std::ranges::find_if(kWords, [&](std::string_view one) { return text.starts_with(one); });
    if (word == std::end(kWords)) {
      out += text.front();
      text.remove_prefix(1);
      continue;
    }
    found = true;
    (out += '"') += *word;
    out += '"';
    text.remove_prefix(word->size());
  }
  return found;
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  append_json_text(text, out);
  return out;
}

std::string quoted_list(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) {
    if (out.size() > 1) out += ',';
    append_json_text(text, out);
  }
  return out + "]";
}

std::string with_quoted_specials(std::string_view json) {
  std::string out;
  bool found = false;
  // Capital letters are rare outside of strings: most messages have none.
  for (std::size_t at = 0; at < json.size() && !found;) {
    const std::size_t quote = std::min(json.find('"', at), json.size());
    const std::string_view outside = json.substr(at, quote - at);
    found =
        outside.find('N') != std::string_view::npos || outside.find('I') != std::string_view::npos;
    at = quote < json.size() ? end_of_string(json, quote) : quote;
  }
  if (!found) return out;
  found = false;
  for (std::size_t at = 0; at < json.size();) {
    const std::size_t quote = std::min(json.find('"', at), json.size());
    if (append_outside(out, json.substr(at, quote - at))) found = true;
    at = quote < json.size() ? end_of_string(json, quote) : quote;
    out += json.substr(quote, at - quote);
  }
  return found ? out : std::string();
}

std::string to_ascii(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  std::size_t at = 0;
  while (at < json.size()) {
    const auto first = static_cast<unsigned char>(json[at]);
    if (first < 0x80) {
      out += json[at++];
      continue;
    }
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    std::uint32_t point = first & (0xffU >> (length + 1));
    const std::size_t end = std::min(at + length, json.size());
    for (++at; at < end && continues(json[at]); ++at) {
      point = point << 6 | (static_cast<unsigned char>(json[at]) & 0x3fU);
    }
    if (point >= 0x10000) {
      append_escape(out, 0xd800U + ((point - 0x10000) >> 10));
      append_escape(out, 0xdc00U + ((point - 0x10000) & 0x3ffU));
    } else {
      append_escape(out, point);
    }
  }
  return out;
}

std::size_t piece_end(std::string_view text, std::size_t from, std::size_t size) {
  size = std::max<std::size_t>(size, 1);
  if (size >= text.size() - from) return text.size();
  std::size_t end = from + size;
  while (end > from && continues(text[end])) --end;
  if (end > from) return end;
  // A character longer than the piece is kept whole.
  end = from + 1;
  while (end < text.size() && continues(text[end])) ++end;
  return end;
}

}  // namespace hyphos::gateway::rosbridge
