#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gateway/net/address.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/ros1/value.hpp"
#include "gateway/ros1/xmlrpc.hpp"
#include "hyphos/result.hpp"
#include "hyphos/time.hpp"

/// XML-RPC over HTTP on a loop of one thread. All code of a server and a client runs in that
/// thread, so their handlers need no lock. The loop must end before them.
namespace hyphos::gateway::ros1 {

/// Replies to one call, once. An error becomes a fault. Without a reply, the caller waits until the
/// connection ends.
using RpcReply = std::function<void(Result<Value>)>;
/// Answers a call from this address, at once or later in the loop's thread. It must not block.
using RpcHandler = std::function<void(const RpcCall&, const net::Address& from, RpcReply)>;

class RpcServer {
 public:
  static constexpr std::size_t kMaxClients = 512;

  struct Options {
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;  ///< 0: any free port
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

/// Use it only in the loop's thread.
class RpcClient {
 public:
  /// Maximum number and size of the calls that wait for one server. The next call fails with
  /// overloaded.
  static constexpr std::size_t kMaxWaiting = 4096;
  static constexpr std::size_t kMaxWaitingBytes = std::size_t{32} << 20;

  struct CallOptions {
    Duration timeout = Duration::from_seconds(5);  ///< starts when the call is sent
    /// If not empty, the call replaces a waiting call with the same key, which ends with
    /// `canceled`. For updates of which only the latest matters.
    std::string replaces = {};
  };
  using Done = std::function<void(Result<Value>)>;

  explicit RpcClient(net::Loop& loop);
  RpcClient(const RpcClient&) = delete;
  RpcClient& operator=(const RpcClient&) = delete;
  ~RpcClient();

  /// Calls to one address run one after another, in order. `done` is called later, or never if the
  /// loop ends before. Errors: disconnected (no program listens there), not_found (the host),
  /// timeout, io (the connection broke, or the call was refused), corrupt, overloaded, canceled.
  void call(const std::string& uri, const std::string& method, const std::vector<Value>& params,
            const CallOptions& options, Done done);

 private:
  class Line;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace hyphos::gateway::ros1
