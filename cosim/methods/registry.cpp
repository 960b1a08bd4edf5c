// The one file that names the methods. A new method is one line in the list below and one file with
// `std::unique_ptr<Method> make::NAME(const MethodOptions&, const Variant&)`.
#include "cosim/methods/registry.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "cosim/methods/variant.hpp"

// Columns: name in scenarios, maker, text for users, members of Variant. In the order of the
// documentation. A macro, so that one line both declares the maker and registers it.
// clang-format off
#define HYPHOS_METHODS(line) \
  line(lockstep, fixed_window, \
       "fixed windows, physics first, packets enter at their stamps", \
       .exchange = Exchange::exact) \
  line(time_stepped, fixed_window, \
       "both run a window in parallel, then exchange data", .exchange = Exchange::bunched) \
  line(time_stepped_scheduler, fixed_window, \
       "a common sampling period; a cache between samples", .exchange = Exchange::cached) \
  line(variable_stepped, variable_stepped, \
       "to the next event of either simulator, in integers", .float_seconds = false) \
  line(variable_stepped_float, variable_stepped, \
       "the same with a sum of seconds in double", .float_seconds = true) \
  line(global_event, global_event, "the network stops at each of its events") \
  line(sliding_window, fixed_window, \
       "captured in one window, replayed in the next", .exchange = Exchange::shifted) \
  line(velocity_aware_s, velocity_aware, \
       "w + (V_p - V_s)/1000 in seconds, as in the listing", \
       .unit_ns = kNsPerSecond, .updates_window = false) \
  line(velocity_aware_ms, velocity_aware, \
       "w + (V_p - V_s)/1000 in milliseconds, as in the listing", \
       .unit_ns = kNsPerMillisecond, .updates_window = false) \
  line(velocity_aware_s_updated, velocity_aware, \
       "the same in seconds, w updated each time", \
       .unit_ns = kNsPerSecond, .updates_window = true) \
  line(velocity_aware_ms_updated, velocity_aware, \
       "the same in milliseconds, w updated each time", \
       .unit_ns = kNsPerMillisecond, .updates_window = true) \
  line(velocity_aware_lenient_s, velocity_aware, \
       "the listing in seconds, with w while idle, never below a step", \
       .unit_ns = kNsPerSecond, .updates_window = false, .lenient = true) \
  line(velocity_aware_lenient_ms, velocity_aware, \
       "the listing in milliseconds, with w while idle, never below a step", \
       .unit_ns = kNsPerMillisecond, .updates_window = false, .lenient = true) \
  line(algorithm_1_s, algorithm_1, \
       "all of Algorithm 1, in seconds: rounds of pairs, w changes until loss is low", \
       .unit_ns = kNsPerSecond) \
  line(algorithm_1_ms, algorithm_1, \
       "all of Algorithm 1, in milliseconds: rounds of pairs, w changes until loss is low", \
       .unit_ns = kNsPerMillisecond) \
  line(adaptive, adaptive, "the longest window that keeps the given bounds")
// clang-format on

namespace hyphos::cosim {

namespace make {
#define HYPHOS_DECLARE(name, maker, about, ...) \
  std::unique_ptr<Method> maker(const MethodOptions&, const Variant&);
HYPHOS_METHODS(HYPHOS_DECLARE)
#undef HYPHOS_DECLARE
}  // namespace make

namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr std::int64_t kNsPerMillisecond = 1'000'000;

#define HYPHOS_METHOD(name, maker, about, ...)                     \
  KnownMethod{#name, about, [](const MethodOptions& options) {     \
                return make::maker(options, Variant{__VA_ARGS__}); \
              }},
constexpr auto kMethods = std::to_array<KnownMethod>({HYPHOS_METHODS(HYPHOS_METHOD)});
#undef HYPHOS_METHOD

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
  if (!(options.loss_threshold >= 0 && options.loss_threshold <= 1) || options.most_changes < 1) {
    return Error{Code::invalid_config,
                 "the loss threshold must be a share from 0 to 1, and the changes at least 1",
                 "method"};
  }
  return found->make(options);
}

}  // namespace hyphos::cosim
