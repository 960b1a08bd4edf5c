#pragma once

#include <string>
#include <vector>

#include "gateway/facade/protocol.hpp"
#include "gateway/known_types.hpp"
#include "gateway/types/rules.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway {

/// The parsed words after `hyphos gateway`.
struct Arguments {
  OpenProtocol open = nullptr;  ///< of the named protocol
  TypeSource types;
  Options options;
  Rules rules;
};

/// `words` exclude the program name. Error: invalid_config.
Result<Arguments> parse_arguments(const std::vector<std::string>& words);

}  // namespace hyphos::gateway
