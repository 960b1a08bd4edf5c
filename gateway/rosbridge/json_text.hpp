#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hyphos::gateway::rosbridge {

[[nodiscard]] std::string json_string(std::string_view text);
/// ["a","b"]
[[nodiscard]] std::string quoted_list(const std::vector<std::string>& texts);

/// The same JSON with NaN, Infinity and -Infinity in quotes. Python clients write these words, but
/// no JSON parser accepts them. Empty if the JSON has none. Cost: a scan for brackets.
[[nodiscard]] std::string with_quoted_specials(std::string_view json);

/// The same JSON in ASCII. Other characters become \uXXXX.
[[nodiscard]] std::string to_ascii(std::string_view json);

/// The end of a piece of at most `size` bytes from `from`, so that no character is cut. A piece has
/// at least one character.
[[nodiscard]] std::size_t piece_end(std::string_view text, std::size_t from, std::size_t size);

}  // namespace hyphos::gateway::rosbridge
