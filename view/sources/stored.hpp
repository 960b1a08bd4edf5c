#pragma once

#include <optional>

#include "hyphos/buffer.hpp"
#include "hyphos/envelope.hpp"

namespace hyphos::view {

/// A message of a recording in the form that it had on its channel.
struct Unjoined {
  Buffer head;
  BufferList buffers;
};

/// Splits a stored message with attached buffers: docs/reference/recording.md. The parts share the
/// memory of `stored`. Empty if the bytes are corrupt, or if there are more than
/// kMaxAttachedBuffers buffers.
[[nodiscard]] std::optional<Unjoined> split_attached(const Buffer& stored);

}  // namespace hyphos::view
