#pragma once

#include "builtin/registry.hpp"

namespace hyphos::builtin {

/// `robot_model`: publishes the transforms of a URDF model. Reference: docs/reference/builtin.md.
std::unique_ptr<Builtin> open_robot_model(const Node& node);

}  // namespace hyphos::builtin
