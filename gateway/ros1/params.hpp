#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gateway/facade/parameters.hpp"
#include "gateway/ros1/member.hpp"
#include "gateway/ros1/server_params.hpp"
#include "gateway/ros1/tcpros_server.hpp"
#include "gateway/types/rules.hpp"

namespace hyphos::gateway::ros1 {

/// Shows the parameters of the robot's nodes, and the tree that all nodes share, on the ROS
/// parameter server, and passes changes from ROS to the robot. Belongs to the call thread.
///
/// The node owns its parameters: a name exists on the server while the node exists, and has the
/// node's value. For each name, this class stores the value on which both sides last agreed. If the
/// sides differ, the side that left this value is the one that changed. A change of the node is
/// written to the server. A change of ROS is sent to the node as a request, and is overwritten if
/// the node refuses it. If both changed before either change was seen, the node wins. At most one
/// request per name is in flight. Of the values that ROS sets meanwhile, only the last is sent
/// after the reply. So there is neither an echo nor a storm.
class ParamsOut {
 public:
  ParamsOut(const Context& context, net::Loop& calls, NodeParams& nodes, ServerParams& server,
            Patterns which);

  /// Compares all names.
  void look();
  /// `name` has changed on the server, or a name above or below it.
  void changed(const std::string& name);
  void stop();

  [[nodiscard]] bool has(const std::string& name) const { return joined_.contains(name); }
  /// A name that the server should have. "" if there is none.
  [[nodiscard]] std::string any() const;

 private:
  struct Joined {
    std::string node;  ///< "" for a value of the tree that all nodes share
    std::string param;
    Value value;                  ///< value of the node
    std::optional<Value> agreed;  ///< the last value that both sides had
    bool busy = false;            ///< a request is in flight
    bool here = false;            ///< used in look(): the node still has it
  };

  void gather();
  void add(const std::string& name, const std::string& node, const std::string& param,
           Result<Value> value);
  void withdraw(const std::string& node);
  void settle(const std::string& name, Joined& joined);
  void write(const std::string& name, Joined& joined);
  void verify(const std::string& name, Joined& joined);
  void ask(const std::string& name, Joined& joined);
  void answered(const std::string& name, const Value& asked, const Result<void>& answer);
  void refused(const std::string& name, Joined& joined, const Error& why);

  const Context& context_;
  net::Loop& calls_;
  NodeParams& nodes_;
  ServerParams& server_;
  const Patterns which_;
  std::map<std::string, Joined> joined_;  ///< by ROS name
  LogOnce logged_;
};

/// Shows all other parameters of the server as parameters of the gateway's own node:
/// "/move_base/speed" becomes its `move_base.speed`. A value that the robot sets there is set on
/// the server. Belongs to the call thread.
class ParamsIn {
 public:
  ParamsIn(const Context& context, NodeParams& nodes, ServerParams& server, const ParamsOut& out,
           Patterns which);

  /// Sends the robot's changes to the server.
  void send();
  /// Shows the values of the server.
  void show();

 private:
  struct Shown {
    std::string name;  ///< in ROS
    ParamVariant value;
    bool is_refused = false;  ///< the robot has set a value that ROS cannot hold
  };

  using Reasons = std::map<std::string, std::vector<std::string>>;  // ROS names by reason

  [[nodiscard]] std::map<std::string, Shown> gather(Reasons& left_out) const;
  void report(const Reasons& left_out);

  const Context& context_;
  NodeParams& nodes_;
  ServerParams& server_;
  const ParamsOut& out_;
  const Patterns which_;
  std::map<std::string, Shown> shown_;  ///< by the name in the robot
  LogOnce logged_;
};

/// Both directions, with one common view of the server.
class JoinedParams {
 public:
  /// Changes on the server come in dozens, for example from `rosparam load`. They are shown
  /// together.
  static constexpr Duration kGather = Duration::from_ms(50);

  JoinedParams(const Context& context, net::Loop& calls, const Member& member,
               const Patterns& of_nodes, const Patterns& of_ros);

  /// Call it once per second while the master replies, and lost() when it does not.
  void look();
  void lost() { server_.lost(); }
  void update(const std::string& name, const Value& value);
  /// Deletes the nodes' names from the server, and the shown values from the robot.
  void stop();

 private:
  void robot_changed();
  void server_changed(const std::string& name);
  void show_soon();

  net::Loop& calls_;
  const bool off_;
  bool stopped_ = false;
  std::atomic<bool> come_ = false;  ///< robot_changed() is posted
  std::unique_ptr<NodeParams> nodes_;
  ServerParams server_;
  ParamsOut out_;
  ParamsIn in_;
  net::Timer showing_;
  bool showing_soon_ = false;
};

}  // namespace hyphos::gateway::ros1
