#pragma once

#include <string>
#include <vector>

#include "gateway/facade/protocol.hpp"
#include "gateway/types/rules.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway {

/// Reads rules for single clients. Each line has a pattern for client names and words
/// `OPTION=VALUE[,VALUE…]`. These are options of the command line without `--`: publish,
/// no-publish, subscribe, no-subscribe, call, no-call, serve, no-serve and rate. An option that a
/// line omits keeps its value from `others`. Empty lines and lines that begin with `#` are ignored.
///
/// `tokens=FILE` limits a line to clients that presented a token of that file. The path is relative
/// to the folder of the rules file. Its tokens are appended to `tokens`. Errors: invalid_config and
/// io, with file and line.
[[nodiscard]] Result<std::vector<ClientRules>> read_rules(const std::string& file,
                                                          const Rules& others,
                                                          std::vector<Token>& tokens);

}  // namespace hyphos::gateway
