#pragma once

#include "base/config_reader.hpp"
#include "cosim/scenario/scenario.hpp"

namespace hyphos::cosim {

/// Reads the section `traffic` into `scenario.traffic` or, if it names flows, into
/// `scenario.flows`. The robots must be read before. Paths of recordings are relative to `file`.
void read_traffic(const config::Section& root, const std::string& file, Scenario& scenario,
                  config::Problems& problems);

}  // namespace hyphos::cosim
