#include "gateway/facade/tokens.hpp"

#include <algorithm>
#include <fstream>

namespace hyphos::gateway {

Result<void> read_tokens(const std::string& file, const std::string& rules,
                         std::vector<Token>& tokens) {
  std::ifstream in(file);
  if (!in) return Error{Code::io, "cannot read the token file", file};
  bool found = false;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.empty()) continue;
    found = true;
    const auto known = std::ranges::find(tokens, line, &Token::secret);
    if (known == tokens.end()) {
      tokens.push_back({line, rules});
    } else if (known->rules != rules) {
      const std::string other = known->rules.empty() ? "the file of --tokens" : known->rules;
      return Error{Code::invalid_config,
                   "the token on line " + std::to_string(number) + " is in " + other +
                       " too. A token may be in only one file",
                   file};
    }
  }
  if (in.bad()) return Error{Code::io, "cannot read the token file", file};
  if (found) return {};
  return Error{Code::invalid_config, "the file has no token. Write one per line", file};
}

}  // namespace hyphos::gateway
