#include "gateway/facade/tokens.hpp"

#include <algorithm>
#include <fstream>

namespace hyphos::gateway {

Result<void> read_tokens(const std::string& file, const std::string& rules,
                         std::vector<Token>& tokens) {
  std::ifstream in(file);
  if (!in) return Error{Code::io, "cannot be read", file};
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
                   "the token in line " + std::to_string(number) + " is in " + other +
                       ", too; a token may be in one file alone",
                   file};
    }
  }
  if (in.bad()) return Error{Code::io, "cannot be read", file};
  if (found) return {};
  return Error{Code::invalid_config, "there is no token in it: one in each line", file};
}

}  // namespace hyphos::gateway
