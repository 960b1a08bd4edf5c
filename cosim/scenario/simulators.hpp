#pragma once

#include <filesystem>
#include <memory>

#include "cosim/core/simulator.hpp"
#include "cosim/scenario/scenario.hpp"

namespace hyphos::cosim {

/// The folder of the co-simulator's programs and libraries: beside this program, unless `options`
/// names another.
[[nodiscard]] std::filesystem::path program_folder(const RunOptions& options);

struct Simulators {
  std::unique_ptr<Physics> physics;
  std::unique_ptr<Network> network;
};

/// Finds missing adapters of a scenario and starts nothing. Errors: not_found.
[[nodiscard]] Result<void> find_simulators(const Scenario& scenario, const RunOptions& options);
/// Opens the simulators of a scenario. `scenario` must outlive them. Errors: not_found (not built
/// here), and the errors of the simulators.
[[nodiscard]] Result<Simulators> open_simulators(const Scenario& scenario,
                                                 const RunOptions& options);

}  // namespace hyphos::cosim
