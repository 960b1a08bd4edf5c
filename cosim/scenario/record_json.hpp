#pragma once

#include <string>

#include "cosim/scenario/scenario.hpp"

namespace hyphos::cosim {

/// Facts about a run that the run itself does not know.
struct RunNames {
  std::string scenario;  ///< path of the scenario
  std::string text;      ///< text of the scenario
  std::string command;
  bool whole = true;  ///< false: the run was stopped before its end
};

/// A run as JSON, for `hyphos cosim report` and other programs. docs/how-to/cosim.md describes the
/// fields.
[[nodiscard]] std::string to_json(const RunNames& names, const Scenario& scenario,
                                  const Report& report, const Trace& trace, const Record& record);

}  // namespace hyphos::cosim
