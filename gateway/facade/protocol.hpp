#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/facade/graph_facade.hpp"
#include "gateway/net/tls_files.hpp"
#include "gateway/types/limits.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway {

/// A secret that a client presents.
struct Token {
  std::string secret;
  std::string rules = {};  ///< Client::token of a client that presents it
};

struct Options {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  ///< 0: any free port
  std::optional<Tls> tls;
  std::vector<Token> tokens;  ///< if not empty, a client must present one of them
  std::size_t max_message = std::size_t{64} << 20;  ///< bytes, in each direction
  std::size_t max_clients = 256;                    ///< each takes a file descriptor and a queue
  std::uint32_t queue_depth = 10;  ///< waiting messages per client and topic, the oldest is dropped
  std::size_t queue_bytes = std::size_t{128} << 20;  ///< waiting bytes per client
  std::map<std::string, std::string> own;  ///< options of this protocol only, which checks them
  Limits limits = {};                      ///< as Rules::limits
};

/// A running gateway. Its destructor closes all connections and waits for its threads.
class Protocol {
 public:
  virtual ~Protocol() = default;
  /// The address for clients: "ws://127.0.0.1:9090".
  [[nodiscard]] virtual std::string address() const = 0;
  [[nodiscard]] virtual std::uint16_t port() const = 0;
};

/// Each protocol has one such function, which registry.cpp names. It throws no exception. `facade`
/// must outlive the returned object. Errors: invalid_config (an option), already_exists (the port
/// is in use, with the name of the process if it can be found).
using OpenProtocol = Result<std::unique_ptr<Protocol>> (*)(GraphFacade& facade,
                                                           const Options& options);

}  // namespace hyphos::gateway
