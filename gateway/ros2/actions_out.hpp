#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gateway/facade/actions.hpp"
#include "gateway/ros2/actions_in.hpp"
#include "gateway/ros2/context.hpp"
#include "gateway/ros2/discovery.hpp"
#include "gateway/ros2/left_out.hpp"
#include "gateway/ros2/services_out.hpp"

namespace hyphos::gateway::ros2 {

/// Actions of the robot that become ROS actions. For use in one thread. Requests arrive in threads
/// of DDS, feedback and results on the thread pool. A goal whose client has left the DDS domain is
/// canceled, as for every client of the robot.
class ActionsOut {
 public:
  /// Both must outlive this object.
  ActionsOut(const Context& context, ServicesOut& services);
  ~ActionsOut();
  ActionsOut(const ActionsOut&) = delete;
  ActionsOut& operator=(const ActionsOut&) = delete;

  /// `in` has the actions that come from ROS.
  void look(const std::vector<ActionInfo>& actions, const ActionsIn& in, const DomainState& state);
  /// Replies to goals that the robot has accepted meanwhile. Returns true if goals still wait.
  bool drain();
  [[nodiscard]] std::vector<GUID_t> writers() const;
  /// Adds its DDS endpoints, except for those of the services.
  void add_endpoints(OwnEndpoints& endpoints) const;

 private:
  class Desk;

  const Context& context_;
  ServicesOut& services_;
  std::map<std::string, std::shared_ptr<Desk>> desks_;  ///< by action
  FailedOpens refused_;
};

}  // namespace hyphos::gateway::ros2
