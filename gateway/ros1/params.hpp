#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gateway/facade/node_params.hpp"
#include "gateway/ros1/member.hpp"
#include "gateway/ros1/server_params.hpp"
#include "gateway/ros1/tcpros_server.hpp"
#include "gateway/types/rules.hpp"

namespace hyphos::gateway::ros1 {

/// Parameters of the robot's nodes on the server of ROS, and what ROS makes of them. Of the calls'
/// thread.
///
/// A name of a node is the node's: it stands on the server as long as the node is there, and has
/// the value that the node has. For each name we know what both sides last agreed on. Where they
/// differ, the side that has left that is the one that changed: the node's change is written, that
/// of ROS is asked of the node, and written over if the node refuses it. If both have changed
/// before either was seen, the node's holds. One question is under way for a name; what ROS sets
/// meanwhile is asked when it has been answered, the last of it alone. So there is no echo and no
/// storm.
class ParamsOut {
 public:
  ParamsOut(const Context& context, net::Loop& calls, NodeParams& nodes, ServerParams& server,
            Patterns which);

  /// Compares all names.
  void look();
  /// `name` has changed on the server, or what is above or below it.
  void changed(const std::string& name);
  void stop();

  [[nodiscard]] bool has(const std::string& name) const { return joined_.contains(name); }
  /// One that the server should have; "": none.
  [[nodiscard]] std::string any() const;

 private:
  struct Joined {
    std::string node;
    std::string param;
    Value value;                  ///< what the node has
    std::optional<Value> agreed;  ///< what both had when they were last the same
    bool busy = false;            ///< a question is under way
    bool here = false;            ///< in look(): the node has it still
  };

  void gather();
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
  std::map<std::string, Joined> joined_;  ///< by the name in ROS
  LogOnce logged_;
};

/// All other parameters of the server, as those of the gateway's own node: "/move_base/speed" is
/// its `move_base.speed`. What the robot sets there is set on the server. Of the calls' thread.
class ParamsIn {
 public:
  ParamsIn(NodeParams& nodes, ServerParams& server, const ParamsOut& out, Patterns which);

  /// Takes to the server what the robot has set.
  void send();
  /// Shows what the server has.
  void show();

 private:
  struct Shown {
    std::string name;  ///< in ROS
    ParamVariant value;
    bool is_refused = false;  ///< the robot has set what ROS cannot hold
  };

  using Reasons = std::map<std::string, std::vector<std::string>>;  // names in ROS, by why

  [[nodiscard]] std::map<std::string, Shown> gather(Reasons& left_out) const;
  void report(const Reasons& left_out);

  NodeParams& nodes_;
  ServerParams& server_;
  const ParamsOut& out_;
  const Patterns which_;
  std::map<std::string, Shown> shown_;  ///< by the name in the robot
  LogOnce logged_;
};

/// Both directions, over one view of the server.
class JoinedParams {
 public:
  /// Changes of the server come in dozens, as from `rosparam load`: they are shown together.
  static constexpr Duration kGather = Duration::from_ms(50);

  JoinedParams(const Context& context, net::Loop& calls, const Member& member,
               const Patterns& of_nodes, const Patterns& of_ros);

  /// Once a second: the master answers, or not.
  void look();
  void lost() { server_.lost(); }
  void update(const std::string& name, const Value& value);
  /// Takes the names of nodes off the server, and what is shown out of the robot.
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
