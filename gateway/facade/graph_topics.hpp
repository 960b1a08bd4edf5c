#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gateway/facade/client_registry.hpp"
#include "gateway/facade/graph_clients.hpp"
#include "gateway/facade/graph_view.hpp"
#include "gateway/facade/shared_subscription.hpp"
#include "gateway/facade/topics.hpp"
#include "gateway/types/types.hpp"
#include "hyphos/node.hpp"

namespace hyphos::gateway {

/// The topics of the graph of this process. Clients with the same needs share a subscription.
class GraphTopics final : public Topics {
 public:
  /// `view` and `clients` must outlive this object and its publishers.
  GraphTopics(Node node, std::shared_ptr<Types> types, const GraphView& view,
              GraphClients& clients);

  Result<std::unique_ptr<ClientPublisher>> open_publisher(
      const Client& client, const std::string& topic, const std::string& type, Form form,
      const ClientPublisherOptions& options) override;
  Result<std::unique_ptr<ClientSubscription>> open_subscription(
      const Client& client, const std::string& topic, const std::string& type, Form form,
      const ClientSubscriptionOptions& options,
      std::function<void(const OutgoingMessage&)> callback) override;
  [[nodiscard]] std::vector<TopicInfo> list() const override;
  [[nodiscard]] std::vector<std::string> nodes() const override;

 private:
  /// The codec for the endpoint that the view found. `raw`: use a raw channel if it found none.
  Result<const ChannelCodec*> codec_for(const std::string& channel,
                                        const std::optional<EndpointInfo>& endpoint,
                                        const std::string& type, bool raw = false);
  [[nodiscard]] Result<std::string> type_of(const std::string& channel,
                                            const std::optional<EndpointInfo>& endpoint,
                                            Form form) const;
  /// Opens a subscription that clients share.
  Result<std::shared_ptr<SharedSubscription>> open_shared(const std::string& topic,
                                                          const ChannelCodec& codec,
                                                          const TypeInfo& type, Form form,
                                                          const ClientSubscriptionOptions& options,
                                                          bool keeps);

  void add(TopicInfo& topic, const GraphView::TopicEndpoint& endpoint) const;
  /// The node or the clients of this gateway that own the endpoint.
  [[nodiscard]] std::set<std::string> owners_of(const GraphView::TopicEndpoint& endpoint) const;

  const Node node_;
  const std::shared_ptr<Types> types_;
  const GraphView& view_;
  GraphClients& clients_;
  const std::shared_ptr<ClientRegistry> registry_ = std::make_shared<ClientRegistry>();
  SharedSubscriptions shared_subscriptions_;
};

}  // namespace hyphos::gateway
