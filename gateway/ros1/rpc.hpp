#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gateway/net/loop.hpp"
#include "gateway/ros1/value.hpp"
#include "gateway/ros1/xmlrpc.hpp"
#include "hyphos/result.hpp"
#include "hyphos/time.hpp"

/// XML-RPC over HTTP, on a loop of one thread, in which all of a server and a client runs: what
/// they call needs no lock. The loop has to end before them.
namespace hyphos::gateway::ros1 {

/// Answers a call, or refuses it with an error, which becomes a fault. Must not block.
using RpcHandler = std::function<Result<Value>(const RpcCall&)>;

class RpcServer {
 public:
  static constexpr std::size_t kMaxClients = 512;

  struct Options {
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;  ///< 0: any that is free
  };
  /// Errors: as net::Listener::open().
  static Result<std::unique_ptr<RpcServer>> open(net::Loop& loop, const Options& options,
                                                 RpcHandler handler);
  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;
  ~RpcServer();

  [[nodiscard]] std::uint16_t port() const;

 private:
  class State;
  explicit RpcServer(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

/// Only to be used in the loop's thread.
class RpcClient {
 public:
  /// Calls that may wait for one server, and their size; then the next is refused, overloaded.
  static constexpr std::size_t kMaxWaiting = 4096;
  static constexpr std::size_t kMaxWaitingBytes = std::size_t{32} << 20;

  struct CallOptions {
    Duration timeout = Duration::from_seconds(5);  ///< from when its turn comes
    /// Not empty: takes the place of a call with the same key that still waits, whose end is
    /// `canceled`. For what only matters in its latest form.
    std::string replaces = {};
  };
  using Done = std::function<void(Result<Value>)>;

  explicit RpcClient(net::Loop& loop);
  RpcClient(const RpcClient&) = delete;
  RpcClient& operator=(const RpcClient&) = delete;
  ~RpcClient();

  /// Calls to one address go one after the other, in their order. `done` is called later; not at
  /// all when the loop ends before. Errors: disconnected (nobody listens there), not_found (the
  /// host), timeout, io (the connection broke, or the call was refused), corrupt, overloaded,
  /// canceled.
  void call(const std::string& uri, const std::string& method, const std::vector<Value>& params,
            const CallOptions& options, Done done);

 private:
  class Line;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace hyphos::gateway::ros1
