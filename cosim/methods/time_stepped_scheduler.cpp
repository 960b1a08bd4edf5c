#include "cosim/methods/fixed.hpp"
#include "cosim/methods/methods.hpp"

namespace hyphos::cosim::make {

/// FlyNetSim: one sampling period for both simulators. A packet sent at a sampling instant enters
/// at once. A packet sent between two instants waits in a cache for the next one, and so does a
/// delivery of the network.
std::unique_ptr<Method> time_stepped_scheduler(const MethodOptions& options) {
  return std::make_unique<Fixed>(options, Exchange::cached);
}

}  // namespace hyphos::cosim::make
