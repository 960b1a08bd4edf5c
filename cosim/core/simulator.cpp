#include "cosim/core/simulator.hpp"

#include <string>

namespace hyphos::cosim {

Result<std::vector<std::byte>> Simulator::save() const {
  return Error{Code::unsupported, "this simulator cannot save its state", ""};
}

Result<void> Simulator::restore(std::span<const std::byte>) {
  return Error{Code::unsupported, "this simulator cannot restore a state", ""};
}

Result<std::string> Physics::steer(NodeId robot, const Motion&) {
  return Error{Code::unsupported,
               "robot " + std::to_string(robot) +
                   " received a motion command, but this physics simulator cannot be steered: "
                   "use kinematic or MuJoCo physics",
               ""};
}

Result<std::vector<double>> Physics::cast(NodeId robot, const Rays&) {
  return Error{Code::unsupported,
               "robot " + std::to_string(robot) +
                   " has a lidar, but this physics simulator casts no rays: use MuJoCo",
               ""};
}

Result<Vec3> Physics::felt(NodeId robot) {
  return Error{Code::unsupported,
               "robot " + std::to_string(robot) +
                   " has an IMU, but this physics simulator reports no forces: use MuJoCo",
               ""};
}

Result<Picture> Physics::look(NodeId robot, const View&) {
  return Error{Code::unsupported,
               "robot " + std::to_string(robot) +
                   " has a camera, but this physics simulator draws no pictures: use MuJoCo",
               ""};
}

}  // namespace hyphos::cosim
