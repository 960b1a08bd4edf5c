#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hyphos::gateway {

/// Decodes the first character of `text`, which must not be empty. Returns its size in bytes, or 0
/// if it is invalid (surrogates and overlong forms are).
[[nodiscard]] std::size_t first_character(std::string_view text, char32_t& character);

/// True for well-formed UTF-8 (no surrogates, no overlong forms).
[[nodiscard]] bool is_utf8(std::string_view text);

/// Appends `text` with U+FFFD for each byte that is not UTF-8. ROS does not check its strings, but
/// protobuf and JSON reject such bytes.
void append_utf8(std::string_view text, std::string& out);

void to_utf16(std::string_view utf8, std::u16string& out);
/// A lone surrogate becomes U+FFFD.
void append_utf8(std::u16string_view utf16, std::string& out);

}  // namespace hyphos::gateway
