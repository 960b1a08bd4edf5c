#pragma once

#include <string>

#include "base/config_reader.hpp"
#include "cosim/scenario/scenario.hpp"

namespace hyphos::cosim {

/// Reads the section `radio` of the scenario at `path`. All robots must be read before.
void read_radio(const config::Section& root, const std::string& path, Scenario& scenario,
                config::Problems& problems);

/// Reads `antenna` of a robot.
[[nodiscard]] Antenna read_antenna(const config::Section& robot, config::Problems& problems);

/// Replaces the radio by the recorded network in the file `path`, which `source` names.
void load_recording(const std::string& path, const config::Source& source, Scenario& scenario,
                    config::Problems& problems);

}  // namespace hyphos::cosim
