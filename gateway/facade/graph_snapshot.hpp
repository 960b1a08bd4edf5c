#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/facade/services.hpp"
#include "hyphos/inspect.hpp"
#include "hyphos/node.hpp"
#include "hyphos/policy.hpp"

namespace hyphos::gateway {

/// All endpoints of the graph at one moment. A request takes one snapshot and puts all its queries
/// to it.
class GraphSnapshot {
 public:
  /// The process of the gateway, and the gateway's own node.
  struct Self {
    std::int32_t pid = 0;
    std::string process;
    std::string node;
  };
  /// An endpoint of a topic. `own`: it belongs to a client of the gateway.
  struct TopicEndpoint {
    const EndpointInfo* info = nullptr;  ///< valid as long as the snapshot
    bool own = false;
  };

  GraphSnapshot(std::vector<ProcessInfo> processes, Self self);
  /// Inspects all processes of the node's domain. Reads shared memory only. The snapshot is empty
  /// if the inspection fails.
  [[nodiscard]] static GraphSnapshot of(const Node& node);

  /// The endpoint that defines the present type of a channel: a publisher if there is one. An
  /// endpoint of the gateway's own node does not replace one that was found before.
  [[nodiscard]] std::optional<EndpointInfo> find(std::string_view channel) const;
  /// The type of a service or an action in the graph: "REQ(…) -> REP(…)". Empty: it has no
  /// endpoint. `kind`: kServices or kActions.
  [[nodiscard]] std::string call_type(std::string_view kind, std::string_view name) const;
  /// The policy of the publishers of this process. The default policy if there is none.
  [[nodiscard]] Policy policy_here(std::string_view channel) const;
  /// The number of publishers of a channel by process, as Meta::peer numbers processes. This
  /// process is also counted as kThisProcess.
  [[nodiscard]] std::map<std::uint64_t, std::size_t> count_publishers(
      std::string_view channel) const;
  /// True if a service or an action has a server, on this machine or on a linked one.
  [[nodiscard]] bool is_served(std::string_view kind, std::string_view name) const;

  /// The endpoints of all topics by channel, without the channels of services and actions.
  [[nodiscard]] std::map<std::string, std::vector<TopicEndpoint>> topics() const;
  /// The servers of services or actions. ServiceInfo::carries is their type in the graph, and
  /// ServiceInfo::type is empty.
  [[nodiscard]] std::vector<ServiceInfo> services(std::string_view kind) const;
  /// The nodes that have an endpoint, sorted: "/camera".
  [[nodiscard]] std::vector<std::string> nodes() const;

 private:
  [[nodiscard]] bool is_here(const ProcessInfo& process) const;
  /// Calls `visit(process, endpoint)` for each endpoint.
  template <typename Visit>
  void for_each(Visit&& visit) const;

  const std::vector<ProcessInfo> processes_;
  const Self self_;
};

}  // namespace hyphos::gateway
