#pragma once

#include <string_view>

#include "gateway/types/rules.hpp"

namespace hyphos::gateway::rosbridge {

/// True if a page of this origin may connect to a gateway that was reached as `host`. The browser
/// sends both in the handshake (RFC 6455, 10.2). The check is necessary because any web page can
/// open a WebSocket to this machine, and browsers leave the decision to the server.
///
/// Allowed are programs, which have no origin, and pages of localhost. Also allowed are pages of
/// the host under which the gateway was reached, if that is an address. A name is not trusted,
/// because its owner could point it here. Other pages must match `origins`. That includes pages
/// that are files. Browsers call their origin "null", as for any page in a sandbox.
[[nodiscard]] bool may_enter(std::string_view origin, std::string_view host,
                             const Patterns& origins);

}  // namespace hyphos::gateway::rosbridge
