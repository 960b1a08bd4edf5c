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

/// Converts messages of one ROS type to and from the messages of a channel. Immutable and
/// thread-safe.
///
/// Cost: about one pass over the message. Arrays of floats and of bytes are copied once, unchanged.
/// Memory is allocated once, in the needed size.
class Converter {
 public:
  /// `shape` must outlive it. `attached`: the channel's messages have attached buffers.
  Converter(const Shape& shape, bool attached) : shape_(shape), attached_(attached) {}

  /// Attached bytes of at least this size stay in place. Smaller arrays are copied, because they
  /// would keep a block of memory alive that is many times their size.
  static constexpr std::size_t kKept = std::size_t{32} << 10;

  /// Converts to a message of the channel. `form`: all except cbor. `now_ns`: the stamp for JSON
  /// headers without one. Errors: corrupt, with the field.
  [[nodiscard]] Result<RawMessage> read(Form form, std::span<const std::byte> message,
                                        const Lend& lend, std::int64_t now_ns,
                                        const DecodeHint& within = {}) const;
  /// Converts to a ROS message. Errors: corrupt, with the field, also for values that ROS cannot
  /// hold.
  [[nodiscard]] Result<EncodedMessage> write(Form form, const RawMessage& message) const;

  [[nodiscard]] const Shape& shape() const { return shape_; }

 private:
  /// `before`: bytes before the message, which count for its alignment.
  template <bool kCdr>
  [[nodiscard]] Result<RawMessage> read_ros(std::span<const std::byte> message, const Lend& lend,
                                            const Buffer& within, std::size_t before = 0) const;
  template <bool kCdr>
  [[nodiscard]] Result<EncodedMessage> write_ros(const RawMessage& message,
                                                 std::size_t before = 0) const;
  [[nodiscard]] Result<EncodedMessage> write_json(const RawMessage& message) const;
  [[nodiscard]] Result<EncodedMessage> write_cbor(const RawMessage& message) const;
  /// The array that stays in place, or an empty buffer.
  [[nodiscard]] Buffer kept_array(const RawMessage& message) const;

  const Shape& shape_;
  bool attached_;
};

}  // namespace hyphos::gateway
