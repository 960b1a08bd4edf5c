#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "gateway/convert/decode_hint.hpp"

namespace hyphos::gateway::rosbridge {

/// Bytes of a message that is worth to be found.
inline constexpr std::size_t kLongMessage = std::size_t{16} << 10;

struct LongMessage {
  std::string_view text;
  bool plain = false;  ///< there is no NaN and no Infinity in it, outside of its strings
};

/// The object that is the member `msg` of the object `json`, if it is long and nearly all of it are
/// long strings, as the base64 of images and clouds: then its end is found much faster than a
/// parser of JSON finds it. It is not looked into further, and the rest may be no JSON. None if
/// there is anything that makes this doubtful, such as a second `msg`. `decoded`, or null: a string
/// whose end is known.
[[nodiscard]] std::optional<LongMessage> long_message(std::string_view json,
                                                      const DecodedText* decoded = nullptr);

}  // namespace hyphos::gateway::rosbridge
