#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "gateway/net/connection.hpp"
#include "gateway/net/loop.hpp"
#include "hyphos/result.hpp"
#include "hyphos/time.hpp"

namespace hyphos::gateway::ros1 {

/// Connects, and looks up the host's name before, without blocking. `done` is called later in a
/// thread of the loop, whose end calls the attempt off. Errors: not_found (the name), disconnected
/// (nobody listens there), timeout, io.
void connect_later(net::Loop& loop, const std::string& host, std::uint16_t port, Duration timeout,
                   std::function<void(Result<net::Connection>)> done);

}  // namespace hyphos::gateway::ros1
