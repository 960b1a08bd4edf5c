#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "hyphos/buffer.hpp"

namespace hyphos::gateway {

/// A message in an encoding of ROS, in parts that follow each other. A large byte array may be a
/// part of its own. It then stays in the memory of the channel's message, so release it soon.
struct EncodedMessage {
  using Parts = std::array<std::span<const std::byte>, 3>;

  Buffer head;   ///< the whole message, if there is no array
  Buffer array;  ///< part of the channel's message
  Buffer tail;

  EncodedMessage() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a message in one part is one
  EncodedMessage(Buffer whole) : head(std::move(whole)) {}
  EncodedMessage(Buffer before, Buffer its_array, Buffer behind)
      : head(std::move(before)), array(std::move(its_array)), tail(std::move(behind)) {}

  [[nodiscard]] std::size_t size() const { return head.size() + array.size() + tail.size(); }
  [[nodiscard]] Parts parts() const { return {head.bytes(), array.bytes(), tail.bytes()}; }
  /// Joins the parts. Copies the message if it has several parts.
  [[nodiscard]] Buffer joined() const;
};

}  // namespace hyphos::gateway
