#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gateway/facade/parameters.hpp"
#include "gateway/ros2/context.hpp"
#include "gateway/ros2/param_messages.hpp"
#include "gateway/ros2/services_out.hpp"

namespace hyphos::gateway::ros2 {

/// Offers the robot's parameters in ROS, twice: rate_hz of the node laser is a parameter of the ROS
/// node "/laser", and "laser.rate_hz" of the gateway's node, which also has use_sim_time. Publishes
/// the changes of both on
/// "/parameter_events". ROS tools request the parameters of every node, and wait for a node without
/// these services. One thread opens and ends them. Requests arrive in threads of DDS.
class ParamServices {
 public:
  /// Robot nodes that become ROS nodes. Each costs twelve DDS endpoints.
  static constexpr std::size_t kMaxNodes = 64;

  ParamServices(const Context& context, ServicesOut& services);
  ~ParamServices() { services_.end_own(); }
  ParamServices(const ParamServices&) = delete;
  ParamServices& operator=(const ParamServices&) = delete;

  /// Finds new nodes, opens services that are not yet open, and publishes events. A robot node with
  /// the name of a ROS node in `state` becomes no ROS node.
  void look(const DomainState& state);
  /// Publishes the changes of values.
  void drain() { publish_events(); }
  /// The robot's nodes that are ROS nodes, with their endpoints.
  [[nodiscard]] std::vector<NodeEntities> robot_nodes() const;
  /// The ROS names of the gateway's nodes and of all nodes of the robot.
  [[nodiscard]] std::set<std::string> ros_names() const;
  [[nodiscard]] GUID_t events_writer() const { return events_.guid(); }
  [[nodiscard]] NodeParams& nodes() { return *nodes_; }

 private:
  using Handler = ServicesOut::Handler;
  using Infos = std::map<std::string, std::shared_ptr<const ParamInfo>>;  // by the name in ROS
  /// The node of the robot and its parameter, of a name in ROS.
  using Split = std::pair<std::string, std::string>;

  /// The parameters of a ROS node: of a node of the robot, or with "" all, as the gateway's.
  [[nodiscard]] Infos all(const std::string& robot_node) const;
  [[nodiscard]] Infos all_of(const NodeParams::Sets& sets, const std::string& robot_node) const;
  [[nodiscard]] bool may_offer(const std::string& name, const std::set<std::string>& of_ros) const;
  [[nodiscard]] static Split split(const std::string& robot_node, const std::string& name);
  void set(const std::string& robot_node, const std::vector<ParamWish>& wishes, bool at_once,
           const Answer& answer);
  /// Opens the services of a ROS node for `robot_node` (see all()).
  void serve_all(const std::string& ros_node, const std::string& robot_node);
  void serve(const std::string& service, const std::string& type, Handler handler);
  void follow_nodes(const DomainState& state);
  void publish_events();
  void publish(const ParamEvent& event);

  const Context& context_;
  ServicesOut& services_;
  const std::shared_ptr<const ParamInfo> sim_time_;  ///< of the gateway's node
  std::unique_ptr<NodeParams> nodes_;
  Writer events_;
  bool has_events_ = false;  ///< events_ is open
  std::map<std::string, std::string>
      offered_;                          ///< ROS nodes of the robot's nodes: "/laser" → laser
  std::map<std::string, Infos> before_;  ///< by ROS node: the values of the last look
  FailedOpens refused_;
  bool is_full_ = false;  ///< a node was left out, which is logged once
};

}  // namespace hyphos::gateway::ros2
