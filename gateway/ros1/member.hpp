#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "gateway/ros1/methods.hpp"
#include "gateway/ros1/rpc.hpp"

namespace hyphos::gateway::ros1 {

/// The gateway as a node that is registered with its master. Belongs to the call thread.
struct Member {
  RpcClient& client;
  std::string master;  ///< URI of the master
  std::string uri;     ///< "http://host:port/"
  std::string rosrpc;  ///< "rosrpc://host:port"
  std::string node;    ///< "/hyphos"

  /// Calls the master as this node. `done` gets the value of a successful call.
  void ask(const std::string& method, std::vector<Value> params,
           std::function<void(Result<Value>)> done) const {
    params.insert(params.begin(), node);
    client.call(master, method, params, {}, [done = std::move(done)](Result<Value> answer) {
      if (done) done(value_of(std::move(answer)));
    });
  }
};

/// A set of facts that are logged once, until they no longer hold.
class LogOnce {
 public:
  [[nodiscard]] bool first(const std::string& what) { return logged_.insert(what).second; }
  void forget(const std::string& what) { logged_.erase(what); }

 private:
  std::set<std::string> logged_;
};

}  // namespace hyphos::gateway::ros1
