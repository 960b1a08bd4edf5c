#pragma once

#include <memory>

#include "gateway/net/connection.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/net/tls_files.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway::net {

/// TLS in front of connections: a pair of sockets connects the TLS side outside to a plain side
/// inside. So streams need no TLS code and may drop waiting messages, and plain connections cost
/// nothing extra. Cost: one more copy and a thread switch in each direction.
class TlsFront {
 public:
  /// TLS 1.2 and later. Errors: invalid_config (with the file and the reason).
  static Result<std::unique_ptr<TlsFront>> open(const Tls& files);
  ~TlsFront();
  TlsFront(const TlsFront&) = delete;
  TlsFront& operator=(const TlsFront&) = delete;

  /// The plain side of a connection. Both sides end together. Errors: exhausted, io.
  Result<net::Connection> wrap(net::Loop& loop, net::Connection outer);

 private:
  struct Library;
  explicit TlsFront(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

}  // namespace hyphos::gateway::net
