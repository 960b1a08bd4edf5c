#pragma once

#include <functional>
#include <memory>
#include <string>

#include "gateway/ros1/actions.hpp"
#include "gateway/ros1/member.hpp"
#include "gateway/ros1/params.hpp"
#include "gateway/ros1/services.hpp"
#include "gateway/ros1/settings.hpp"
#include "gateway/ros1/tcpros_server.hpp"
#include "gateway/ros1/topics.hpp"
#include "gateway/ros1/udpros_server.hpp"

namespace hyphos::gateway::ros1 {

/// Compares both graphs once per second and connects them. Belongs to the call thread. Its methods
/// are the calls that every ROS node answers.
class Graph {
 public:
  static constexpr Duration kPeriod = Duration::from_seconds(1);

  Graph(const Context& context, net::Loop& calls, const Member& member, TcprosServer& server,
        const Settings& settings);

  void start();
  /// Unregisters from the master, if it replies. `done` is called afterwards. No new work starts
  /// after that.
  void stop(std::function<void()> done);
  /// Answers a call of another node. A call that names an unknown host is answered later.
  void answer(const RpcCall& call, const net::Address& from, RpcReply reply);

 private:
  void add_questions();
  void add_requests();
  [[nodiscard]] Value request_topic(const Methods::Params& params, const Origin& origin);
  [[nodiscard]] std::vector<ConnectionInfo> outbound() const;
  [[nodiscard]] Value bus_info() const;
  [[nodiscard]] Value bus_stats() const;

  void look();
  void looked(Result<GraphState> state);
  void share_time();

  const Context& context_;
  net::Loop& calls_;
  const Member& member_;
  TcprosServer& server_;
  UdprosServer udpros_;
  TopicsIn topics_in_;
  TopicsOut topics_out_;
  ServicesIn services_in_;
  ServicesOut services_out_;
  ActionsIn actions_in_;
  ActionsOut actions_out_;
  JoinedParams params_;
  Methods methods_;
  net::Timer timer_;
  bool stopped_ = false;
  bool alone_ = false;  ///< the master does not reply
  bool has_shared_time_ = false;
};

}  // namespace hyphos::gateway::ros1
