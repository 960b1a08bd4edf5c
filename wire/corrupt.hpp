#pragma once

#include <string>
#include <utility>

#include "hyphos/result.hpp"

namespace hyphos::wire {

inline Error corrupt(std::string message) { return {Code::corrupt, std::move(message), {}}; }

}  // namespace hyphos::wire
