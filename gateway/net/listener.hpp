#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "gateway/net/connection.hpp"
#include "gateway/net/loop.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway::net {

/// Accepts TCP connections on one port. Its destructor closes the port, but not the connections.
/// Thread-safe.
class Listener {
 public:
  struct Options {
    std::string host = "127.0.0.1";  ///< name or address, empty: all addresses of this machine
    std::uint16_t port = 0;          ///< 0: any free port
    std::size_t max_clients = 64;    ///< connected at once, counted by Connection::place
  };
  /// Called in a thread of the loop, one at a time.
  struct Callbacks {
    std::function<void(Connection)> accepted;
    /// A client beyond the limit. The callback may send it an error. Dropping it closes it. May be
    /// null.
    std::function<void(Connection)> refused;
  };

  /// Errors: not_found (the host), already_exists (the port is in use, with the process if
  /// visible), permission (ports below 1024), io.
  [[nodiscard]] static Result<std::unique_ptr<Listener>> open(Loop& loop, const Options& options,
                                                              Callbacks callbacks);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener();

  [[nodiscard]] std::uint16_t port() const;
  /// "127.0.0.1:10000"
  [[nodiscard]] std::string address() const;
  [[nodiscard]] std::size_t clients() const;

 private:
  class State;
  explicit Listener(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace hyphos::gateway::net
