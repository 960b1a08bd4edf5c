#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.hpp"
#include "gateway/ros2/endpoint.hpp"
#include "gateway/ros2/entities.hpp"
#include "gateway/ros2/settings.hpp"

namespace hyphos::gateway::ros2 {

/// The graph of ROS nodes: announces the gateway's node, and maps endpoints of others to node
/// names.
class NodeGraph {
 public:
  NodeGraph(std::shared_ptr<Participant> participant, const Settings& settings);
  NodeGraph(const NodeGraph&) = delete;
  NodeGraph& operator=(const NodeGraph&) = delete;

  Result<void> open();
  /// Ends both directions. Known names stay.
  void close();
  /// Announces the endpoints of the gateway's node, and the robot's nodes, whose endpoints the
  /// gateway's node then has not. Does nothing if nothing has changed. Call it from one thread.
  void announce(const std::vector<GUID_t>& readers, const std::vector<GUID_t>& writers,
                std::vector<NodeEntities> robot = {});
  static constexpr std::string_view kNoNode = "a node";
  /// "/talker", or kNoNode if it is unknown. Thread-safe.
  [[nodiscard]] std::string node_of(const GUID_t& endpoint) const;
  /// The present nodes, without the gateway's own. Thread-safe.
  [[nodiscard]] std::set<std::string> nodes() const;
  /// Forgets all participants for which `is_there` returns false.
  void keep(const std::function<bool(const Gid& participant)>& is_there);

 private:
  void on_message(const Received& message);

  const std::shared_ptr<Participant> participant_;
  const Settings& settings_;
  Writer writer_;
  Reader reader_;
  std::vector<std::byte> announced_;
  mutable Mutex mutex_;
  std::map<Gid, ParticipantEntities> others_ HYPHOS_GUARDED_BY(mutex_);
  std::map<Gid, std::string> names_ HYPHOS_GUARDED_BY(mutex_);  ///< by endpoint
};

}  // namespace hyphos::gateway::ros2
