#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gateway/facade/actions.hpp"
#include "gateway/facade/graph_calls.hpp"
#include "gateway/facade/graph_clients.hpp"
#include "gateway/facade/graph_view.hpp"
#include "gateway/types/types.hpp"
#include "hyphos/node.hpp"

namespace hyphos::gateway {

/// The actions of the graph of this process.
class GraphActions final : public Actions {
 public:
  /// `view`, `clients` and `calls` must outlive this object.
  GraphActions(Node node, std::shared_ptr<Types> types, const GraphView& view,
               GraphClients& clients, GraphCalls& calls);

  Result<std::unique_ptr<SentGoal>> send_goal(const Client& client, const std::string& action,
                                              const std::string& type, Forms forms,
                                              std::span<const std::byte> goal,
                                              GoalCallbacks callbacks) override;
  Result<std::unique_ptr<ActionServer>> open_server(const Client& client, const std::string& action,
                                                    const std::string& type, Forms forms,
                                                    ActionCallbacks callbacks) override;
  [[nodiscard]] Result<Buffer> blank_result(const std::string& type, Form form) const override;
  [[nodiscard]] std::vector<ActionInfo> list() const override;

 private:
  const Node node_;
  const std::shared_ptr<Types> types_;
  const GraphView& view_;
  GraphClients& clients_;
  GraphCalls& calls_;
};

}  // namespace hyphos::gateway
