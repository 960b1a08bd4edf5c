#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "gateway/facade/graph_facade.hpp"
#include "gateway/ros2/names.hpp"
#include "gateway/ros2/participant.hpp"
#include "gateway/ros2/settings.hpp"
#include "hyphos/time.hpp"

namespace hyphos::gateway::ros2 {

class Discovery;
class NodeGraph;

/// What every part of the gateway stands on. Outlives them.
struct Context {
  GraphFacade& facade;
  const Settings& settings;
  std::shared_ptr<Participant> participant;
  const NodeGraph* nodes;
  const Discovery* discovery;
  /// Something is different: look again soon. Does not block.
  std::function<void()> wake;
  /// Messages wait for room: see whether there is some from time to time. Does not block.
  std::function<void()> drain;
};

/// What comes of a topic or service of ROS is its client. All are one group: programs of ROS hear
/// each other without us.
[[nodiscard]] inline Client client_of(const std::string& name) {
  return {.name = "ros2 " + name, .group = "ros2"};
}
[[nodiscard]] inline bool is_client(const std::string& name) { return name.starts_with("ros2 "); }

/// What could not be opened, so that it is told once and tried again from time to time. Of one
/// thread.
class FailedOpens {
 public:
  /// False for a while after it has failed.
  [[nodiscard]] bool may_try(const std::string& what) const {
    const auto found = next_.find(what);
    return found == next_.end() || found->second <= monotonic_now();
  }
  /// True the first time.
  bool failed(const std::string& what) {
    return next_.insert_or_assign(what, monotonic_now() + Duration::from_seconds(5)).second;
  }
  void forget(const std::string& what) { next_.erase(what); }

 private:
  std::map<std::string, Time> next_;
};

/// Tells its RIHS01 hash, which others compare; empty if the types have none.
[[nodiscard]] inline std::string user_data_of_type(const GraphFacade& facade,
                                                   const std::string& type) {
  const auto known = facade.type(type);
  return known && !known->type_hash.empty() ? put_user_data("typehash", known->type_hash)
                                            : std::string();
}

[[nodiscard]] inline std::string user_data_of_service(const GraphFacade& facade,
                                                      const std::string& type) {
  const auto known = facade.service_type(type);
  return known && !known->type_hash.empty() ? put_user_data("typehash", known->type_hash)
                                            : std::string();
}

}  // namespace hyphos::gateway::ros2
