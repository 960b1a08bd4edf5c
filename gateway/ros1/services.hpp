#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "gateway/ros1/graph_state.hpp"
#include "gateway/ros1/member.hpp"
#include "gateway/ros1/names.hpp"
#include "gateway/ros1/service_proxy.hpp"
#include "gateway/ros1/tcpros_server.hpp"
#include "gateway/types/rules.hpp"

namespace hyphos::gateway::ros1 {

/// ROS services that the graph may call. Belongs to the call thread.
class ServicesIn {
 public:
  ServicesIn(const Context& context, net::Loop& calls, const Member& member, Patterns which);

  void look(const GraphState& state);
  void stop();
  [[nodiscard]] bool has(const std::string& service) const { return served_.contains(service); }

 private:
  struct Service {
    std::string node;  ///< the server
    std::shared_ptr<ServiceProxy> proxy;
    std::unique_ptr<Server> server;  ///< null while its type is unknown, or if it was refused
    bool gone = false;
  };

  void begin(const std::string& service, const std::string& node);
  void probed(const std::string& service, const std::string& node, const Uri& uri,
              const Result<Header>& header);
  void left_out(const std::string& service, const Error& why);
  [[nodiscard]] Service* asking(const std::string& service, const std::string& node);

  const Context& context_;
  net::Loop& calls_;
  const Member& member_;
  const Patterns which_;
  std::map<std::string, Service> served_;
  std::map<std::string, Time> failed_;  ///< time of the next attempt
  LogOnce logged_;
};

/// Services of the graph that ROS nodes may call. Belongs to the call thread.
class ServicesOut {
 public:
  ServicesOut(const Context& context, const Member& member, TcprosServer& server, Patterns which);

  void look(const GraphState& state, const ServicesIn& in);
  void stop();

 private:
  /// Reports each service once.
  void enroll(const std::string& service);
  void end(const std::string& service);

  const Context& context_;
  const Member& member_;
  TcprosServer& server_;
  const Patterns which_;
  std::map<std::string, std::string> offered_;  ///< type by service
  std::set<std::string> registered_;
  std::set<std::string> registering_;
  LogOnce logged_;
};

}  // namespace hyphos::gateway::ros1
