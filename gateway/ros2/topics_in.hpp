#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gateway/ros2/context.hpp"
#include "gateway/ros2/discovery.hpp"
#include "gateway/ros2/endpoint.hpp"
#include "gateway/ros2/left_out.hpp"

namespace hyphos::gateway::ros2 {

/// A topic that others publish, with the QoS that all its writers offer.
struct Offer {
  std::string type;  ///< "std_msgs/msg/String"
  Qos qos{.transient_local = true};
  std::set<GUID_t> writers;
};

/// ROS topics with writers, by name. If the writers of a topic have several types, the most
/// frequent one counts.
[[nodiscard]] std::map<std::string, Offer> offers_of(const Remotes& writers);

/// ROS topics that become channels: topics with writers outside the gateway. For use in one thread,
/// except that messages arrive in threads of DDS.
class TopicsIn {
 public:
  explicit TopicsIn(const Context& context);
  ~TopicsIn();
  TopicsIn(const TopicsIn&) = delete;
  TopicsIn& operator=(const TopicsIn&) = delete;

  /// Opens new topics, ends topics that are gone, and requests new QoS where the writers changed
  /// theirs.
  void look(const DomainState& state);
  /// Publishes messages that wait for room in their channels. Returns true while messages wait.
  /// Call it after Context::drain() was called.
  bool drain();
  [[nodiscard]] std::vector<GUID_t> readers() const;
  void add_endpoints(OwnEndpoints& endpoints) const;

 private:
  class Inbound;

  const Context& context_;
  std::map<std::string, std::unique_ptr<Inbound>> inbound_;  ///< by topic
  FailedOpens refused_;
};

}  // namespace hyphos::gateway::ros2
