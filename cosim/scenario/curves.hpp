#pragma once

#include <string>

#include "cosim/scenario/scenario.hpp"

namespace hyphos::cosim {

/// Two robots of a scenario, by name. Empty: the first two. With a cellular radio, `from` is a base
/// station.
struct CurveEnds {
  std::string from{};
  std::string to{};
};

/// The curves of a scenario's radio as JSON: path loss, ratio of signal to noise and loss over the
/// distance of two robots, and frame errors over the ratio, for each rate. The robots keep their
/// heights and antennas. Boxes are left out. Ratios and losses are statistics of 300 pairs with
/// shadowing and fading of their own. Errors: not_found (no such robot), unsupported (a network
/// without this radio).
[[nodiscard]] Result<std::string> radio_curves(const Scenario& scenario, const CurveEnds& ends);

/// The named radios as a text, with their rates and sources.
[[nodiscard]] std::string radio_list();

}  // namespace hyphos::cosim
