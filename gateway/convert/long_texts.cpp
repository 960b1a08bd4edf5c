#include "gateway/convert/long_texts.hpp"

#include <array>
#include <charconv>

#include "gateway/convert/base64.hpp"

namespace hyphos::gateway {
namespace {

// characters of a placeholder's number, and of the check of a string
constexpr std::size_t kNumber = 16;

/// Appends the same length for any number. So no other string has the length of a placeholder.
void append_stand_in(std::size_t number, std::size_t size, std::string& out) {
  std::array<char, kNumber> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
  out.append(size - static_cast<std::size_t>(end - digits.data()), '.');
}

}  // namespace

bool is_escaped(std::string_view json, std::size_t begin, std::size_t at) {
  std::size_t slashes = at;
  while (slashes > begin && json[slashes - 1] == '\\') --slashes;
  return (at - slashes) % 2 != 0;
}

std::size_t end_of_string(std::string_view json, std::size_t from, const DecodedText* decoded) {
  if (decoded != nullptr && decoded->text.data() == json.data() + from + 1) {
    return from + decoded->text.size() + 2;
  }
  for (std::size_t at = from + 1; (at = json.find('"', at)) != json.npos; ++at) {
    if (!is_escaped(json, from + 1, at)) return at + 1;
  }
  return json.size();
}

bool looks_like_base64(std::string_view text) {
  std::array<std::byte, kNumber / 4 * 3> bytes;
  const std::string_view first = text.substr(0, kNumber);
  return base64_size(first) == bytes.size() && decode_base64(first, bytes.data());
}

std::optional<LongTexts> LongTexts::taken_out(std::string_view json, Bounds bounds,
                                              const DecodedText* decoded) {
  if (json.size() < bounds.json) return std::nullopt;
  LongTexts out;
  out.bound_ = bounds.text;
  out.decoded_ = decoded;
  std::size_t copied = 0;
  std::size_t left = 64 + json.size() / 512;  // number of strings that may be examined
  for (std::size_t at = 0; (at = json.find('"', at)) != json.npos;) {
    if (left-- == 0) return std::nullopt;
    const std::size_t end = end_of_string(json, at, decoded);
    if (end == json.size()) return std::nullopt;  // the string is not inside an object
    const std::string_view text = json.substr(at + 1, end - at - 1);
    if (text.size() > bounds.text) {  // includes the closing quote
      if (!looks_like_base64(text)) return std::nullopt;
      out.json_.append(json, copied, at + 1 - copied);
      append_stand_in(out.texts_.size(), bounds.text, out.json_);
      out.texts_.push_back(text.substr(0, text.size() - 1));
      copied = end - 1;
    }
    at = end;
  }
  if (out.texts_.empty()) return std::nullopt;
  out.json_.append(json, copied);
  return out;
}

std::string_view LongTexts::of(std::string_view stand_in) const {
  std::size_t number = texts_.size();
  std::from_chars(stand_in.data(), stand_in.data() + kNumber, number);
  return number < texts_.size() ? texts_[number] : std::string_view();
}

}  // namespace hyphos::gateway
