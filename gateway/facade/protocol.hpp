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
#include "hyphos/result.hpp"

namespace hyphos::gateway {

struct Tls {
  std::string certificate;  ///< PEM files
  std::string key;
};

/// A secret that a client shows.
struct Token {
  std::string secret;
  std::string rules = {};  ///< Client::token of who shows it
};

struct Options {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  ///< 0: any that is free
  std::optional<Tls> tls;
  std::vector<Token> tokens;                        ///< not empty: a client has to show one of them
  std::size_t max_message = std::size_t{64} << 20;  ///< bytes, each way
  std::size_t max_clients = 64;
  std::uint32_t queue_depth = 10;  ///< messages that wait for one client, per topic; oldest dropped
  std::size_t queue_bytes = std::size_t{128} << 20;  ///< of all that waits for one client
  std::map<std::string, std::string> own;            ///< of this protocol alone, checked by it
};

/// A running gateway. Dropping it closes its connections; nothing of it runs then.
class Protocol {
 public:
  virtual ~Protocol() = default;
  /// Where clients reach it: "ws://127.0.0.1:9090".
  [[nodiscard]] virtual std::string address() const = 0;
  [[nodiscard]] virtual std::uint16_t port() const = 0;
};

/// Each protocol has one such function, which registry.cpp names. It throws nothing; errors:
/// invalid_config (an option), already_exists (the port is taken; by whom if that can be seen).
/// `door` outlives what is returned.
using OpenProtocol = Result<std::unique_ptr<Protocol>> (*)(GraphFacade& facade,
                                                           const Options& options);

}  // namespace hyphos::gateway
