#pragma once

#include <string>

#include "cosim/scenario/scenario.hpp"

namespace hyphos::cosim {

/// The names of a valid scenario as JSON: robots, flows, method, simulators and duration.
[[nodiscard]] std::string describe(const Scenario& scenario);

/// Checks a scenario with further settings, without running it. Each line of `lines` holds the
/// settings of one run, separated by tabs. Settings are from the option `option`, for error texts.
/// Returns the number of valid runs. Errors: every different mistake once, each with file, line and
/// key.
[[nodiscard]] Result<std::size_t> check_runs(const std::string& path, const Overrides& overrides,
                                             const std::string& option, std::string_view lines);

}  // namespace hyphos::cosim
