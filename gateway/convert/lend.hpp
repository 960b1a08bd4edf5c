#pragma once

#include <cstddef>
#include <functional>

#include "hyphos/buffer.hpp"

namespace hyphos::gateway {

/// Provides memory for a new message, as RawPublisher::loan_bytes does.
using Lend = std::function<WritableBuffer(std::size_t)>;

}  // namespace hyphos::gateway
