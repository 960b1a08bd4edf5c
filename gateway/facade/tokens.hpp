#pragma once

#include <string>
#include <vector>

#include "gateway/facade/protocol.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway {

/// Appends the tokens of a file, one per line, to `tokens`. Tokens are secrets, so they are neither
/// arguments nor part of rules. `rules` becomes Token::rules of each. Errors: io (the file is
/// unreadable), invalid_config (the file has no token, or one that another file has too).
[[nodiscard]] Result<void> read_tokens(const std::string& file, const std::string& rules,
                                       std::vector<Token>& tokens);

}  // namespace hyphos::gateway
