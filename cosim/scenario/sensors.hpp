#pragma once

#include <vector>

#include "base/config_reader.hpp"
#include "cosim/nodes/sensors.hpp"

namespace hyphos::cosim {

/// Reads `sensors` of a robot. `mujoco`: the physics can answer them.
[[nodiscard]] std::vector<SensorOptions> read_sensors(const config::Section& robot, bool mujoco,
                                                      config::Problems& problems);

}  // namespace hyphos::cosim
