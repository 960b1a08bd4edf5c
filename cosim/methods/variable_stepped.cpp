#include <algorithm>
#include <memory>

#include "cosim/methods/variant.hpp"

namespace hyphos::cosim {
namespace {

/// CORNET: one list of the events of both simulators. Time advances to the next event. On the
/// physics grid, a window is one step while the network has work. Otherwise it ends at the step
/// with the next event. It never exceeds the configured window.
class VariableStepped : public Method {
 public:
  explicit VariableStepped(const MethodOptions& options)
      : step_(options.step), most_(options.step.whole_steps(options.window)) {}

  Exchange exchange() const final { return Exchange::exact; }
  Result<Window> plan(const Situation& situation) override {
    const std::int64_t next = situation.index + 1;
    if (situation.pending) return Window{next, false};
    std::int64_t end = situation.index + most_;
    if (situation.network_next != kNever) {
      end = std::min(end, step_.index_at_or_before(situation.network_next));
    }
    if (situation.programs_next != kNever) {
      end = std::min(end, step_.index_at_or_after(situation.programs_next));
    }
    return Window{std::max(end, next), false};
  }

 private:
  Step step_;
  std::int64_t most_;
};

/// The same, except that the network time is a sum of steps in double-precision seconds, truncated
/// to nanoseconds. Simulators that keep time in floating point behave like this. The method shows
/// the error of that practice.
class VariableSteppedFloat final : public VariableStepped {
 public:
  explicit VariableSteppedFloat(const MethodOptions& options)
      : VariableStepped(options), step_s_(options.step.seconds()) {}

  Result<Window> plan(const Situation& situation) override {
    seconds_ = sum_to(situation.index);
    index_ = situation.index;
    return VariableStepped::plan(situation);
  }
  Time network_time(std::int64_t index, Time /*exact*/) override {
    return {static_cast<std::int64_t>(sum_to(index) * 1e9)};
  }

 private:
  [[nodiscard]] double sum_to(std::int64_t index) const {
    double sum = seconds_;
    for (std::int64_t i = index_; i < index; ++i) sum += step_s_;
    return sum;
  }

  double step_s_;
  double seconds_ = 0;  // at index_
  std::int64_t index_ = 0;
};

}  // namespace

namespace make {
std::unique_ptr<Method> variable_stepped(const MethodOptions& options, const Variant& variant) {
  if (variant.float_seconds) return std::make_unique<VariableSteppedFloat>(options);
  return std::make_unique<VariableStepped>(options);
}
}  // namespace make

}  // namespace hyphos::cosim
