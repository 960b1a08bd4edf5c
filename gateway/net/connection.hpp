#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "gateway/net/descriptor.hpp"
#include "hyphos/result.hpp"
#include "hyphos/time.hpp"

namespace hyphos::gateway::net {

/// A TCP connection that stands: non-blocking, without Nagle's delay, noticing within a minute that
/// the other machine is gone, and within one machine with little on its way. A Stream can be made
/// of it, or anything else that speaks on it.
struct Connection {
  Descriptor fd;
  std::string peer;             ///< "127.0.0.1:41552"
  std::shared_ptr<void> place;  ///< the one it takes among the clients of a listener; may be null
};

/// Sets what a Connection promises. The socket is connected.
void prepare(int fd);

/// Connects to the first address of `host` that answers. Blocks up to `timeout`, and while a name
/// is looked up: not for callbacks. Errors: not_found (the name), disconnected, timeout.
[[nodiscard]] Result<Connection> connect(const std::string& host, std::uint16_t port,
                                         Duration timeout);

}  // namespace hyphos::gateway::net
