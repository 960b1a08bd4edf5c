#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "hyphos/codec.hpp"
#include "hyphos/transform.hpp"

/// hyphos.msgs.TfMessage (proto/hyphos/msgs/tf.proto) as bytes, by hand: the core library does not
/// contain the standard messages, and a transform is read without building one.
namespace hyphos::tf {

[[nodiscard]] TypeId message_type();

/// How many bytes write() writes.
[[nodiscard]] std::size_t size(std::span<const Transform> transforms);
void write(std::span<const Transform> transforms, std::byte* out);

/// Calls `take` with one transform after the other, the same object each time: a message costs no
/// more memory than its bytes. What a message leaves out is 0, also w of the rotation. `corrupt` if
/// the bytes are no TfMessage; transforms before the broken place have then been taken.
[[nodiscard]] Result<void> read(std::span<const std::byte> bytes,
                                const std::function<void(const Transform&)>& take);

}  // namespace hyphos::tf
