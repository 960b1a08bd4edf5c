#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gateway/ros2/context.hpp"
#include "gateway/ros2/discovery.hpp"
#include "gateway/ros2/left_out.hpp"
#include "gateway/ros2/service_client.hpp"

namespace hyphos::gateway::ros2 {

/// ROS services that become services of the robot. For use in one thread. Calls arrive on the
/// thread pool, and replies in threads of DDS.
class ServicesIn {
 public:
  explicit ServicesIn(const Context& context);
  ~ServicesIn();
  ServicesIn(const ServicesIn&) = delete;
  ServicesIn& operator=(const ServicesIn&) = delete;

  void look(const DomainState& state);
  [[nodiscard]] bool has(const std::string& service) const { return proxies_.contains(service); }
  [[nodiscard]] std::vector<GUID_t> readers() const;
  [[nodiscard]] std::vector<GUID_t> writers() const;
  /// Adds all its DDS endpoints.
  void add_endpoints(OwnEndpoints& endpoints) const;

 private:
  class Proxy;
  void end(const std::string& service);

  const Context& context_;
  std::map<std::string, std::shared_ptr<Proxy>> proxies_;  ///< by service
  FailedOpens refused_;
};

}  // namespace hyphos::gateway::ros2
