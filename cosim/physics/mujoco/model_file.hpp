#pragma once

#include <tinyxml2.h>

#include <map>
#include <string>

#include "cosim/physics/mujoco/options.hpp"

namespace hyphos::cosim {

/// A model that MuJoCo can compile.
struct ModelText {
  std::string text;
  std::map<int, int> lines;  ///< of elements: the line in `text`, and in the file (0: included)
};

/// Reads the file of a robot's model into a text that MuJoCo can compile: includes are inserted,
/// URDF gets a free base, and all files have absolute paths.
///
/// Errors: not_found, permission, io, invalid_config with file and line: XML that cannot be read, a
/// file outside RobotModel::folder, and counts or files that are too large.
[[nodiscard]] Result<ModelText> read_model_file(const RobotModel& robot);

[[nodiscard]] std::string printed(const tinyxml2::XMLNode& node);

}  // namespace hyphos::cosim
