#pragma once

#include "cosim/core/simulator.hpp"
#include "cosim/remote/ipc_channel.hpp"

namespace hyphos::cosim {

/// The other side of RemoteNetwork and RemotePhysics: answers requests until it is asked to quit or
/// gets one that makes no sense. Waits without a limit: whoever started this process ends it.
void serve(IpcChannel& channel, Network& network);
void serve(IpcChannel& channel, Physics& physics);

}  // namespace hyphos::cosim
