#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "gateway/convert/decode_hint.hpp"
#include "gateway/convert/lend.hpp"

namespace hyphos::gateway {

/// Decodes the first long string of a JSON text as base64 while the text arrives. Its characters
/// are then still in the cache, and the sender need not wait for the decoding. The result must
/// equal the result of a normal read, so the decoder gives up at any unexpected character.
///
/// Not thread-safe. Cost: one pass over the text, and a second one over the base64 part.
class ArrivingText {
 public:
  /// Minimum length of a long string, in characters.
  static constexpr std::size_t kLong = std::size_t{32} << 10;
  /// Maximum number of strings examined before it.
  static constexpr std::size_t kMostStrings = 256;

  /// `long_from` must be at least 16.
  explicit ArrivingText(std::size_t long_from = kLong) : long_from_(long_from) {}

  /// Continues with more text. `text` is all text so far, at an unchanged address, and `size` is
  /// the size of the complete text. `lend` is called once for the memory of the decoded string. It
  /// returns an empty buffer to refuse.
  void more(std::string_view text, std::size_t size, const Lend& lend);
  /// The long string, if its end has arrived. The next call of more() begins another text.
  [[nodiscard]] std::optional<DecodedText> take();

 private:
  enum class Phase { begin, between, inside, decoding, over };

  void look_for_object(std::string_view text);
  void look_for_string(std::string_view text);
  void look_for_end(std::string_view text, std::size_t size, const Lend& lend);
  void decode(std::string_view text);
  void give_up();

  std::size_t long_from_;
  Phase phase_ = Phase::begin;
  std::size_t at_ = 0;       ///< position in the text to continue from
  std::size_t begin_ = 0;    ///< start of the present string
  std::size_t strings_ = 0;  ///< number of strings begun
  std::size_t decoded_ = 0;  ///< decoded characters of the long string
  WritableBuffer memory_;
  std::optional<DecodedText> done_;
};

}  // namespace hyphos::gateway
