#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "gateway/facade/services.hpp"
#include "hyphos/inspect.hpp"
#include "hyphos/node.hpp"
#include "hyphos/policy.hpp"
#include "node/runtime/domain_watch.hpp"

namespace hyphos::gateway {

/// The endpoints of the graph as they are now. Thread-safe.
///
/// Each query first takes in the changes since the last query (DomainWatch). So a query about one
/// channel costs the same however large the robot is.
class GraphView {
 public:
  /// The process of the gateway, and the gateway's own node.
  struct Self {
    std::int32_t pid = 0;
    std::string process;
    std::string node;
  };
  /// An endpoint of a topic. `own`: it belongs to a client of the gateway.
  struct TopicEndpoint {
    EndpointInfo info;  ///< without counters and times
    bool own = false;
  };
  /// A service or an action.
  struct CallInfo {
    std::string type;     ///< "REQ(…) -> REP(…)". Empty: it has no endpoint
    bool served = false;  ///< it has a server
    std::string node;     ///< the node of the server
  };

  explicit GraphView(const Node& node);
  /// A view without a domain, for tests. apply() changes it.
  explicit GraphView(Self self);
  void apply(DomainWatch::Changes changes) HYPHOS_EXCLUDES(mutex_);

  /// The endpoint that defines the present type of a channel: a publisher if there is one. An
  /// endpoint of the gateway's own node does not replace one that was found before.
  [[nodiscard]] std::optional<EndpointInfo> find(const std::string& channel) const;
  /// `kind`: kServices or kActions.
  [[nodiscard]] CallInfo call(std::string_view kind, std::string_view name) const;
  /// The policy of the publishers of this process. The default policy if there is none.
  [[nodiscard]] Policy policy_here(const std::string& channel) const;
  /// The number of publishers of a channel by process, as Meta::peer numbers processes. This
  /// process is also counted as kThisProcess.
  [[nodiscard]] std::map<std::uint64_t, std::size_t> count_publishers(
      const std::string& channel) const;

  /// The endpoints of all topics by channel, without the channels of services and actions.
  [[nodiscard]] std::map<std::string, std::vector<TopicEndpoint>> topics() const;
  /// The servers of services or actions. ServiceInfo::carries is their type in the graph, and
  /// ServiceInfo::type is empty.
  [[nodiscard]] std::vector<ServiceInfo> services(std::string_view kind) const;
  /// The nodes that have an endpoint, sorted: "/camera".
  [[nodiscard]] std::vector<std::string> nodes() const;
  /// The nodes that publish their parameters: "camera".
  [[nodiscard]] std::set<std::string> nodes_with_params() const;

  /// Another number after each change of the graph.
  [[nodiscard]] std::uint64_t version() const;
  /// The work of all queries so far.
  [[nodiscard]] DomainWatch::Cost cost() const;

 private:
  struct End {
    std::uint64_t participant = 0;
    EndpointInfo info;
  };
  using Ends = std::vector<End>;  // of one channel, the oldest first

  void refresh() const HYPHOS_REQUIRES(mutex_);
  void take(DomainWatch::Changes changes) const HYPHOS_REQUIRES(mutex_);
  void remove(std::uint64_t participant, std::uint64_t id, const std::string& channel) const
      HYPHOS_REQUIRES(mutex_);
  /// Empty if the channel has no endpoint.
  [[nodiscard]] const Ends& ends_of(const std::string& channel) const HYPHOS_REQUIRES(mutex_);
  [[nodiscard]] bool is_here(std::uint64_t participant) const HYPHOS_REQUIRES(mutex_);

  const Self self_;
  mutable Mutex mutex_;
  mutable std::optional<DomainWatch> watch_ HYPHOS_GUARDED_BY(mutex_);
  mutable std::map<std::uint64_t, DomainWatch::Process> processes_ HYPHOS_GUARDED_BY(mutex_);
  mutable std::unordered_map<std::string, Ends> channels_ HYPHOS_GUARDED_BY(mutex_);
  /// The channel of each endpoint, by participant and EndpointInfo::id.
  mutable std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> places_
      HYPHOS_GUARDED_BY(mutex_);
  mutable std::uint64_t version_ HYPHOS_GUARDED_BY(mutex_) = 0;
};

}  // namespace hyphos::gateway
