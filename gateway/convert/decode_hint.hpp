#pragma once

#include <string_view>
#include <utility>

#include "hyphos/buffer.hpp"

namespace hyphos::gateway {

/// A string of a JSON text, without its quotes, that has been read as base64.
struct DecodedText {
  std::string_view text;  ///< where it stands in the text
  Buffer bytes;
};

/// Where a message lies that is to be read, and what is known of it.
struct DecodeHint {
  DecodeHint() = default;
  // Not explicit: mostly no more is known.
  DecodeHint(Buffer its_memory) : memory(std::move(its_memory)) {}  // NOLINT(*-explicit-*)
  explicit DecodeHint(const DecodedText* its_decoded) : decoded(its_decoded) {}

  Buffer memory;                         ///< attached bytes may stay in it; empty: they are copied
  const DecodedText* decoded = nullptr;  ///< of a JSON text, or none
};

}  // namespace hyphos::gateway
