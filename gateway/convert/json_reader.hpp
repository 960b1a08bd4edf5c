#pragma once

#include <cstdint>
#include <string_view>

#include "gateway/convert/lend.hpp"
#include "gateway/convert/long_texts.hpp"
#include "gateway/convert/shape.hpp"
#include "hyphos/message.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway {

/// Converts JSON from a rosbridge client to a message of a channel: see Converter::read(). `bounds`
/// change the cost, but not the result.
[[nodiscard]] Result<RawMessage> read_json(const Shape& shape, bool attached, std::string_view text,
                                           const Lend& lend, std::int64_t now_ns,
                                           const LongTexts::Bounds& bounds = {},
                                           const DecodedText* decoded = nullptr);

}  // namespace hyphos::gateway
