#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "gateway/ros2/context.hpp"
#include "gateway/ros2/discovery.hpp"
#include "gateway/ros2/endpoint.hpp"

namespace hyphos::gateway::ros2 {

/// An endpoint of the gateway, as DDS knows it.
struct OwnEndpoint {
  std::string topic;  ///< "rt/chatter"
  std::string type;   ///< "std_msgs::msg::dds_::String_"
  Qos qos;
};

struct OwnEndpoints {
  std::vector<OwnEndpoint> writers;
  std::vector<OwnEndpoint> readers;
};

/// Reports each topic, channel, service and action that does not pass between ROS and the robot.
/// Each is reported once, with its name and both sides. For use in one thread.
class LeftOut {
 public:
  explicit LeftOut(const Context& context) : context_(context) {}

  struct Now {
    const DomainState& domain;
    const std::vector<TopicInfo>& channels;
    const std::vector<ServiceInfo>& services;
    std::vector<ActionInfo> actions;
    OwnEndpoints own;
  };
  void look(const Now& now);
  /// Makes the reports that still wait for the name of a node.
  void finish();

 private:
  void look_at_channels(const Now& now);
  /// Services or actions of the robot: `kind` is "service" or "action".
  void look_at_calls(const std::string& kind, const std::vector<ServiceInfo>& calls,
                     const Patterns& which);
  void look_at_readers(const Now& now);
  void look_at_writers(const Now& now);
  /// `key` identifies the subject. It is reported again only after it disappeared in between.
  void report(const std::string& key, const std::string& name, std::string_view why,
              const std::string& detail);

  const Context& context_;
  /// The same for an endpoint, once its node is known or the wait for its name is over. `text`
  /// follows the node's name.
  void report_endpoint(const std::string& key, const GUID_t& endpoint, const std::string& name,
                       std::string_view why, const std::string& text);

  std::set<std::string> known_;  ///< keys of the previous look
  std::set<std::string> seen_;   ///< keys of the present look
  struct Waiting {
    Time since;
    std::string name;
    std::string why;
    std::string text;
  };
  std::map<std::string, Waiting> nameless_;  ///< reports that wait for the name of a node
};

}  // namespace hyphos::gateway::ros2
