#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "hyphos/buffer.hpp"

namespace hyphos::gateway {

/// A message in a form of ROS, in parts that follow each other. A large array of bytes may be a
/// part of its own, which lies where the message of the channel has it: hold it as short as that.
struct EncodedMessage {
  using Parts = std::array<std::span<const std::byte>, 3>;

  Buffer head;   ///< all of it, if there is no array
  Buffer array;  ///< of the message of the channel
  Buffer tail;

  EncodedMessage() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a message in one part is one
  EncodedMessage(Buffer whole) : head(std::move(whole)) {}
  EncodedMessage(Buffer before, Buffer its_array, Buffer behind)
      : head(std::move(before)), array(std::move(its_array)), tail(std::move(behind)) {}

  [[nodiscard]] std::size_t size() const { return head.size() + array.size() + tail.size(); }
  [[nodiscard]] Parts parts() const { return {head.bytes(), array.bytes(), tail.bytes()}; }
  /// In one part; copies it if it is in several.
  [[nodiscard]] Buffer joined() const;
};

}  // namespace hyphos::gateway
