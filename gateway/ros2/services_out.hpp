#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gateway/ros2/discovery.hpp"
#include "gateway/ros2/place.hpp"
#include "gateway/ros2/services_in.hpp"

namespace hyphos::gateway::ros2 {

/// Services of the robot that become services of ROS. Of one thread; requests come in threads of
/// DDS, and answers on the pool.
class ServicesOut {
 public:
  explicit ServicesOut(const Place& place);
  ~ServicesOut();
  ServicesOut(const ServicesOut&) = delete;
  ServicesOut& operator=(const ServicesOut&) = delete;

  /// `in`: those that are of ROS itself.
  void look(const std::vector<ServiceInfo>& services, const ServicesIn& in);
  [[nodiscard]] std::vector<GUID_t> readers() const;
  [[nodiscard]] std::vector<GUID_t> writers() const;

 private:
  class Desk;

  const Place& place_;
  std::map<std::string, std::shared_ptr<Desk>> desks_;  ///< by service
  Refused refused_;
};

}  // namespace hyphos::gateway::ros2
