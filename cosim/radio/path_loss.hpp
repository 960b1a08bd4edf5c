#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "cosim/radio/link.hpp"
#include "hyphos/result.hpp"

namespace hyphos::cosim {

struct PathLossOptions {
  double frequency_hz = 2.437e9;
  double exponent = 3;               ///< of log_distance
  double reference_loss_db = 40.05;  ///< of log_distance, at 1 m
  std::string environment{};         ///< of the models for aerial robots. Empty: the first one
  bool base_station = false;         ///< the end `low` of each link is a base station
};

/// The mean loss between two places. Symmetric, and never smaller at a larger distance between ends
/// of the same heights, line of sight given.
class PathLoss {
 public:
  PathLoss() = default;
  PathLoss(const PathLoss&) = delete;
  PathLoss& operator=(const PathLoss&) = delete;
  virtual ~PathLoss() = default;

  [[nodiscard]] virtual double loss_db(const Link& link, bool line_of_sight) const = 0;
  /// The probability that nothing outside of the scenario's boxes blocks the path.
  [[nodiscard]] virtual double los_probability(const Link& /*link*/) const { return 1; }
  /// A lower bound of the loss at this distance, for all heights. Grows with the distance.
  [[nodiscard]] virtual double least_db(double distance_m) const = 0;
  /// The largest n of 10 n log10(distance) in the formula.
  [[nodiscard]] virtual double steepest() const = 0;
};

struct KnownPathLoss {
  std::string_view name;
  std::string_view about;
  std::span<const std::string_view> environments;  ///< empty: `environment` is not used
  std::unique_ptr<PathLoss> (*make)(const PathLossOptions&);
};
/// All models, in the order of the documentation.
[[nodiscard]] std::span<const KnownPathLoss> known_path_losses();
[[nodiscard]] const KnownPathLoss* find_path_loss(std::string_view name);

}  // namespace hyphos::cosim
