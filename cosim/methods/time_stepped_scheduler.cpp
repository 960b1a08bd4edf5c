#include "cosim/methods/fixed.hpp"
#include "cosim/methods/methods.hpp"

namespace hyphos::cosim::make {

/// FlyNetSim: one sampling period for both. What is sent at a sampling instant enters at once; what
/// is sent between two waits in a cache for the next, and so does what the network delivers.
std::unique_ptr<Method> time_stepped_scheduler(const MethodOptions& options) {
  return std::make_unique<Fixed>(options, Exchange::cached);
}

}  // namespace hyphos::cosim::make
