#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "cosim/methods/equation_3.hpp"
#include "cosim/methods/variant.hpp"

namespace hyphos::cosim {
namespace {

/// Algorithm 1 of Dey et al., "A Reliable and Low Latency Synchronizing Middleware for
/// Co-simulation of a Heterogeneous Multi-Robot Systems", implemented literally:
///
///     w_a = w + (V_p - V_s) / 1000,    t <- t + w_a    if any event exists
///
/// Speeds are in m/s. The paper does not define the unit of the quotient, so there are two
/// readings. The listing never changes w, while the text modifies w until the result is
/// satisfactory, so there are two update rules. Packets travel as in the sliding window that the
/// algorithm builds on. V_p and V_s are the speeds of the two robots of the last packet. t is
/// rounded down to a physics step, and advances by at least one step.
///
/// The listing leaves two cases open: a window that is not positive, and a time that does not
/// advance because no packet is in flight. In a literal reading each of them ends the run. In a
/// lenient one the window is w while no packet is in flight, and never shorter than a step.
class VelocityAware final : public Method {
 public:
  VelocityAware(const MethodOptions& options, const Variant& variant)
      : step_(options.step),
        initial_(options.window),
        window_(options.window),
        unit_ns_(variant.unit_ns),
        updates_(variant.updates_window),
        lenient_(variant.lenient),
        time_(options.step) {}

  Exchange exchange() const override { return Exchange::shifted; }

  Result<Window> plan(const Situation& situation) override {
    if (situation.active.empty()) {
      if (!lenient_) return idle_deadlock(situation);
      ++idle_;
      return time_.advance(situation, initial_);
    }
    const double difference = speed_difference(situation, situation.active.back());
    Duration adapted = equation_3(window_, difference, unit_ns_);
    if (lenient_ && adapted < step_.longest()) {
      adapted = step_.longest();
      ++shortened_;
    }
    if (adapted.ns <= 0) {
      return Error{Code::invalid_config,
                   "non-positive window: w_a = " + std::to_string(adapted.ns) + " ns at " +
                       std::to_string(situation.now.ns) + " ns, with V_p - V_s = " +
                       std::to_string(difference) + " m/s and w = " + std::to_string(window_.ns) +
                       " ns, because equation 3 has no lower bound; use velocity_aware_lenient_s, "
                       "velocity_aware_lenient_ms, or a longer window_ms",
                   "method"};
    }
    if (updates_) window_ = adapted;
    return time_.advance(situation, adapted);
  }

  std::vector<std::string> remarks() const override {
    if (!lenient_) return {};
    return {std::to_string(idle_) + " windows of w because nothing was in flight, " +
            std::to_string(shortened_) + " windows of a step because equation 3 gave less"};
  }

 private:
  static Error idle_deadlock(const Situation& situation) {
    return {Code::invalid_config,
            "idle deadlock: at " + std::to_string(situation.now.ns) +
                " ns no packet is in flight, and Algorithm 1 advances time only if an event "
                "exists; use velocity_aware_lenient_s, velocity_aware_lenient_ms, another method, "
                "or traffic without pauses",
            "method"};
  }

  Step step_;
  Duration initial_;
  Duration window_;
  std::int64_t unit_ns_;
  bool updates_;
  bool lenient_;
  ListingTime time_;
  std::uint64_t idle_ = 0;
  std::uint64_t shortened_ = 0;
};

}  // namespace

namespace make {
std::unique_ptr<Method> velocity_aware(const MethodOptions& options, const Variant& variant) {
  return std::make_unique<VelocityAware>(options, variant);
}
}  // namespace make

}  // namespace hyphos::cosim
