#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hyphos/node.hpp"

namespace hyphos {

/// A gateway in this process: programs of another world take part in the graph, with the protocol
/// that they already speak. The same as `hyphos gateway` (docs/gateways.md), but what travels
/// between them and nodes of this process passes through no other process.
///
/// To be linked: hyphos::gateway. Thread-safe. Dropping it closes it. It needs the
/// transports of its runtime (not `offline`), since it finds out from them what there is.
class HYPHOS_EXPORT Gateway {
 public:
  /// `node`: its own, by whose name others see it. `words`: what stands behind `hyphos gateway` on
  /// the command line, such as {"ros1", "--master"}. Which types of ROS there are it is told by
  /// `--types FILE` (`hyphos msg descriptors -o FILE`); else it asks the program `hyphos`, which
  /// takes up to some seconds ($HYPHOS_PYTHON -m hyphos where that is set). Errors: invalid_config
  /// (an option), already_exists (the port is taken), not_found (no `hyphos` on PATH), unsupported
  /// (not in this build).
  static Result<Gateway> open(Node node, const std::vector<std::string>& words);

  Gateway(Gateway&&) noexcept;
  Gateway& operator=(Gateway&&) noexcept;
  ~Gateway();

  /// Closes its connections. The rest of this remains.
  void close();
  /// Where clients reach it: "ws://127.0.0.1:9090".
  [[nodiscard]] std::string address() const;
  [[nodiscard]] std::uint16_t port() const;
  /// What it had to drop or refuse since its start, by "drop.gateway.<why>".
  [[nodiscard]] std::map<std::string, std::uint64_t> counters() const;

 private:
  class Impl;
  explicit Gateway(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hyphos
