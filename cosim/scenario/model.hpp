#pragma once

#include <string>

#include "base/config_reader.hpp"
#include "cosim/physics/mujoco/options.hpp"

namespace hyphos::cosim {

/// Reads `model` of a robot of the scenario at `path`. Without the key the robot is a built-in one.
/// MuJoCo reads the file itself when the run starts.
[[nodiscard]] RobotModel read_model(const config::Section& robot, const std::string& path,
                                    bool mujoco, config::Problems& problems);

}  // namespace hyphos::cosim
