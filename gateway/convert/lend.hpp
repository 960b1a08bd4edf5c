#pragma once

#include <cstddef>
#include <functional>

#include "hyphos/buffer.hpp"

namespace hyphos::gateway {

/// Gives memory for a message that is about to be made, as RawPublisher::loan_bytes does.
using Lend = std::function<WritableBuffer(std::size_t)>;

}  // namespace hyphos::gateway
