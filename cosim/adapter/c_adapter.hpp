#pragma once

#include <memory>
#include <string>

#include "cosim/adapter/cosim_adapter.h"
#include "cosim/core/simulator.hpp"

/// Wraps simulators behind the C interface as simulators of the engine.
namespace hyphos::cosim {

/// Loads a shared library with hyphos_cosim_entry(). The library is never unloaded because
/// simulators may have threads. Errors: not_found, corrupt (the function is missing, or the ABI
/// version differs).
[[nodiscard]] Result<const hyphos_cosim_simulator*> load_adapter(const std::string& path);

/// Errors: invalid_config (wrong options, or a simulator of the other kind), corrupt (a required
/// function is missing).
[[nodiscard]] Result<std::unique_ptr<Network>> open_network(const hyphos_cosim_simulator& simulator,
                                                            const std::string& options);
[[nodiscard]] Result<std::unique_ptr<Physics>> open_physics(const hyphos_cosim_simulator& simulator,
                                                            const std::string& options);

}  // namespace hyphos::cosim
