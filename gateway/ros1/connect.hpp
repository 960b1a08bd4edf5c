#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gateway/net/address.hpp"
#include "gateway/net/connection.hpp"
#include "gateway/net/loop.hpp"
#include "hyphos/result.hpp"
#include "hyphos/time.hpp"

namespace hyphos::gateway::ros1 {

/// Looks up the host name and connects, without blocking. `done` is called later in a thread of the
/// loop. The end of the loop cancels the attempt. Errors: not_found (the name), disconnected (no
/// program listens there), timeout, io.
void connect_later(net::Loop& loop, const std::string& host, std::uint16_t port, Duration timeout,
                   std::function<void(Result<net::Connection>)> done);

/// Looks up the addresses of a host name, without blocking. `done` is called later in the loop's
/// thread, or never if the loop ends before. Errors: not_found, timeout.
void resolve_later(net::Loop& loop, const std::string& host, Duration timeout,
                   std::function<void(Result<std::vector<net::Address>>)> done);

}  // namespace hyphos::gateway::ros1
