#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/convert/decode_hint.hpp"

namespace hyphos::gateway {

/// The end of the JSON string that begins with the quote at `from`: the position after its closing
/// quote, or the end of the text if it has none. `decoded` may be null, or a string whose end is
/// known.
[[nodiscard]] std::size_t end_of_string(std::string_view json, std::size_t from,
                                        const DecodedText* decoded = nullptr);
/// True if backslashes before the character at `at` escape it. The string begins at `begin`.
[[nodiscard]] bool is_escaped(std::string_view json, std::size_t begin, std::size_t at);
/// Judges by the first 16 characters, which must exist.
[[nodiscard]] bool looks_like_base64(std::string_view text);

/// Takes the long strings out of a JSON text: the base64 of images and point clouds. A JSON parser
/// would examine each of their characters for the end, for escapes and for UTF-8, and copy them.
/// Decoding base64 verifies all that anyway. A short placeholder replaces each long string.
///
/// The user must decode every one of them as base64, which proves that the strings were valid JSON.
/// If one is used in another way or is not base64, parse the original text.
class LongTexts {
 public:
  struct Bounds {
    std::size_t json = std::size_t{16} << 10;  ///< minimum size of a text, in bytes
    /// minimum size of a long string in bytes, at least 16
    std::size_t text = std::size_t{4} << 10;
  };

  /// Returns nullopt if there is no long string, or if one does not look like base64. Also returns
  /// nullopt if so many strings exist that examining them costs more than it saves. The strings
  /// stay in `json`.
  /// `decoded` may be null, or one of them that has been decoded already. It must outlive the
  /// result.
  [[nodiscard]] static std::optional<LongTexts> taken_out(std::string_view json, Bounds bounds,
                                                          const DecodedText* decoded = nullptr);
  /// Without long strings.
  LongTexts() = default;

  /// The text with placeholders.
  [[nodiscard]] const std::string& json() const { return json_; }
  /// True if a string of json(), without its escapes, is a placeholder. Exact, because all
  /// remaining strings are shorter.
  [[nodiscard]] bool has(std::string_view text) const {
    return !texts_.empty() && text.size() >= bound_;
  }
  /// The long string of a placeholder.
  [[nodiscard]] std::string_view of(std::string_view stand_in) const;
  /// The decoded bytes of a long string, if they are known.
  [[nodiscard]] const Buffer* bytes_of(std::string_view text) const {
    return decoded_ != nullptr && decoded_->text.data() == text.data() ? &decoded_->bytes : nullptr;
  }
  /// Reports that one more string was decoded as base64 successfully.
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
