#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gateway/ros1/graph_state.hpp"
#include "gateway/ros1/methods.hpp"
#include "gateway/ros1/tcpros_server.hpp"
#include "gateway/ros1/traffic.hpp"
#include "gateway/ros1/value.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway::ros1 {

class UdpSubscriber;

/// Sends topics as datagrams to subscribers that ask for UDPROS, as roscpp does with
/// TransportHints().udp(). The gateway itself subscribes with TCPROS, which every publisher offers.
///
/// The gateway sends datagrams only to the machine that asks for them. Otherwise anyone who reaches
/// its port could direct the topics of the robot at a third machine.
///
/// A datagram may be lost, and its message with it. The subscriber has no connection whose end the
/// gateway could see. So the gateway drops a subscriber that is no longer registered at the master,
/// or whose port is closed.
///
/// Belongs to the call thread. Messages are sent in the threads of the graph, which never wait.
class UdprosServer {
 public:
  /// `context` and its loops must outlive the server.
  explicit UdprosServer(const Context& context) : context_(context) {}
  UdprosServer(const UdprosServer&) = delete;
  UdprosServer& operator=(const UdprosServer&) = delete;
  ~UdprosServer() { stop(); }

  struct Caller {
    std::string node;
    Origin origin;
  };
  /// The host name in a request for datagrams of a topic that `server` offers. Empty for other
  /// calls, and for a request with the number of an address. The caller of add() looks it up.
  [[nodiscard]] static std::string name_to_look_up(const RpcCall& call, const TcprosServer& server);
  /// Adds a subscriber, or replaces it. `asked` is ["UDPROS", header, host, port, largest
  /// datagram]. Returns the reply of requestTopic, with `host` as address of the gateway. Errors:
  /// corrupt, type_mismatch, overloaded, unsupported (/rosout), not_found (the host name),
  /// permission (a host other than the caller's).
  Result<Value::Array> add(const Caller& caller, const std::string& topic,
                           const TcprosServer::Topic& offered, const Value::Array& asked,
                           const std::string& host);
  /// Drops the subscribers that have left the ROS graph, and those of topics that `server` no
  /// longer offers.
  void look(const GraphState& state, const TcprosServer& server);
  void stop();
  [[nodiscard]] std::vector<ConnectionInfo> connections() const;

 private:
  struct Entry {
    std::shared_ptr<UdpSubscriber> subscriber;
    /// The state of the master may be older than the subscriber.
    bool is_new = true;
  };
  const Context& context_;
  std::map<std::pair<std::string, std::string>, Entry> subscribers_;  ///< by topic and node
  std::int32_t last_id_ = 0;
};

}  // namespace hyphos::gateway::ros1
