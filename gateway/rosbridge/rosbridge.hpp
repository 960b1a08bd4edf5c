#pragma once

#include <memory>

#include "gateway/facade/protocol.hpp"

namespace hyphos::gateway {

/// rosbridge v2 over WebSocket, for ROS#, roslibjs, roslibpy and the browser; `options.tls` makes
/// it wss. Port 9090 is usual. Two threads of its own, whatever the number of clients. own:
/// `ping_s`, seconds of silence after which a client is asked for a sign of life (10); after three
/// times that it is given up. `origins`, patterns of pages that may connect besides those of this
/// machine ("null"; see origin.hpp).
Result<std::unique_ptr<Protocol>> open_rosbridge(GraphFacade& facade, const Options& options);

}  // namespace hyphos::gateway
