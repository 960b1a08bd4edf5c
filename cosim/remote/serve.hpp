#pragma once

#include "cosim/core/simulator.hpp"
#include "cosim/remote/ipc_channel.hpp"

namespace hyphos::cosim {

/// The other side of RemoteNetwork and RemotePhysics: replies to requests until the quit request or
/// an invalid request. It waits without a time limit, because the engine ends this process.
void serve(IpcChannel& channel, Network& network);
void serve(IpcChannel& channel, Physics& physics);

}  // namespace hyphos::cosim
