#pragma once

#include <string>
#include <vector>

#include "gateway/facade/protocol.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway {

/// Reads tokens, one in a line, behind those that are there; they are secrets, so they do not stand
/// among arguments nor in rules. `rules`: what Token::rules is of them. Errors: io (it cannot be
/// read), invalid_config (there is none in it, or one that is among the others).
[[nodiscard]] Result<void> read_tokens(const std::string& file, const std::string& rules,
                                       std::vector<Token>& tokens);

}  // namespace hyphos::gateway
