#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/call_gate.hpp"
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
  /// opening a call client. After end(), also disconnected.
  Result<CallClientPool::Use> use(const Client& client, std::string_view kind,
                                  const std::string& name, const TypeId& request,
                                  const CallType& type, bool served);
  /// The maximum number of calls in flight at one server of a client.
  [[nodiscard]] std::uint32_t server_depth() const;

  /// Replies, feedback and results pass this gate on their way to the clients of the gateway. They
  /// may arrive after the end of the gateway, because a call in flight keeps its call client open.
  [[nodiscard]] const std::shared_ptr<CallGate>& gate() const { return gate_; }
  /// Closes the gate, and refuses further calls. Waits for callbacks that run.
  void end() { gate_->close(); }

 private:
  const Node node_;
  GraphClients& clients_;
  const std::shared_ptr<CallClientPool> pool_;
  const std::shared_ptr<CallGate> gate_ = std::make_shared<CallGate>();
};

}  // namespace hyphos::gateway
