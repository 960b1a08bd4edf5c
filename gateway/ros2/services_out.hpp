#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gateway/ros2/context.hpp"
#include "gateway/ros2/discovery.hpp"
#include "gateway/ros2/left_out.hpp"
#include "gateway/ros2/services_in.hpp"

namespace hyphos::gateway::ros2 {

/// Services of the robot that become ROS services. For use in one thread. Requests arrive in
/// threads of DDS, replies on the thread pool.
class ServicesOut {
 public:
  explicit ServicesOut(const Context& context);
  ~ServicesOut();
  ServicesOut(const ServicesOut&) = delete;
  ServicesOut& operator=(const ServicesOut&) = delete;

  /// Replies to a request, now or later, in any thread.
  using Handler = std::function<void(std::span<const std::byte> request, const Answer& answer)>;
  /// The client of a request.
  struct Caller {
    Client client;
    GUID_t guid;  ///< the writer of its requests
  };
  using CallerHandler = std::function<void(const Caller& caller, std::span<const std::byte> request,
                                           const Answer& answer)>;
  /// Adds a service of the gateway's own node, until withdraw() or the end of this object. Errors:
  /// io, type_mismatch.
  Result<void> serve(const std::string& service, const std::string& type, Handler handler);
  Result<void> serve(const std::string& service, const std::string& type, CallerHandler handler);
  /// Ends a service that serve() added. When it returns, its handler is not running.
  void withdraw(const std::string& service);
  [[nodiscard]] bool serves(const std::string& service) const { return own_.contains(service); }
  /// Adds the endpoints of a service of serve() to a node.
  void add_endpoints(const std::string& service, NodeEntities& node) const;
  /// When it returns, no handler is running.
  void end_own();

  /// `in` has the services that come from ROS.
  void look(const std::vector<ServiceInfo>& services, const ServicesIn& in);
  [[nodiscard]] std::vector<GUID_t> readers() const;
  [[nodiscard]] std::vector<GUID_t> writers() const;
  /// Adds all its DDS endpoints.
  void add_endpoints(OwnEndpoints& endpoints) const;

 private:
  class Desk;

  const Context& context_;
  std::map<std::string, std::shared_ptr<Desk>> desks_;  ///< by service
  std::map<std::string, std::shared_ptr<Desk>> own_;    ///< added by serve()
  FailedOpens refused_;
};

}  // namespace hyphos::gateway::ros2
