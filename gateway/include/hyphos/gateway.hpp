#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hyphos/node.hpp"

namespace hyphos {

/// A gateway in this process: programs that speak ROS 1, ROS 2, rosbridge or ROS-TCP take part in
/// the graph with their own protocol.
///
/// It does the same work as `hyphos gateway` (docs/how-to/gateways.md). Messages between its
/// clients and the nodes of this process cross no process boundary. Link hyphos::gateway. The
/// runtime must have transports (not `offline`), because the gateway discovers nodes, channels and
/// services through them.
///
/// Threads: every function is thread-safe. Lifetime: the destructor closes all connections. A
/// Gateway that was moved from may only be assigned or destroyed.
class HYPHOS_EXPORT Gateway {
 public:
  /// Opens a gateway and starts to serve clients.
  ///
  /// `node` belongs to the gateway: other programs see the gateway by the name of this node.
  /// `words` are the words after `hyphos gateway` on the command line, such as {"ros1",
  /// "--master"}. The option `--types FILE` names the ROS types (`hyphos msg descriptors -o FILE`
  /// writes that file). Without it, open() runs the program `hyphos` ($HYPHOS_PYTHON -m hyphos
  /// where that is set) and blocks for up to some seconds.
  ///
  /// Errors: invalid_config (an option), already_exists (the port is in use), not_found (no
  /// `hyphos` on PATH), unsupported (this build lacks the protocol).
  static Result<Gateway> open(Node node, const std::vector<std::string>& words);

  Gateway(Gateway&&) noexcept;
  Gateway& operator=(Gateway&&) noexcept;
  ~Gateway();

  /// Closes all connections. address(), port() and counters() stay valid.
  void close();
  /// The address for clients: "ws://127.0.0.1:9090".
  [[nodiscard]] std::string address() const;
  [[nodiscard]] std::uint16_t port() const;
  /// Messages and requests that the gateway dropped or refused since its start, by
  /// "drop.gateway.<why>".
  [[nodiscard]] std::map<std::string, std::uint64_t> counters() const;

 private:
  class Impl;
  explicit Gateway(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hyphos
