#pragma once

#include "base/config_reader.hpp"
#include "cosim/scenario/scenario.hpp"

namespace hyphos::cosim {

/// Reads `radio.cells` and `radio.cell`, of a cellular radio.
void read_cells(const config::Section& radio, Scenario& scenario, config::Problems& problems);

}  // namespace hyphos::cosim
