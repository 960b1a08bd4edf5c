#pragma once

#include <cstdint>
#include <string_view>

#include "gateway/convert/lend.hpp"
#include "gateway/convert/long_texts.hpp"
#include "gateway/convert/shape.hpp"
#include "hyphos/message.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway {

/// What a client of rosbridge wrote as JSON, as a message of a channel: see Converter::read().
/// `bounds` change what it costs, and nothing else.
[[nodiscard]] Result<RawMessage> read_json(const Shape& shape, bool attached, std::string_view text,
                                           const Lend& lend, std::int64_t now_ns,
                                           const LongTexts::Bounds& bounds = {},
                                           const DecodedText* decoded = nullptr);

}  // namespace hyphos::gateway
