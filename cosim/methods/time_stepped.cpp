#include "cosim/methods/fixed.hpp"
#include "cosim/methods/methods.hpp"

namespace hyphos::cosim::make {

/// RoboNetSim, PiccSIM: both simulators run independently to the next threshold, stop, and exchange
/// the collected data. A packet enters at the end of the window in which it was sent.
std::unique_ptr<Method> time_stepped(const MethodOptions& options) {
  return std::make_unique<Fixed>(options, Exchange::bunched);
}

}  // namespace hyphos::cosim::make
