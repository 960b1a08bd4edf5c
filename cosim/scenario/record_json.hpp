#pragma once

#include <string>

#include "cosim/scenario/scenario.hpp"

namespace hyphos::cosim {

/// What is told of a run besides what the run itself knows.
struct RunNames {
  std::string scenario;  ///< its path
  std::string text;      ///< what is in it
  std::string command;
  bool whole = true;  ///< false: it was stopped before its end
};

/// A run as JSON, for `hyphos cosim report` and other programs; docs/cosim.md says what is in it.
[[nodiscard]] std::string to_json(const RunNames& names, const Scenario& scenario,
                                  const Report& report, const Trace& trace, const Record& record);

}  // namespace hyphos::cosim
