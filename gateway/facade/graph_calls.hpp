#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "gateway/facade/call_client_pool.hpp"
#include "gateway/facade/graph_clients.hpp"
#include "hyphos/node.hpp"

namespace hyphos::gateway {

/// The call clients that the clients of the gateway share for services and actions. Thread-safe.
class GraphCalls {
 public:
  /// `clients` must outlive this object.
  GraphCalls(Node node, GraphClients& clients);

  /// Returns a call client for a call of `client`, and counts the call. `kind`: kServices or
  /// kActions. `served`: it has a server now. Errors: permission, overloaded, and the errors of
  /// opening a call client.
  Result<CallClientPool::Use> use(const Client& client, std::string_view kind,
                                  const std::string& name, const TypeId& request,
                                  const CallType& type, bool served);
  /// The maximum number of calls in flight at one server of a client.
  [[nodiscard]] std::uint32_t server_depth() const;

 private:
  const Node node_;
  GraphClients& clients_;
  const std::shared_ptr<CallClientPool> pool_;
};

}  // namespace hyphos::gateway
