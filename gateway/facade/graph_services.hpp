#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gateway/facade/graph_calls.hpp"
#include "gateway/facade/graph_clients.hpp"
#include "gateway/facade/graph_view.hpp"
#include "gateway/facade/services.hpp"
#include "gateway/types/types.hpp"
#include "hyphos/node.hpp"

namespace hyphos::gateway {

/// The services of the graph of this process.
class GraphServices final : public Services {
 public:
  /// `view`, `clients` and `calls` must outlive this object.
  GraphServices(Node node, std::shared_ptr<Types> types, const GraphView& view,
                GraphClients& clients, GraphCalls& calls);

  Result<std::unique_ptr<Server>> open_server(
      const Client& client, const std::string& service, const std::string& type, Forms forms,
      std::function<void(const Buffer& request, Answer answer)> callback) override;
  void call(const Client& client, const std::string& service, const std::string& type, Forms forms,
            std::span<const std::byte> request, Duration timeout, Answer answer) override;
  [[nodiscard]] Result<Buffer> blank_reply(std::string_view type, Form form) const override;
  [[nodiscard]] std::optional<ServiceInfo> find(const std::string& service) const override;
  [[nodiscard]] std::vector<ServiceInfo> list() const override;

 private:
  const Node node_;
  const std::shared_ptr<Types> types_;
  const GraphView& view_;
  GraphClients& clients_;
  GraphCalls& calls_;
};

}  // namespace hyphos::gateway
