#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cosim/mavlink/vehicles.hpp"
#include "cosim/outside/bodies.hpp"
#include "cosim/realtime/lag.hpp"
#include "cosim/realtime/machine.hpp"
#include "cosim/realtime/rehearsal.hpp"
#include "cosim/scenario/scenario.hpp"

/// The output of the program, one line of JSON each. python/hyphos/cosim/emulate.py reads it.
namespace hyphos::cosim {

/// The robots with address and command, and the parameters of the run.
[[nodiscard]] std::string describe_emulation(const Scenario& scenario);
/// The cost of a run on this machine, before it starts.
[[nodiscard]] std::string rehearsed(const Scenario& scenario, const Rehearsal& rehearsal);
/// The progress of a run.
[[nodiscard]] std::string progress(const RealTimeReport& report);
/// The result of a run. `bodies` may be null.
[[nodiscard]] std::string summary(const Scenario& scenario, const RealTimeReport& report,
                                  const MachineWatch::Use& use, const Bodies* bodies,
                                  const mavlink::Vehicles& vehicles);

}  // namespace hyphos::cosim
