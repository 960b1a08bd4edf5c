#pragma once

#include <string>
#include <vector>

#include "cosim/scenario/scenario.hpp"

namespace hyphos::cosim {

/// The requested bounds that a run exceeded, as lines for users. Each names the packets.
[[nodiscard]] std::vector<std::string> exceeded_lines(const Scenario& scenario,
                                                      const Report& report);

}  // namespace hyphos::cosim
