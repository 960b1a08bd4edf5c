#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "gateway/convert/decode_hint.hpp"

namespace hyphos::gateway::rosbridge {

/// Minimum size of a message for which the search pays off, in bytes.
inline constexpr std::size_t kLongMessage = std::size_t{16} << 10;

struct LongMessage {
  std::string_view text;
  bool plain = false;  ///< it contains no NaN and no Infinity outside of strings
};

/// Finds the member `msg` of the object `json`, if it is a long object of mostly long strings. Such
/// strings are the base64 of images and point clouds. Its end is then found much faster than by a
/// JSON parser. The content is not examined, and the rest may be invalid JSON. Returns nullopt in
/// any doubtful case, such as a second `msg`. `decoded` may be null, or a string whose end is
/// known.
[[nodiscard]] std::optional<LongMessage> long_message(std::string_view json,
                                                      const DecodedText* decoded = nullptr);

}  // namespace hyphos::gateway::rosbridge
