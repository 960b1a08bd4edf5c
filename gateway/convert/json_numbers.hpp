#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hyphos::gateway {

/// JavaScript writes numbers below 1e21 without an exponent, but simdjson rejects integers of more
/// than 64 bits. Returns the text with ".0" after such numbers, which makes them floating-point.
/// Returns nullopt if there are none. Cost: one pass, a byte at a time.
[[nodiscard]] std::optional<std::string> with_large_numbers(std::string_view json);

}  // namespace hyphos::gateway
