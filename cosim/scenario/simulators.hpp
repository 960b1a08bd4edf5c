#pragma once

#include <filesystem>
#include <memory>

#include "cosim/core/simulator.hpp"
#include "cosim/scenario/scenario.hpp"

namespace hyphos::cosim {

/// Where the programs and libraries of the co-simulator lie: beside this program, unless a caller
/// knows better.
[[nodiscard]] std::filesystem::path program_folder(const RunOptions& options);

struct Simulators {
  std::unique_ptr<Physics> physics;
  std::unique_ptr<Network> network;
};

/// Those that a scenario names. `scenario` outlives them. Errors: not_found (one that is not built
/// here), and what they refuse.
[[nodiscard]] Result<Simulators> open_simulators(const Scenario& scenario,
                                                 const RunOptions& options);

}  // namespace hyphos::cosim
