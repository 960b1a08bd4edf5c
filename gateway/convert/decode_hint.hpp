#pragma once

#include <string_view>
#include <utility>

#include "hyphos/buffer.hpp"
#include "hyphos/time.hpp"

namespace hyphos::gateway {

/// A string of a JSON text, without its quotes, that has been decoded as base64.
struct DecodedText {
  std::string_view text;  ///< its position in the text
  Buffer bytes;
};

/// The memory that holds a message to be read, the parts that are already decoded, and its arrival.
struct DecodeHint {
  DecodeHint() = default;
  // Implicit, because most callers know only the memory.
  DecodeHint(Buffer its_memory) : memory(std::move(its_memory)) {}  // NOLINT(*-explicit-*)
  DecodeHint(Buffer its_memory, Time its_arrival)
      : memory(std::move(its_memory)), arrived(its_arrival) {}
  DecodeHint(const DecodedText* its_decoded, Time its_arrival)
      : decoded(its_decoded), arrived(its_arrival) {}

  Buffer memory;                         ///< attached bytes may stay in it, empty: they are copied
  const DecodedText* decoded = nullptr;  ///< of a JSON text, or null
  /// CLOCK_MONOTONIC. Messages that arrived together are a burst. 0: it arrives now.
  Time arrived = {};
};

}  // namespace hyphos::gateway
