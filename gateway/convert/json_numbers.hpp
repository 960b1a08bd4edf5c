#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hyphos::gateway {

/// JavaScript writes numbers below 1e21 without an exponent; simdjson takes whole numbers of 64
/// bits and no larger ones. The same text with ".0" behind those that are larger, which makes them
/// floating; nothing if there are none. Cost: one pass, a byte at a time.
[[nodiscard]] std::optional<std::string> with_large_numbers(std::string_view json);

}  // namespace hyphos::gateway
