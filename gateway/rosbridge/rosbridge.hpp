#pragma once

#include <memory>

#include "gateway/facade/protocol.hpp"

namespace hyphos::gateway {

/// rosbridge v2 over WebSocket, for ROS#, roslibjs, roslibpy and browsers. `options.tls` enables
/// wss. The usual port is 9090. Two threads serve any number of clients. Own options:
///
///     ping_s   seconds of silence before a ping is sent. After three times this silence, the
///              client is disconnected. Default 10
///     origins  patterns of web pages that may connect besides pages of this machine. See
///              origin.hpp. Default "null"
Result<std::unique_ptr<Protocol>> open_rosbridge(GraphFacade& facade, const Options& options);

}  // namespace hyphos::gateway
