#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hyphos::gateway {

/// The bytes of the character that `text`, which is not empty, begins with; 0 if it begins with
/// none (surrogates and overlong ones are none).
[[nodiscard]] std::size_t first_character(std::string_view text, char32_t& character);

/// True for well-formed UTF-8 (no surrogates, nothing overlong).
[[nodiscard]] bool is_utf8(std::string_view text);

/// Appends `text` with U+FFFD for each byte that is no UTF-8: ROS does not check its strings,
/// protobuf and JSON do not take them then.
void append_utf8(std::string_view text, std::string& out);

void to_utf16(std::string_view utf8, std::u16string& out);
/// A surrogate alone becomes U+FFFD.
void append_utf8(std::u16string_view utf16, std::string& out);

}  // namespace hyphos::gateway
