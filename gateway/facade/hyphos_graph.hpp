#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/facade/call_client_pool.hpp"
#include "gateway/facade/client_registry.hpp"
#include "gateway/facade/graph_facade.hpp"
#include "gateway/facade/quotas.hpp"
#include "gateway/facade/shared_subscription.hpp"
#include "gateway/types/rules.hpp"
#include "gateway/types/types.hpp"
#include "hyphos/node.hpp"

namespace hyphos::gateway {

/// Prefixes of the channels of services and actions.
inline constexpr std::string_view kServices = "hyphos/service/";
inline constexpr std::string_view kActions = "hyphos/action/";

/// The facade of the graph of this process. Its channels are announced as the channels of any node.
class HyphosGraph final : public GraphFacade {
 public:
  HyphosGraph(Node node, std::shared_ptr<Types> types, Rules rules);
  ~HyphosGraph() override;
  HyphosGraph(const HyphosGraph&) = delete;
  HyphosGraph& operator=(const HyphosGraph&) = delete;

  Result<std::unique_ptr<ClientPublisher>> open_publisher(
      const Client& client, const std::string& topic, const std::string& type, Form form,
      const ClientPublisherOptions& options) override;
  Result<std::unique_ptr<ClientSubscription>> open_subscription(
      const Client& client, const std::string& topic, const std::string& type, Form form,
      const ClientSubscriptionOptions& options,
      std::function<void(const OutgoingMessage&)> callback) override;
  Result<std::unique_ptr<Server>> open_server(
      const Client& client, const std::string& service, const std::string& type, Form form,
      std::function<void(const Buffer& request, Answer answer)> callback) override;
  void call(const Client& client, const std::string& service, const std::string& type, Form form,
            std::span<const std::byte> request, Duration timeout, Answer answer) override;

  Result<std::unique_ptr<SentGoal>> send_goal(const Client& client, const std::string& action,
                                              const std::string& type, Form form,
                                              std::span<const std::byte> goal,
                                              GoalCallbacks callbacks) override;
  Result<std::unique_ptr<ActionServer>> open_action(const Client& client, const std::string& action,
                                                    const std::string& type, Form form,
                                                    ActionCallbacks callbacks) override;

  std::unique_ptr<NodeParams> open_params(std::function<void()> changed) override;

  [[nodiscard]] Result<TypeInfo> type(std::string_view name) const override;
  [[nodiscard]] Result<ServiceTypeInfo> service_type(std::string_view name) const override;
  [[nodiscard]] Result<Buffer> blank_reply(std::string_view type, Form form) const override;
  [[nodiscard]] Result<ActionTypeInfo> action_type(std::string_view name) const override;
  [[nodiscard]] std::vector<TopicInfo> topics() const override;
  [[nodiscard]] std::vector<ServiceInfo> services() const override;
  [[nodiscard]] std::vector<ActionInfo> actions() const override;
  [[nodiscard]] std::vector<std::string> nodes() const override;
  [[nodiscard]] bool lets(const Client& client, Use use, std::string_view name) const override;
  [[nodiscard]] std::vector<std::string> interfaces() const override;
  [[nodiscard]] int ros_version() const override;
  void count(const Client& client, std::string_view why, std::string_view detail) override;
  void note(const Client& client, std::string_view why, std::string_view detail) override;

  /// Counts one message, call or goal of the client. Error: permission, which is counted too.
  Result<void> take(const Client& client, Quota& quota, const std::string& name);

  /// Counters by "drop.gateway.<why>", since the start.
  [[nodiscard]] std::map<std::string, std::uint64_t> counters() const;

 private:
  void add_to_counter(std::string_view why);
  /// The endpoint that defines the present type of a channel: a publisher if there is one.
  [[nodiscard]] std::optional<EndpointInfo> seen(const std::string& channel) const;
  /// The policy of the publishers of this process. At least one must exist.
  [[nodiscard]] Policy policy_here(const std::string& channel) const;
  /// The codec for the endpoint that seen() found. `raw`: use a raw channel if it found none.
  Result<const ChannelCodec*> codec_for(const std::string& channel,
                                        const std::optional<EndpointInfo>& end,
                                        const std::string& type, bool raw = false);
  [[nodiscard]] Result<std::string> type_of(const std::string& channel,
                                            const std::optional<EndpointInfo>& end,
                                            Form form) const;
  /// The owners of this endpoint: a node, or clients of this gateway.
  [[nodiscard]] std::set<std::string> names_of(const ProcessInfo& process,
                                               const EndpointInfo& end) const;
  [[nodiscard]] std::map<std::uint64_t, std::size_t> publishers_now(
      const std::string& channel) const;
  [[nodiscard]] std::string call_type_of(const std::string& service) const;
  [[nodiscard]] std::string action_type_of(const std::string& action) const;
  /// The servers of services or actions, with their types in the graph. `kind`: kServices or
  /// kActions.
  [[nodiscard]] std::vector<ServiceInfo> served(std::string_view kind) const;
  /// True if a node subscribes to the channel, on this machine or on a linked one.
  [[nodiscard]] bool is_served(const std::string& channel) const;
  /// Reserves room for one more topic or service of the client. Error: overloaded, which is
  /// counted.
  Result<std::shared_ptr<void>> quota_for(const Client& client,
                                          std::initializer_list<std::string> ports);
  /// Returns a call client for a call of `client`. `kind`: kServices or kActions.
  Result<CallClientPool::Use> call_client(const Client& client, std::string_view kind,
                                          const std::string& name, const TypeId& request,
                                          const detail::CallTypes& types);

  Node node_;
  std::shared_ptr<Types> types_;
  const Rules rules_;
  const std::shared_ptr<Quotas> quotas_;
  const std::shared_ptr<CallClientPool> call_clients_;
  Logger log_;
  const std::shared_ptr<ClientRegistry> clients_ = std::make_shared<ClientRegistry>();
  SharedSubscriptions shared_subscriptions_;
  mutable std::mutex mutex_;  // guards the members below
  std::map<std::string, std::uint64_t> counters_;
};

/// "/camera/image" → "camera/image".
[[nodiscard]] std::string channel_of(std::string_view topic);
[[nodiscard]] std::string topic_of(std::string_view channel);

}  // namespace hyphos::gateway
