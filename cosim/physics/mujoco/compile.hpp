#pragma once

#include <mujoco/mujoco.h>

#include <memory>
#include <string>

#include "hyphos/result.hpp"

namespace hyphos::cosim {

using ModelPointer = std::unique_ptr<mjModel, void (*)(mjModel*)>;
using DataPointer = std::unique_ptr<mjData, void (*)(mjData*)>;

/// Compiles a model in MuJoCo's XML format. Errors: invalid_config, with MuJoCo's text, and
/// exhausted.
[[nodiscard]] Result<ModelPointer> compile(const std::string& text);
[[nodiscard]] DataPointer data_of(const mjModel& model);
/// The model that was compiled last, in MuJoCo's format with everything expanded. Errors: io.
[[nodiscard]] Result<std::string> expanded(const mjModel& model);

}  // namespace hyphos::cosim
