#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gateway/facade/actions.hpp"
#include "gateway/ros1/goal_desk.hpp"
#include "gateway/ros1/graph_state.hpp"
#include "gateway/ros1/member.hpp"
#include "gateway/ros1/names.hpp"
#include "gateway/ros1/tcpros_server.hpp"
#include "gateway/ros1/topics.hpp"
#include "gateway/types/rules.hpp"

namespace hyphos::gateway::ros1 {

class ActionProxy;

/// Action servers of ROS (actionlib) that become actions of the robot. Belongs to the call thread.
class ActionsIn {
 public:
  ActionsIn(const Context& context, const TcprosServer& server, Patterns which);

  void look(const GraphState& state, const TopicsIn& topics);
  void stop();
  [[nodiscard]] bool has(const std::string& action) const { return proxies_.contains(action); }

 private:
  struct Offered {
    std::string type;  ///< "count_msgs/Count"
    std::string node;  ///< the server
    bool operator==(const Offered&) const = default;
  };
  [[nodiscard]] std::map<std::string, Offered> offered(const GraphState& state) const;
  void end(const std::string& action);
  void left_out(const std::string& action, const Error& why);
  /// True if the server receives goals and its results are received.
  [[nodiscard]] static bool is_joined(const std::string& action, const Offered& offered,
                                      const std::vector<ConnectionInfo>& from_us,
                                      const std::vector<ConnectionInfo>& to_us);

  const Context& context_;
  const TcprosServer& server_;
  const Patterns which_;
  std::map<std::string, Offered> offers_;
  std::map<std::string, std::shared_ptr<ActionProxy>> proxies_;
  LogOnce logged_;
};

/// Actions of the robot that become action servers of actionlib. Belongs to the call thread.
class ActionsOut {
 public:
  ActionsOut(const Context& context, net::Loop& calls, Patterns which);

  void look(const GraphState& state, const ActionsIn& in);
  void stop();

 private:
  [[nodiscard]] std::map<std::string, std::string> wanted(const GraphState& state,
                                                          const ActionsIn& in);
  /// Reports each action once.
  void tick();

  const Context& context_;
  net::Loop& calls_;
  const Patterns which_;
  std::map<std::string, std::shared_ptr<GoalDesk>> desks_;  ///< by action
  net::Timer timer_;
  LogOnce logged_;
  bool stopped_ = false;
};

}  // namespace hyphos::gateway::ros1
