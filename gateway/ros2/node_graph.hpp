#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/ros2/endpoint.hpp"
#include "gateway/ros2/entities.hpp"
#include "gateway/ros2/settings.hpp"

namespace hyphos::gateway::ros2 {

/// The nodes of ROS: tells others of ours, and knows which node of others has an endpoint.
class NodeGraph {
 public:
  NodeGraph(std::shared_ptr<Participant> participant, const Settings& settings);
  NodeGraph(const NodeGraph&) = delete;
  NodeGraph& operator=(const NodeGraph&) = delete;

  Result<void> open();
  /// Ends what is heard and told. Names stay.
  void close();
  /// Says which endpoints our node has, if they are others than before. Of one thread.
  void announce(const std::vector<GUID_t>& readers, const std::vector<GUID_t>& writers);
  static constexpr std::string_view kNoNode = "a node";
  /// "/talker"; kNoNode if it is not known. Thread-safe.
  [[nodiscard]] std::string node_of(const GUID_t& endpoint) const;
  /// Those that are there, ours not among them. Thread-safe.
  [[nodiscard]] std::set<std::string> nodes() const;
  /// Forgets participants that are not among these.
  void keep(const std::function<bool(const Gid& participant)>& is_there);

 private:
  void on_message(const Received& message);

  const std::shared_ptr<Participant> participant_;
  const Settings& settings_;
  Writer writer_;
  Reader reader_;
  std::vector<std::byte> announced_;
  mutable std::mutex mutex_;  // guards what follows
  std::map<Gid, ParticipantEntities> others_;
  std::map<Gid, std::string> names_;  ///< by endpoint
};

}  // namespace hyphos::gateway::ros2
