#pragma once

#include <string>
#include <vector>

#include "gateway/facade/protocol.hpp"
#include "gateway/types/rules.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway {

/// Reads rules of single clients. A line is a pattern of names of clients and words
/// `OPTION=VALUE[,VALUE…]`, the options of the command line without their `--`: publish,
/// no-publish, subscribe, no-subscribe, call, no-call, serve, no-serve and rate. What a line does
/// not name is as `others` have it. Empty lines and lines with `#` in front are left out.
///
/// `tokens=FILE` makes a line one for those who have shown a token of that file, which is looked
/// for from the folder of this one. Its tokens are added to `tokens`. Errors: invalid_config and
/// io, with file and line.
[[nodiscard]] Result<std::vector<ClientRules>> read_rules(const std::string& file,
                                                          const Rules& others,
                                                          std::vector<Token>& tokens);

}  // namespace hyphos::gateway
