#pragma once

#include <optional>

#include "base/config_reader.hpp"
#include "cosim/mavlink/programs.hpp"
#include "cosim/physics/mujoco/options.hpp"

namespace hyphos::cosim {

/// Reads `mavlink` of a robot with this number.
[[nodiscard]] std::optional<mavlink::Options> read_mavlink(const config::Section& robot,
                                                           RobotKind kind, std::size_t node,
                                                           config::Problems& problems);

}  // namespace hyphos::cosim
