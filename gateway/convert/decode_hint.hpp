#pragma once

#include <string_view>
#include <utility>

#include "hyphos/buffer.hpp"

namespace hyphos::gateway {

/// A string of a JSON text, without its quotes, that has been decoded as base64.
struct DecodedText {
  std::string_view text;  ///< its position in the text
  Buffer bytes;
};

/// The memory that holds a message to be read, and the parts that are already decoded.
struct DecodeHint {
  DecodeHint() = default;
  // Implicit, because most callers know only the memory.
  DecodeHint(Buffer its_memory) : memory(std::move(its_memory)) {}  // NOLINT(*-explicit-*)
  explicit DecodeHint(const DecodedText* its_decoded) : decoded(its_decoded) {}

  Buffer memory;                         ///< attached bytes may stay in it, empty: they are copied
  const DecodedText* decoded = nullptr;  ///< of a JSON text, or null
};

}  // namespace hyphos::gateway
