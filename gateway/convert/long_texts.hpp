#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/convert/decode_hint.hpp"

namespace hyphos::gateway {

/// Where the string of a JSON text ends that begins with the quote at `from`: behind its closing
/// quote, or at the end of the text if it has none. `decoded`, or null: one whose end is known.
[[nodiscard]] std::size_t end_of_string(std::string_view json, std::size_t from,
                                        const DecodedText* decoded = nullptr);
/// Whether the character at `at` of a string that begins at `begin` is one of it, by the
/// backslashes before it.
[[nodiscard]] bool is_escaped(std::string_view json, std::size_t begin, std::size_t at);
/// By its first 16 characters, which it has to have.
[[nodiscard]] bool looks_like_base64(std::string_view text);

/// The long strings of a JSON text, which are the base64 of images and clouds, taken out of it: a
/// parser of JSON would look at each of their characters for its end, its escapes and UTF-8, and
/// copy it, where reading base64 says of all that that it is good. In their place the text has
/// stand-ins, which are short for them.
///
/// Its users have to read every one of them as base64, which is what shows that the strings were
/// JSON; if one is read as anything else, or is no base64, the text has to be parsed as it is.
class LongTexts {
 public:
  struct Bounds {
    std::size_t json = std::size_t{16} << 10;  ///< bytes of a text that is worth it
    std::size_t text = std::size_t{4} << 10;   ///< bytes of a string that is long, at least 16
  };

  /// None if there is no long string, or one that does not look like base64, or so many strings
  /// that looking at each costs more than it spares. They stay in `json`.
  /// `decoded`, or null: one of them that has been read already; it outlives this.
  [[nodiscard]] static std::optional<LongTexts> taken_out(std::string_view json, Bounds bounds,
                                                          const DecodedText* decoded = nullptr);
  /// None were taken out.
  LongTexts() = default;

  /// The text with stand-ins.
  [[nodiscard]] const std::string& json() const { return json_; }
  /// Whether a string of json(), without its escapes, is a stand-in. Exact: what stayed is shorter.
  [[nodiscard]] bool has(std::string_view text) const {
    return !texts_.empty() && text.size() >= bound_;
  }
  /// What it stands for.
  [[nodiscard]] std::string_view of(std::string_view stand_in) const;
  /// The bytes of one of them, if they are known.
  [[nodiscard]] const Buffer* bytes_of(std::string_view text) const {
    return decoded_ != nullptr && decoded_->text.data() == text.data() ? &decoded_->bytes : nullptr;
  }
  /// One more was read as base64, and was that.
  void read() { ++read_; }
  [[nodiscard]] bool all_read() const { return read_ == texts_.size(); }

 private:
  std::string json_;
  std::vector<std::string_view> texts_;
  std::size_t bound_ = 0;
  std::size_t read_ = 0;
  const DecodedText* decoded_ = nullptr;
};

}  // namespace hyphos::gateway
