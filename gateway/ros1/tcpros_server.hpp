#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/facade/graph_facade.hpp"
#include "gateway/facade/loan_budget.hpp"
#include "gateway/facade/protocol.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/ros1/traffic.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway::ros1 {

/// The context that all connections of one gateway share.
struct Context {
  GraphFacade& facade;
  net::Loops& loops;  ///< of the connections
  LoanBudget& loan_budget;
  std::string node;   ///< "/hyphos", the gateway's name in the ROS graph
  std::string group;  ///< group of all clients: their ROS graph
  Options options;
  /// timeout of a service call in each direction
  Duration call_timeout = Duration::from_seconds(60);
};

/// The port at which other nodes subscribe to the gateway's topics and call its services. Each
/// subscriber has its own client subscription, so that it gets latched values and delays no other
/// subscriber.
///
/// Thread-safe. `place` must outlive the server. The loops of `place` must end before the server.
class TcprosServer {
 public:
  /// Errors: as net::Listener::open().
  static Result<std::unique_ptr<TcprosServer>> open(const Context& context);
  TcprosServer(const TcprosServer&) = delete;
  TcprosServer& operator=(const TcprosServer&) = delete;
  ~TcprosServer();

  [[nodiscard]] std::uint16_t port() const;

  /// Call it again when `latched` changes.
  void offer_topic(const std::string& topic, const TypeInfo& type, bool latched);
  void offer_service(const std::string& service, const ServiceTypeInfo& type);
  /// Closes the connections that use it.
  void withdraw_topic(const std::string& topic);
  void withdraw_service(const std::string& service);

  struct Topic {
    TypeInfo type;
    bool latched = false;
  };
  /// The offered topic of this name, or none.
  [[nodiscard]] std::optional<Topic> topic(std::string_view name) const;
  [[nodiscard]] std::vector<ConnectionInfo> connections() const;

  class Shared;

 private:
  explicit TcprosServer(std::shared_ptr<Shared> shared);
  std::shared_ptr<Shared> shared_;
};

}  // namespace hyphos::gateway::ros1
