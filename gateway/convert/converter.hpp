#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "gateway/convert/decode_hint.hpp"
#include "gateway/convert/encoded_message.hpp"
#include "gateway/convert/form.hpp"
#include "gateway/convert/lend.hpp"
#include "gateway/convert/shape.hpp"
#include "hyphos/buffer.hpp"
#include "hyphos/message.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway {

/// Turns messages of one type of ROS into what a channel carries, and back. Immutable; thread-safe.
///
/// Costs about one pass over the message: arrays of floats and of bytes are copied as they are,
/// once; memory is taken once, in the size that is needed.
class Converter {
 public:
  /// `shape` outlives it. `attached`: the channel's messages have attached buffers.
  Converter(const Shape& shape, bool attached) : shape_(shape), attached_(attached) {}

  /// From here on attached bytes stay where they are: smaller ones would keep memory from being
  /// used again that is many times theirs.
  static constexpr std::size_t kKept = std::size_t{32} << 10;

  /// A message of the channel. `form`: all but cbor. `now_ns`: for JSON's headers without a stamp.
  /// Errors: corrupt, with the field.
  [[nodiscard]] Result<RawMessage> read(Form form, std::span<const std::byte> message,
                                        const Lend& lend, std::int64_t now_ns,
                                        const DecodeHint& within = {}) const;
  /// A message of ROS. Errors: corrupt, also for what ROS cannot hold, with the field.
  [[nodiscard]] Result<EncodedMessage> write(Form form, const RawMessage& message) const;

  [[nodiscard]] const Shape& shape() const { return shape_; }

 private:
  template <bool kCdr>
  [[nodiscard]] Result<RawMessage> read_ros(std::span<const std::byte> message, const Lend& lend,
                                            const Buffer& within) const;
  template <bool kCdr>
  [[nodiscard]] Result<EncodedMessage> write_ros(const RawMessage& message) const;
  [[nodiscard]] Result<EncodedMessage> write_json(const RawMessage& message) const;
  [[nodiscard]] Result<EncodedMessage> write_cbor(const RawMessage& message) const;
  /// The array that stays where it is, or an empty one.
  [[nodiscard]] Buffer kept_array(const RawMessage& message) const;

  const Shape& shape_;
  bool attached_;
};

}  // namespace hyphos::gateway
