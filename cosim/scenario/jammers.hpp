#pragma once

#include "base/config_reader.hpp"
#include "cosim/scenario/scenario.hpp"

namespace hyphos::cosim {

/// Reads `radio.jammers`, of a named radio. All robots must be read before.
void read_jammers(const config::Section& radio, Scenario& scenario, config::Problems& problems);

}  // namespace hyphos::cosim
