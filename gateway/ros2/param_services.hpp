#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gateway/facade/parameters.hpp"
#include "gateway/ros2/context.hpp"
#include "gateway/ros2/param_messages.hpp"
#include "gateway/ros2/services_out.hpp"

namespace hyphos::gateway::ros2 {

/// Offers the robot's parameters as parameters of the gateway's node in ROS: "laser.rate_hz" is
/// rate_hz of the node laser. ROS tools request the parameters of every node, and wait for a node
/// without these services. One thread opens and ends them. Requests arrive in threads of DDS.
class ParamServices {
 public:
  ParamServices(const Context& context, ServicesOut& services);
  ~ParamServices() { services_.end_own(); }
  ParamServices(const ParamServices&) = delete;
  ParamServices& operator=(const ParamServices&) = delete;

  /// Finds new nodes, and opens services that are not yet open.
  void look();

 private:
  using Handler = ServicesOut::Handler;

  /// The node and the parameter of "laser.rate_hz". Empty for names of another form.
  [[nodiscard]] static std::pair<std::string, std::string> split(const std::string& name);
  /// By their names in ROS.
  [[nodiscard]] std::map<std::string, std::shared_ptr<const ParamInfo>> all() const;
  void set(const std::vector<ParamWish>& wishes, bool at_once, const Answer& answer);
  void serve(const std::string& name, const std::string& type, Handler handler);

  const Context& context_;
  ServicesOut& services_;
  std::unique_ptr<NodeParams> nodes_;
  FailedOpens refused_;
};

}  // namespace hyphos::gateway::ros2
