#include <algorithm>
#include <array>
#include <string>

#include "cosim/methods/methods.hpp"

namespace hyphos::cosim {
namespace {

constexpr std::array kMethods{
    KnownMethod{"lockstep", "fixed windows, physics first, packets enter at their stamps",
                &make::lockstep},
    KnownMethod{"time_stepped", "both run a window in parallel, then exchange data",
                &make::time_stepped},
    KnownMethod{"time_stepped_scheduler", "a common sampling period; a cache between samples",
                &make::time_stepped_scheduler},
    KnownMethod{"variable_stepped", "to the next event of either simulator, in integers",
                &make::variable_stepped},
    KnownMethod{"variable_stepped_float", "the same with a sum of seconds in double",
                &make::variable_stepped_float},
    KnownMethod{"global_event", "the network stops at each of its events", &make::global_event},
    KnownMethod{"sliding_window", "captured in one window, replayed in the next",
                &make::sliding_window},
    KnownMethod{"velocity_aware_s", "w + (V_p - V_s)/1000 in seconds, as in the listing",
                &make::velocity_aware_s},
    KnownMethod{"velocity_aware_ms", "w + (V_p - V_s)/1000 in milliseconds, as in the listing",
                &make::velocity_aware_ms},
    KnownMethod{"velocity_aware_s_updated", "the same in seconds, w updated each time",
                &make::velocity_aware_s_updated},
    KnownMethod{"velocity_aware_ms_updated", "the same in milliseconds, w updated each time",
                &make::velocity_aware_ms_updated},
    KnownMethod{"adaptive", "the longest window that keeps the given bounds", &make::adaptive},
};

}  // namespace

std::span<const KnownMethod> known_methods() { return kMethods; }

Result<std::unique_ptr<Method>> make_method(std::string_view name, const MethodOptions& options) {
  const auto found = std::ranges::find(kMethods, name, &KnownMethod::name);
  if (found == kMethods.end()) {
    std::string names;
    for (const KnownMethod& known : kMethods) names += " " + std::string(known.name);
    return Error{Code::not_found,
                 "unknown method '" + std::string(name) + "'. The methods are:" + names, "method"};
  }
  const auto steps = options.step.whole_steps(options.window);
  if (steps < 1 || options.step.at(steps).value().ns != options.window.ns) {
    return Error{Code::invalid_config,
                 "a window of " + std::to_string(options.window.ns) +
                     " ns is not a whole number of steps: " +
                     std::to_string(options.step.at(std::max<std::int64_t>(steps, 1)).value().ns) +
                     " ns is",
                 "window"};
  }
  if (!(options.power_error_db > 0) || !(options.path_loss_exponent > 0) ||
      options.latency_budget.ns < 0) {
    return Error{Code::invalid_config,
                 "the power error and the path-loss exponent must be positive, and the latency "
                 "budget not negative",
                 "method"};
  }
  return found->make(options);
}

}  // namespace hyphos::cosim
