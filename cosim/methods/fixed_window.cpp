#include <memory>

#include "cosim/methods/variant.hpp"

namespace hyphos::cosim {
namespace {

/// Windows of one fixed length. The variants differ in the way packets cross from one window to the
/// next:
///
/// - lockstep, Exchange::exact: the default behaviour of the engine. With windows of one step it
///   adds no error.
/// - time_stepped, Exchange::bunched: RoboNetSim, PiccSIM. Both simulators run independently to the
///   next threshold, stop, and exchange the collected data. A packet enters at the end of the
///   window in which it was sent.
/// - time_stepped_scheduler, Exchange::cached: FlyNetSim. One sampling period for both simulators.
///   A packet sent at a sampling instant enters at once. A packet sent between two instants waits
///   in a cache for the next one, and so does a delivery of the network.
/// - sliding_window, Exchange::shifted: ROS-NetSim, SynchroSim. Packets are captured over a window
///   with their time offsets. The network replays them while physics is in the next window.
class FixedWindow final : public Method {
 public:
  FixedWindow(const MethodOptions& options, Exchange exchange)
      : steps_(options.step.whole_steps(options.window)), exchange_(exchange) {}

  Exchange exchange() const override { return exchange_; }
  Result<Window> plan(const Situation& situation) override {
    return Window{situation.index + steps_, false};
  }

 private:
  std::int64_t steps_;
  Exchange exchange_;
};

}  // namespace

namespace make {
std::unique_ptr<Method> fixed_window(const MethodOptions& options, const Variant& variant) {
  return std::make_unique<FixedWindow>(options, variant.exchange);
}
}  // namespace make

}  // namespace hyphos::cosim
