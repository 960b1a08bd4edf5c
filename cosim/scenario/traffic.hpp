#pragma once

#include "cosim/scenario/scenario.hpp"
#include "plan/reader.hpp"

namespace hyphos::cosim {

/// Reads the section `traffic` into `scenario.traffic` or, if it names flows, into
/// `scenario.flows`. The robots must be read before. Paths of recordings are relative to `file`.
void read_traffic(const plan::Section& root, const std::string& file, Scenario& scenario,
                  config::Problems& problems);

}  // namespace hyphos::cosim
