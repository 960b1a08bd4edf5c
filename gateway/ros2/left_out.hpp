#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gateway/ros2/discovery.hpp"
#include "gateway/ros2/endpoint.hpp"
#include "gateway/ros2/place.hpp"

namespace hyphos::gateway::ros2 {

/// An endpoint of ours, as DDS knows it.
struct OwnEndpoint {
  std::string topic;  ///< "rt/chatter"
  std::string type;   ///< "std_msgs::msg::dds_::String_"
  Qos qos;
};

struct OwnEndpoints {
  std::vector<OwnEndpoint> writers;
  std::vector<OwnEndpoint> readers;
};

/// Reports what does not pass between ROS and the robot, once each: by name, with both sides. Of
/// one thread.
class LeftOut {
 public:
  explicit LeftOut(const Place& place) : place_(place) {}

  struct Now {
    const DomainState& domain;
    const std::vector<TopicInfo>& channels;
    const std::vector<ServiceInfo>& services;
    std::vector<ActionInfo> actions;
    OwnEndpoints own;
  };
  void look(const Now& now);

 private:
  void look_at_channels(const Now& now);
  void look_at_services(const Now& now);
  void look_at_actions(const Now& now);
  void look_at_readers(const Now& now);
  void look_at_writers(const Now& now);
  /// `key`: what it is about; reported again only after it was gone.
  void report(const std::string& key, const std::string& name, std::string_view why,
              const std::string& detail);

  const Place& place_;
  /// The node of an endpoint; none as long as it may still become known.
  std::optional<std::string> node_of(const std::string& key, const GUID_t& endpoint);

  std::set<std::string> known_;           ///< keys of the last look
  std::set<std::string> seen_;            ///< of this one
  std::map<std::string, Time> nameless_;  ///< since when an endpoint has been without a node
};

}  // namespace hyphos::gateway::ros2
