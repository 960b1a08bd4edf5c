#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/unique_fd.hpp"
#include "hyphos/result.hpp"
#include "hyphos/time.hpp"

namespace hyphos::gateway::net {

/// An established TCP connection. It is non-blocking and has no Nagle delay. It notices within a
/// minute that the other machine is gone. Within one machine it keeps few bytes in flight.
/// Build a Stream on it, or any other protocol.
struct Connection {
  UniqueFd fd;
  std::string peer;             ///< "127.0.0.1:41552"
  std::shared_ptr<void> place;  ///< its slot among the clients of a listener, may be null
};

/// Sets the options that a Connection promises. The socket must be connected.
void prepare(int fd);

/// Connects to the first address of `host` that accepts. Blocks for up to `timeout`, and while a
/// name is looked up, so callbacks must not call it. Errors: not_found (the name), disconnected,
/// timeout.
[[nodiscard]] Result<Connection> connect(const std::string& host, std::uint16_t port,
                                         Duration timeout);

}  // namespace hyphos::gateway::net
