#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "hyphos/result.hpp"

namespace hyphos::view {

/// The answer of `hyphos plan check --json`: the predicted load of a plan on a calibrated machine.
/// A share of 1 is a full resource.
struct Prediction {
  struct Flow {
    double rate_hz = 0;
    double bytes_per_s = 0;
  };
  /// A node and a channel that it subscribes to.
  using Subscription = std::pair<std::string, std::string>;

  enum class Verdict : std::uint8_t { fits, marginal, does_not_fit };

  Verdict verdict = Verdict::fits;
  double knee = 0;  ///< factor on all rates up to which the robot is carried
  double knee_low = 0;
  double knee_high = 0;
  std::string first_to_break;  ///< "process brain", "callback of mapper on scan"
  std::map<std::string, Flow, std::less<>> channels;
  std::map<std::string, double, std::less<>> processes;  ///< shares
  std::map<Subscription, double> callbacks;
  std::map<Subscription, double> queues;

  [[nodiscard]] const Flow* channel(std::string_view name) const;
  [[nodiscard]] std::optional<double> process(std::string_view name) const;
  /// The largest share of the node: of its process, its callbacks and its queues.
  [[nodiscard]] std::optional<double> node(std::string_view name, std::string_view process) const;
  [[nodiscard]] std::optional<double> callback(const Subscription& end) const;
  [[nodiscard]] std::optional<double> queue(const Subscription& end) const;
};

[[nodiscard]] std::string_view to_string(Prediction::Verdict verdict);

/// The limit of the text, in bytes.
inline constexpr std::size_t kMaxPrediction = 8U << 20U;

/// Errors: corrupt, with the key that is missing or wrong, and the command that writes the text.
[[nodiscard]] Result<Prediction> parse_prediction(std::string_view json);

}  // namespace hyphos::view
