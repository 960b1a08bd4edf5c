#pragma once

#include <memory>

#include "gateway/facade/protocol.hpp"
#include "gateway/net/connection.hpp"
#include "gateway/net/loop.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway::net {

/// TLS in front of connections: what speaks TLS outside speaks plainly inside, through a pair of
/// sockets. So streams know nothing of it, may drop what waits, and plain ones pay nothing.
/// Cost: a copy more and a change of threads each way.
class TlsFront {
 public:
  /// TLS 1.2 and later. Errors: invalid_config (the files: which, and why).
  static Result<std::unique_ptr<TlsFront>> open(const Tls& files);
  ~TlsFront();
  TlsFront(const TlsFront&) = delete;
  TlsFront& operator=(const TlsFront&) = delete;

  /// The plain side of a connection; both end together. Errors: exhausted, io.
  Result<net::Connection> wrap(net::Loop& loop, net::Connection outer);

 private:
  struct Library;
  explicit TlsFront(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

}  // namespace hyphos::gateway::net
