#include "cosim/methods/fixed.hpp"
#include "cosim/methods/methods.hpp"

namespace hyphos::cosim::make {

/// RoboNetSim, PiccSIM: both simulators run to the next threshold without knowing of each other,
/// halt, and exchange what has gathered. A packet enters at the end of the window it was sent in.
std::unique_ptr<Method> time_stepped(const MethodOptions& options) {
  return std::make_unique<Fixed>(options, Exchange::bunched);
}

}  // namespace hyphos::cosim::make
