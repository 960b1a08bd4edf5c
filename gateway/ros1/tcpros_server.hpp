#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gateway/facade/graph_facade.hpp"
#include "gateway/facade/loan_budget.hpp"
#include "gateway/facade/protocol.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/ros1/traffic.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway::ros1 {

/// What all connections of one gateway have in common.
struct Context {
  GraphFacade& facade;
  net::Loops& loops;  ///< of the connections
  LoanBudget& loan_budget;
  std::string node;   ///< "/hyphos", our name in the graph of ROS
  std::string group;  ///< of the clients: the graph of ROS they are all in
  Options options;
  Duration call_timeout = Duration::from_seconds(60);  ///< of a service, each way
};

/// The port at which other nodes fetch what we publish and call what we serve. Each subscriber has
/// an outlet of its own, so that it gets latched values and slows nobody.
///
/// Thread-safe. The loops of `place`, which outlives the server, have to end before it.
class TcprosServer {
 public:
  /// Errors: as net::Listener::open().
  static Result<std::unique_ptr<TcprosServer>> open(const Context& context);
  TcprosServer(const TcprosServer&) = delete;
  TcprosServer& operator=(const TcprosServer&) = delete;
  ~TcprosServer();

  [[nodiscard]] std::uint16_t port() const;

  /// Again, if it is `latched` now or not any more.
  void offer_topic(const std::string& topic, const TypeInfo& type, bool latched);
  void offer_service(const std::string& service, const ServiceTypeInfo& type);
  /// Closes the connections of those that have it.
  void withdraw_topic(const std::string& topic);
  void withdraw_service(const std::string& service);

  [[nodiscard]] bool offers_topic(const std::string& topic) const;
  [[nodiscard]] std::vector<ConnectionInfo> connections() const;

  class Shared;

 private:
  explicit TcprosServer(std::shared_ptr<Shared> shared);
  std::shared_ptr<Shared> shared_;
};

}  // namespace hyphos::gateway::ros1
