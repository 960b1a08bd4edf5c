#pragma once

#include <cstdint>
#include <string>

#include "hyphos/buffer.hpp"
#include "hyphos/codec.hpp"
#include "hyphos/envelope.hpp"

namespace hyphos::view {

/// A channel as a source offers it. `id` is its index in Source::channels(), and never changes. A
/// channel that changes its type is offered again with a new id, and the old id gets no more
/// samples.
struct Channel {
  std::uint32_t id = 0;
  std::string name;
  std::string type;  ///< e.g. "hyphos.msgs.LaserScan", empty if unknown
  Encoding encoding = Encoding::bytes;
  bool latched = false;
  std::uint64_t messages = 0;  ///< in the recording, or passed so far (live)
  /// The reason for which Source::types() cannot decode the channel. Empty: it can.
  std::string problem;
  std::uint32_t part = 0;  ///< of Source::parts()
};

/// One message in its encoded form. A copy shares the bytes. Any thread may read it. The bytes may
/// have any alignment.
struct Sample {
  std::uint32_t channel = 0;
  std::int64_t time_ns = 0;     ///< place on the timeline, Unix time: arrival (live) or log time
  std::int64_t publish_ns = 0;  ///< Unix time of the publish, 0 if unknown
  std::uint64_t sender = 0;     ///< 0 if unknown
  std::uint64_t sequence = 0;   ///< per sender, 0 if unknown
  Buffer payload;               ///< without the attached buffers
  BufferList buffers;           ///< attached buffers: pixels, points
  Stamps stamps = {};           ///< live only: CLOCK_MONOTONIC of each layer, else zeros
};

}  // namespace hyphos::view
