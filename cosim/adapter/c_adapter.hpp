#pragma once

#include <memory>
#include <string>

#include "cosim/adapter/cosim_adapter.h"
#include "cosim/core/simulator.hpp"

/// Simulators behind the C interface as simulators of the engine.
namespace hyphos::cosim {

/// A shared library with hyphos_cosim_entry(). It stays loaded: simulators may have threads.
/// Errors: not_found, corrupt (no such function, or another ABI).
[[nodiscard]] Result<const hyphos_cosim_simulator*> load_adapter(const std::string& path);

/// Errors: invalid_config (the options, or a simulator of the other kind), corrupt (a function that
/// it must have is missing).
[[nodiscard]] Result<std::unique_ptr<Network>> open_network(const hyphos_cosim_simulator& simulator,
                                                            const std::string& options);
[[nodiscard]] Result<std::unique_ptr<Physics>> open_physics(const hyphos_cosim_simulator& simulator,
                                                            const std::string& options);

}  // namespace hyphos::cosim
