#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

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
/// rounded down to a physics step, and advances by at least one step. Two cases that the listing
/// leaves open end a run: a window that is not positive, and a time that does not advance because
/// no packet is in flight.
class VelocityAware final : public Method {
 public:
  VelocityAware(const MethodOptions& options, const Variant& variant)
      : step_(options.step),
        window_(options.window),
        unit_ns_(variant.unit_ns),
        updates_(variant.updates_window) {}

  Exchange exchange() const override { return Exchange::shifted; }

  Result<Window> plan(const Situation& situation) override {
    if (situation.active.empty()) {
      return Error{Code::unsupported,
                   "idle deadlock: at " + std::to_string(situation.now.ns) +
                       " ns no packet is in flight, and Algorithm 1 advances time only if an event "
                       "exists; use another method, or traffic without pauses",
                   "velocity_aware"};
    }
    const Pair pair = situation.active.back();
    const double difference =
        length(situation.poses[pair.from].velocity) - length(situation.poses[pair.to].velocity);
    const Duration adapted =
        window_ + Duration{std::llround(difference / 1000 * static_cast<double>(unit_ns_))};
    if (adapted.ns <= 0) {
      return Error{Code::out_of_range,
                   "non-positive window: w_a = " + std::to_string(adapted.ns) + " ns at " +
                       std::to_string(situation.now.ns) + " ns, with V_p - V_s = " +
                       std::to_string(difference) + " m/s and w = " + std::to_string(window_.ns) +
                       " ns; equation 3 has no lower bound",
                   "velocity_aware"};
    }
    if (updates_) window_ = adapted;
    target_ = std::max(target_, situation.now) + adapted;
    const std::int64_t end = step_.index_at_or_before(target_);
    return Window{std::max(end, situation.index + 1), false};
  }

 private:
  Step step_;
  Duration window_;
  std::int64_t unit_ns_;
  bool updates_;
  Time target_;  // t of the listing
};

}  // namespace

namespace make {
std::unique_ptr<Method> velocity_aware(const MethodOptions& options, const Variant& variant) {
  return std::make_unique<VelocityAware>(options, variant);
}
}  // namespace make

}  // namespace hyphos::cosim
