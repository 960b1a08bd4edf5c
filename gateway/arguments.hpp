#pragma once

#include <string>
#include <vector>

#include "gateway/facade/protocol.hpp"
#include "gateway/known_types.hpp"
#include "gateway/types/rules.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway {

/// What a gateway is told: the words behind `hyphos gateway`.
struct Arguments {
  OpenProtocol open = nullptr;  ///< of the protocol that was named
  TypeSource types;
  Options options;
  Rules rules;
};

/// `words` without the program's name. Error: invalid_config.
Result<Arguments> parse_arguments(const std::vector<std::string>& words);

}  // namespace hyphos::gateway
