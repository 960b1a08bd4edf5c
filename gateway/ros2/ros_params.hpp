#pragma once

#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "gateway/facade/parameters.hpp"
#include "gateway/ros2/context.hpp"
#include "gateway/ros2/param_messages.hpp"
#include "gateway/ros2/service_client.hpp"

namespace hyphos::gateway::ros2 {

/// Shows the parameters of ROS nodes as parameters of the gateway's own node: rate_hz of "/talker"
/// is "talker.rate_hz" there. A value that the robot sets there is set at the ROS node, whose reply
/// decides. Changes come from "/parameter_events". All parameters are also requested when an end of
/// that topic appears or ends, and every 30 seconds, so that a missed event does not persist.
///
/// One thread looks and drains. Replies and events arrive in threads of DDS, which only store them
/// and request a drain().
class RosParams {
 public:
  static constexpr std::size_t kMaxNodes = 64;
  static constexpr std::size_t kMaxParams = 1000;  ///< of one ROS node
  /// Events that wait, and their bytes. Beyond them, all nodes are asked again.
  static constexpr std::size_t kMaxEvents = 10'000;
  static constexpr std::size_t kMaxEventBytes = std::size_t{16} << 20;
  static constexpr Duration kRefresh = Duration::from_seconds(30);

  /// `nodes` must outlive this object.
  RosParams(const Context& context, NodeParams& nodes);
  ~RosParams();
  RosParams(const RosParams&) = delete;
  RosParams& operator=(const RosParams&) = delete;

  /// `ours` are ROS names of the robot's nodes, which are not shown.
  void look(const DomainState& state, const std::set<std::string>& ours);
  /// Takes the replies and events that have arrived, and passes values in both directions.
  void drain();
  [[nodiscard]] std::vector<GUID_t> readers() const;
  [[nodiscard]] std::vector<GUID_t> writers() const;
  void add_endpoints(OwnEndpoints& endpoints) const;

 private:
  /// The services of a ROS node, in the order of kKinds.
  enum Kind : std::uint8_t { list, get, describe, set };
  static constexpr std::size_t kKinds = 4;
  using Clients = std::array<std::shared_ptr<ServiceClient>, kKinds>;

  struct Node {
    Clients clients;
    std::uint64_t number = 0;     ///< of another node with this name after a restart
    bool asks = false;            ///< a request is in flight
    bool again = false;           ///< events were missed meanwhile
    std::set<std::string> newer;  ///< parameters that events have changed meanwhile
    Time asked = {};              ///< the last complete request. 0: none
    std::vector<std::string> names;
    std::map<std::string, ParamVariant> values;
    std::map<std::string, std::string> about;
  };
  /// A reply or the failure of a request.
  struct Arrived {
    std::string node;
    std::uint64_t number = 0;  ///< Node::number
    Kind kind = list;
    std::string param;  ///< of set
    Result<Buffer> reply;
  };
  /// What arrived since the last look. Callbacks share it, so they may outlive this object.
  struct Inbox {
    Mutex mutex;
    std::vector<Arrived> replies HYPHOS_GUARDED_BY(mutex);
    std::vector<ParamEvent> events HYPHOS_GUARDED_BY(mutex);
    std::size_t event_bytes HYPHOS_GUARDED_BY(mutex) = 0;
    /// Events were lost: more than may wait, or events of a node before its writer had matched.
    bool missed HYPHOS_GUARDED_BY(mutex) = false;
  };
  /// A parameter as the robot sees it.
  struct Shown {
    std::string node;
    std::string param;
    ParamVariant value;
    bool is_refused = false;  ///< the ROS node has refused the robot's value
    bool is_busy = false;     ///< a value of the robot is in flight
  };

  void open_events();
  void follow_nodes(const DomainState& state, const std::set<std::string>& ours);
  void take_events();
  void take_replies();
  void take(const Arrived& arrived);
  void take_outcome(const Arrived& arrived, Node& node);
  void take_values(const Arrived& arrived, Node& node);
  void failed(const std::string& name, Node& node, const std::string& why);
  void ask(const std::string& name, Node& node, Kind kind, std::span<const std::byte> request,
           const std::string& param = {});
  void send();
  void show();
  void end(Node& node);
  void note(const std::string& name, const Error& error);
  /// Notes one line per reason, for any number of parameters.
  void note_left_out(const std::map<std::string, std::vector<std::string>>& params_by_reason);

  const Context& context_;
  NodeParams& nodes_;
  const std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
  std::map<std::string, Node> ros_;     ///< by name: "/talker"
  std::uint64_t last_number_ = 0;       ///< Node::number of the newest node
  std::map<std::string, Shown> shown_;  ///< by the name in the robot
  bool changed_ = false;                ///< a value differs from shown_
  bool has_events_ = false;
  bool is_full_ = false;
  std::set<std::string> noted_;  ///< reasons that were logged
  FailedOpens refused_;
  Reader events_;  ///< declared last, because its callback uses the members above
};

}  // namespace hyphos::gateway::ros2
