#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "hyphos/codec.hpp"
#include "hyphos/transforms.hpp"

/// A hand-written codec for hyphos.msgs.TfMessage (proto/hyphos/msgs/tf.proto): the core library
/// does not contain the standard messages, and no message object is built to read a transform.
namespace hyphos::tf {

[[nodiscard]] TypeId message_type();

/// The number of bytes that write() writes.
[[nodiscard]] std::size_t size(std::span<const Transform> transforms);
void write(std::span<const Transform> transforms, std::byte* out);

/// Calls `take` for each transform in turn, with the same object each time. So a message costs no
/// more memory than its bytes. Missing fields are 0, also w of the rotation. Returns `corrupt` if
/// the bytes are not a TfMessage. `take` has then received the transforms before the error.
[[nodiscard]] Result<void> read(std::span<const std::byte> bytes,
                                const std::function<void(const Transform&)>& take);

}  // namespace hyphos::tf
