#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gateway/core/protocol.hpp"
#include "gateway/core/rules.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway {

/// What `hyphos-gateway` is told; `hyphos gateway` writes it.
struct Arguments {
  std::string protocol;
  std::filesystem::path types;
  Options options;
  Rules rules;
};

/// Reads and removes what it knows. `words` without the program's name. Error: invalid_config.
Result<Arguments> parse_arguments(const std::vector<std::string>& words);

}  // namespace hyphos::gateway
