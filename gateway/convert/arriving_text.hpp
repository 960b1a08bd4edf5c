#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "gateway/convert/decode_hint.hpp"
#include "gateway/convert/lend.hpp"

namespace hyphos::gateway {

/// Reads the first long string of a JSON text as base64 while the text is still coming: its
/// characters are in the cache then, and who sends need not wait for it. What is made of it has to
/// be what is made without; so it gives up at anything that is not as expected.
///
/// Not thread-safe. Cost: a pass over what came, and of what is base64 one more.
class ArrivingText {
 public:
  /// Characters of a string that is long.
  static constexpr std::size_t kLong = std::size_t{32} << 10;
  /// Strings that are looked at before it.
  static constexpr std::size_t kMostStrings = 256;

  /// At least 16 make a string long.
  explicit ArrivingText(std::size_t long_from = kLong) : long_from_(long_from) {}

  /// More of it is there: `text` is all of that, where it was before, and `size` what the whole
  /// will have. `lend` is asked once for memory for what may be in the long string; it gives an
  /// empty one if that is not wanted.
  void more(std::string_view text, std::size_t size, const Lend& lend);
  /// The long string, if it has come to its end. The next text is another one.
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
  std::size_t at_ = 0;       ///< of the text, where to go on
  std::size_t begin_ = 0;    ///< of the string that was begun
  std::size_t strings_ = 0;  ///< that were begun
  std::size_t decoded_ = 0;  ///< characters of the long one
  WritableBuffer memory_;
  std::optional<DecodedText> done_;
};

}  // namespace hyphos::gateway
