#include "cosim/methods/fixed.hpp"
#include "cosim/methods/methods.hpp"

namespace hyphos::cosim::make {

/// ROS-NetSim, SynchroSim: packets are captured over a window with their time offsets. The network
/// replays them while physics is in the next window.
std::unique_ptr<Method> sliding_window(const MethodOptions& options) {
  return std::make_unique<Fixed>(options, Exchange::shifted);
}

}  // namespace hyphos::cosim::make
