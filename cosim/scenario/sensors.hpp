#pragma once

#include <optional>

#include "base/config_reader.hpp"
#include "cosim/outside/options.hpp"
#include "cosim/sense/robot_sensors.hpp"

namespace hyphos::cosim {

/// Reads `sensors` of a robot. `body`: its section, whose namespace is part of the names of frames.
/// `mujoco`: the physics answers all sensors.
[[nodiscard]] RobotSensing read_sensors(const config::Section& robot,
                                        const std::optional<BodyOptions>& body, bool mujoco,
                                        config::Problems& problems);

}  // namespace hyphos::cosim
