#include "gateway/facade/graph_calls.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace hyphos::gateway {

GraphCalls::GraphCalls(Node node, GraphClients& clients)
    : node_(std::move(node)),
      clients_(clients),
      pool_(std::make_shared<CallClientPool>(clients.rules().limits)) {}

Result<CallClientPool::Use> GraphCalls::use(const Client& client, std::string_view kind,
                                            const std::string& name, const TypeId& request,
                                            const CallType& type, bool served) {
  if (gate_->closed()) return Error{Code::disconnected, "the gateway is closed", name};
  if (auto let = clients_.take(client, *clients_.quota_of(client), name); !let) return let.error();
  const std::string key = name + " " + std::string(kind) + request.name;
  auto asked = pool_->ask(client, key, served, [&] {
    // CallClientPool limits the number of calls by an option of the gateway.
    ClientOptions options;
    options.max_pending = 65536;
    return node_.raw_client(name, type, options);
  });
  if (!asked && asked.error().code == Code::overloaded) {
    clients_.count(client, "calls", asked.error().message);
  }
  return asked;
}

std::uint32_t GraphCalls::server_depth() const {
  return static_cast<std::uint32_t>(
      std::clamp<std::size_t>(clients_.rules().limits.calls, 1, 65536));
}

}  // namespace hyphos::gateway
