#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gateway/ros2/context.hpp"
#include "gateway/ros2/endpoint.hpp"
#include "gateway/ros2/left_out.hpp"

namespace hyphos::gateway::ros2 {

/// Channels that become ROS topics: channels with publishers outside ROS. For use in one thread.
/// Messages are sent in the threads that deliver them.
class TopicsOut {
 public:
  explicit TopicsOut(const Context& context);
  ~TopicsOut();
  TopicsOut(const TopicsOut&) = delete;
  TopicsOut& operator=(const TopicsOut&) = delete;

  void look(const std::vector<TopicInfo>& topics);
  [[nodiscard]] std::vector<GUID_t> writers() const;
  void add_endpoints(OwnEndpoints& endpoints) const;

 private:
  class Outbound;

  const Context& context_;
  std::map<std::string, std::unique_ptr<Outbound>> outbound_;  ///< by topic
  FailedOpens refused_;
};

}  // namespace hyphos::gateway::ros2
