#pragma once

#include "cosim/core/simulator.hpp"
#include "cosim/remote/link.hpp"

namespace hyphos::cosim {

/// The other side of RemoteNetwork and RemotePhysics: answers requests until it is asked to quit or
/// gets one that makes no sense. Waits without a limit: whoever started this process ends it.
void serve(Link& link, Network& network);
void serve(Link& link, Physics& physics);

}  // namespace hyphos::cosim
