#include "gateway/ros2/call.hpp"

namespace hyphos::gateway::ros2 {

bool is_cyclone(const GUID_t& guid) {
  // RTPS 2.5, 9.3.1.5: a GUID begins with the number of the vendor.
  return guid.guidPrefix.value[0] == 0x01 && guid.guidPrefix.value[1] == 0x10;
}

}  // namespace hyphos::gateway::ros2
