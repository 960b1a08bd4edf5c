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

/// The context that all parts of the gateway share. It outlives them.
struct Context {
  GraphFacade& facade;
  const Settings& settings;
  std::shared_ptr<Participant> participant;
  const NodeGraph* nodes;
  const Discovery* discovery;
  /// Requests a new look soon, because the state has changed. Does not block.
  std::function<void()> wake;
  /// Requests regular attempts to publish waiting messages. Does not block.
  std::function<void()> drain;
};

/// The client of a topic or service that comes from ROS. All are in one group, because ROS programs
/// receive each other's messages directly.
[[nodiscard]] inline Client client_of(const std::string& name) {
  return {.name = "ros2 " + name, .group = "ros2"};
}
[[nodiscard]] inline bool is_client(const std::string& name) { return name.starts_with("ros2 "); }

/// Items that could not be opened. Each is logged once, and tried again from time to time. For use
/// in one thread.
class FailedOpens {
 public:
  /// Returns false for a while after a failure.
  [[nodiscard]] bool may_try(const std::string& what) const {
    const auto found = next_.find(what);
    return found == next_.end() || found->second <= monotonic_now();
  }
  /// Returns true on the first failure.
  bool failed(const std::string& what) {
    return next_.insert_or_assign(what, monotonic_now() + Duration::from_seconds(5)).second;
  }
  void forget(const std::string& what) { next_.erase(what); }

 private:
  std::map<std::string, Time> next_;
};

/// Formats the RIHS01 hash of a type, which other participants compare. Empty if the type has none.
[[nodiscard]] inline std::string user_data_of_type(const TypeLookup& types,
                                                   const std::string& type) {
  const auto known = types.message(type);
  return known && !known->type_hash.empty() ? put_user_data("typehash", known->type_hash)
                                            : std::string();
}

[[nodiscard]] inline std::string user_data_of_service(const TypeLookup& types,
                                                      const std::string& type) {
  const auto known = types.service(type);
  return known && !known->type_hash.empty() ? put_user_data("typehash", known->type_hash)
                                            : std::string();
}

}  // namespace hyphos::gateway::ros2
