#pragma once

#include <cstddef>
#include <string_view>

namespace hyphos {

/// Length of the UTF-8 sequence at the front of `text`, which must not be empty. 0 if it is invalid
/// (RFC 3629).
[[nodiscard]] std::size_t utf8_length(std::string_view text);

/// Offset of the first byte that is not UTF-8, or is a control character other than tab and line
/// ends. npos if there is none.
[[nodiscard]] std::size_t find_bad_utf8(std::string_view text);

}  // namespace hyphos
