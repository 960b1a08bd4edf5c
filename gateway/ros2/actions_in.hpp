#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gateway/ros2/context.hpp"
#include "gateway/ros2/discovery.hpp"
#include "gateway/ros2/left_out.hpp"
#include "gateway/ros2/service_client.hpp"

namespace hyphos::gateway::ros2 {

/// An action that another participant offers.
struct OfferedAction {
  std::string type;  ///< "nav2_msgs/action/NavigateToPose"
  // The three services of its server.
  Offered send_goal;
  Offered get_result;
  Offered cancel_goal;
};

/// The actions for which all three services exist, by name.
[[nodiscard]] std::map<std::string, OfferedAction> offered_actions(const DomainState& state);

/// ROS actions that become actions of the robot. For use in one thread. Goals arrive on the thread
/// pool, feedback and results in threads of DDS. If the server in ROS disappears, its goals end
/// with an error. A goal whose client is gone is canceled in ROS.
class ActionsIn {
 public:
  explicit ActionsIn(const Context& context);
  ~ActionsIn();
  ActionsIn(const ActionsIn&) = delete;
  ActionsIn& operator=(const ActionsIn&) = delete;

  void look(const DomainState& state);
  [[nodiscard]] bool has(const std::string& action) const { return proxies_.contains(action); }
  [[nodiscard]] std::vector<GUID_t> readers() const;
  [[nodiscard]] std::vector<GUID_t> writers() const;
  /// Adds all its DDS endpoints.
  void add_endpoints(OwnEndpoints& endpoints) const;

 private:
  class Proxy;
  void end(const std::string& action);

  const Context& context_;
  std::map<std::string, std::shared_ptr<Proxy>> proxies_;  ///< by action
  FailedOpens refused_;
};

}  // namespace hyphos::gateway::ros2
