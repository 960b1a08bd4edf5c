#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hyphos::gateway::rosbridge {

[[nodiscard]] std::string quoted(std::string_view text);
/// ["a","b"]
[[nodiscard]] std::string quoted_list(const std::vector<std::string>& texts);

/// The same JSON with NaN, Infinity and -Infinity in quotes, as clients in Python write them and no
/// parser of JSON reads them; empty if there is nothing of the kind. Cost: of looking at brackets.
[[nodiscard]] std::string with_quoted_specials(std::string_view json);

/// The same JSON in ASCII: other characters as \uXXXX.
[[nodiscard]] std::string to_ascii(std::string_view json);

/// Where a piece of at most `size` bytes from `from` ends, so that no character is cut; at least
/// one character.
[[nodiscard]] std::size_t piece_end(std::string_view text, std::size_t from, std::size_t size);

}  // namespace hyphos::gateway::rosbridge
