#include <algorithm>
#include <cmath>
#include <memory>

#include "cosim/core/bounds.hpp"
#include "cosim/methods/variant.hpp"

namespace hyphos::cosim {
namespace {

/// The longest windows that keep the given bounds, in whole physics steps:
///
///     w = clamp(min over active pairs of { change(ε) / |v_rel|, time to the next change of the
///               line of sight, latency budget + 1 step }, 1 step, longest window)
///
/// change(ε) = d (1 - 10^(-ε / 10n)) is the distance after which received power is wrong by ε when
/// robots approach. For small ε it is ε d / (4.34 n). It depends on relative velocity only. In a
/// world without obstacles, a velocity common to all robots therefore changes nothing, and neither
/// does exchanging sender and receiver. A robot that turns inside a window does not break the
/// bound, because the engine then sends new poses to the network (most_power_error_db).
///
/// While the network is idle, no bound applies. The window then extends to the network's next
/// event, or to the first instant at which a program sends.
class Adaptive final : public Method {
 public:
  explicit Adaptive(const MethodOptions& options)
      : options_(options),
        most_(options.step.whole_steps(options.window)),
        budget_(options.step.whole_steps(options.latency_budget) + 1) {}

  Exchange exchange() const override { return Exchange::exact; }
  double most_power_error_db() const override { return options_.power_error_db; }

  Result<Window> plan(const Situation& situation) override {
    if (!situation.pending) {
      std::int64_t end = situation.index + most_;
      if (situation.network_next != kNever) {
        end = std::min(end, options_.step.index_at_or_before(situation.network_next));
      }
      if (end > situation.index) return Window{end, true};
    }
    return Window{situation.index + busy_steps(situation), false};
  }

 private:
  [[nodiscard]] std::int64_t busy_steps(const Situation& situation) const {
    const std::int64_t most = std::min(most_, budget_);
    if (most <= 1) return 1;
    double seconds = std::numeric_limits<double>::infinity();
    for (const Pair& pair : situation.active) {
      seconds = std::min(seconds, holds_for(situation.poses[pair.from], situation.poses[pair.to]));
    }
    // Slightly less, so that rounding cannot add a step.
    const double steps = seconds / options_.step.seconds() * (1 - 1e-12);
    if (steps >= static_cast<double>(most)) return most;
    return std::max(static_cast<std::int64_t>(steps), std::int64_t{1});
  }

  /// Seconds for which the poses that the network uses for two robots are accurate enough.
  [[nodiscard]] double holds_for(const Pose& a, const Pose& b) const {
    const double distance = length(b.position - a.position);
    const double speed = length(b.velocity - a.velocity);
    double seconds = std::numeric_limits<double>::infinity();
    if (distance > options_.range_m) {
      return speed > 0 ? (distance - options_.range_m) / speed : seconds;
    }
    if (speed > 0) {
      seconds =
          distance_change_for(options_.path_loss_exponent, distance, options_.power_error_db) /
          speed;
    }
    if (options_.scene != nullptr && !options_.scene->empty()) {
      const double fastest = std::max(length(a.velocity), length(b.velocity));
      seconds = std::min(seconds, options_.scene->los_holds_for(a.position, b.position, fastest));
    }
    return seconds;
  }

  MethodOptions options_;
  std::int64_t most_;
  std::int64_t budget_;
};

}  // namespace

namespace make {
std::unique_ptr<Method> adaptive(const MethodOptions& options, const Variant& /*variant*/) {
  return std::make_unique<Adaptive>(options);
}
}  // namespace make

}  // namespace hyphos::cosim
