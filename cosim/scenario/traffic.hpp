#pragma once

#include "cosim/scenario/scenario.hpp"
#include "plan/reader.hpp"

namespace hyphos::cosim {

/// The section `traffic`, into `scenario.traffic` or, if it names flows, `scenario.flows`. The
/// robots are known by then. `file`: recordings lie beside it.
void read_traffic(const plan::Section& root, const std::string& file, Scenario& scenario,
                  config::Problems& problems);

}  // namespace hyphos::cosim
