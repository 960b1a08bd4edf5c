#include "gateway/registry.hpp"

#include <vector>

#include "gateway/optional_protocols.hpp"
#include "gateway/ros1/ros1.hpp"
#include "gateway/ros_tcp/ros_tcp.hpp"
#include "gateway/rosbridge/rosbridge.hpp"

namespace hyphos::gateway {

namespace {

// A protocol is a folder and one line here. A protocol whose library may be absent has its line in
// gateway/CMakeLists.txt.
constexpr Known kProtocols[] = {
    {"ros1", "a ROS 1 graph, joined as a node, with its own master if needed", 0, &ros1::open_ros1},
    {"rosbridge", "WebSocket for roslibjs, roslibpy, ROS# and the browser", 9090, &open_rosbridge},
    {"ros_tcp", "Unity's ROS-TCP-Connector", 10000, &open_ros_tcp},
};

std::vector<Known> all() {
  std::vector<Known> known(std::begin(kProtocols), std::end(kProtocols));
  known.insert(known.end(), kOptionalProtocols.begin(), kOptionalProtocols.end());
  return known;
}

}  // namespace

std::span<const Known> protocols() {
  static const std::vector<Known> known = all();
  return known;
}

std::span<const Absent> absent_protocols() { return kAbsentProtocols; }

}  // namespace hyphos::gateway
