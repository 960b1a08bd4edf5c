#pragma once

#include <string_view>

#include "gateway/types/rules.hpp"

namespace hyphos::gateway::rosbridge {

/// Whether a page of this origin may connect to a gateway that was reached as `host`, both as the
/// browser says in the handshake (RFC 6455, 10.2). Any page on the net can open a WebSocket to this
/// machine, and browsers ask nobody but us.
///
/// In are: programs, which have no origin; pages of localhost; pages of the host that the gateway
/// was reached at, if that is an address: a name could be one that its owner lets point here.
/// Others have to fit `origins`; so do pages that are files, which browsers call "null", as they
/// call any page in a sandbox.
[[nodiscard]] bool may_enter(std::string_view origin, std::string_view host,
                             const Patterns& origins);

}  // namespace hyphos::gateway::rosbridge
