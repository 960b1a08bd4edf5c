#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cosim/realtime/lag.hpp"
#include "cosim/realtime/machine.hpp"
#include "cosim/scenario/scenario.hpp"

/// What the program tells, one line of JSON each; python/hyphos/cosim/emulate.py reads it.
namespace hyphos::cosim {

/// Robots with address and command, and what the run will be.
[[nodiscard]] std::string describe(const Scenario& scenario);
/// How far a run is.
[[nodiscard]] std::string progress(const RealTimeReport& report);
/// What it was.
[[nodiscard]] std::string summary(const Scenario& scenario, const RealTimeReport& report,
                                  const MachineWatch::Use& use);

}  // namespace hyphos::cosim
