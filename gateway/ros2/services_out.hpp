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

/// Services of the robot that become services of ROS. For use in one thread. Requests arrive in
/// threads of DDS, replies on the pool.
class ServicesOut {
 public:
  explicit ServicesOut(const Context& context);
  ~ServicesOut();
  ServicesOut(const ServicesOut&) = delete;
  ServicesOut& operator=(const ServicesOut&) = delete;

  /// Answers a request, now or later, in any thread.
  using Handler = std::function<void(std::span<const std::byte> request, const Answer& answer)>;
  /// A service of the gateway's own node, as long as this lives. Errors: io, type_mismatch.
  Result<void> serve(const std::string& service, const std::string& type, Handler handler);
  [[nodiscard]] bool serves(const std::string& service) const { return own_.contains(service); }
  /// On return no handler runs.
  void end_own();

  /// `in`: those that are of ROS itself.
  void look(const std::vector<ServiceInfo>& services, const ServicesIn& in);
  [[nodiscard]] std::vector<GUID_t> readers() const;
  [[nodiscard]] std::vector<GUID_t> writers() const;
  /// Adds all its DDS endpoints.
  void add_endpoints(OwnEndpoints& endpoints) const;

 private:
  class Desk;

  const Context& context_;
  std::map<std::string, std::shared_ptr<Desk>> desks_;  ///< by service
  std::map<std::string, std::shared_ptr<Desk>> own_;    ///< of serve()
  FailedOpens refused_;
};

}  // namespace hyphos::gateway::ros2
