#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/facade/graph_facade.hpp"
#include "gateway/rosbridge/params.hpp"

namespace hyphos::gateway::rosbridge {

/// The services below /rosapi, with which tools find topics, services, actions, types, nodes and
/// parameters. The gateway answers them from the graph facade, restricted to the rules of the
/// client.
class Rosapi {
 public:
  using Done = std::function<void(Result<std::string>)>;

  /// All arguments must outlive the object.
  Rosapi(const GraphFacade& facade, const Client& client, NodeParams& params)
      : facade_(facade), client_(client), params_(params) {}

  struct Entry;  ///< one of these services
  /// Null if `service` is not one of them.
  [[nodiscard]] static const Entry* find(std::string_view service);
  /// Passes the reply as JSON to `done`, once, now or later in any thread. `args` is JSON, or
  /// empty. Errors: not_found (a type, a parameter), corrupt (a value), unsupported (a parameter
  /// cannot be deleted while a node declares it), and the errors of NodeParams::set().
  void answer(const Entry& service, std::string_view args, Done done) const;
  /// The type of a service, even if the client may not call it. Empty if there is no such service.
  [[nodiscard]] std::string service_type(std::string_view service) const;

 private:
  static const Entry kEntries[];

  Result<std::string> topics(std::string_view args) const;
  Result<std::string> topics_and_raw_types(std::string_view args) const;
  Result<std::string> topics_for_type(std::string_view args) const;
  Result<std::string> topic_type(std::string_view args) const;
  Result<std::string> publishers(std::string_view args) const;
  Result<std::string> subscribers(std::string_view args) const;
  Result<std::string> services(std::string_view args) const;
  Result<std::string> services_for_type(std::string_view args) const;
  Result<std::string> service_type_of(std::string_view args) const;
  Result<std::string> service_node(std::string_view args) const;
  Result<std::string> service_providers(std::string_view args) const;
  Result<std::string> nodes(std::string_view args) const;
  Result<std::string> node_details(std::string_view args) const;
  Result<std::string> message_details(std::string_view args) const;
  Result<std::string> request_details(std::string_view args) const;
  Result<std::string> response_details(std::string_view args) const;
  Result<std::string> param_names(std::string_view args) const;
  Result<std::string> has_param(std::string_view args) const;
  Result<std::string> get_param(std::string_view args) const;
  Result<std::string> search_param(std::string_view args) const;
  Result<std::string> delete_param(std::string_view args) const;
  Result<std::string> action_servers(std::string_view args) const;
  Result<std::string> action_type_of(std::string_view args) const;
  Result<std::string> goal_details(std::string_view args) const;
  Result<std::string> result_details(std::string_view args) const;
  Result<std::string> feedback_details(std::string_view args) const;
  Result<std::string> interfaces(std::string_view args) const;
  Result<std::string> ros_version(std::string_view args) const;
  Result<std::string> time(std::string_view args) const;

  void set_param(std::string_view args, Done done) const;
  [[nodiscard]] Result<void> lets_share(const std::string& name) const;
  [[nodiscard]] Result<std::string> set_shared(const std::string& name,
                                               const std::string& value) const;
  [[nodiscard]] ParamNames params() const;
  /// True if the first word of the name is a node, also one that this client does not see.
  [[nodiscard]] bool is_of_node(const std::string& param) const;
  [[nodiscard]] Result<std::string> typedefs(const std::string& type) const;
  [[nodiscard]] Result<std::string> action_details(std::string_view args,
                                                   std::string ActionTypeInfo::* part) const;
  /// The items that the client may use: topics that it may subscribe to or publish, and services
  /// and actions that it may call.
  [[nodiscard]] std::vector<TopicInfo> shown_topics() const;
  [[nodiscard]] std::vector<ServiceInfo> shown_services() const;
  [[nodiscard]] std::vector<ActionInfo> shown_actions() const;
  [[nodiscard]] std::vector<ServiceInfo> callable(std::vector<ServiceInfo> all) const;

  const GraphFacade& facade_;
  const Client& client_;
  NodeParams& params_;
};

}  // namespace hyphos::gateway::rosbridge
