#pragma once

#include <string>

namespace hyphos::gateway {

/// A ROS message type, with the facts that connection headers, graphs and tools need.
struct TypeInfo {
  std::string name;       ///< "sensor_msgs/LaserScan", or "sensor_msgs/msg/LaserScan" in ROS 2
  std::string md5;        ///< ROS 1
  std::string type_hash;  ///< ROS 2, "RIHS01_…"
  /// The definition and the definitions that it depends on, as in connection headers. Comments are
  /// left out for ROS 2.
  std::string text;
};

struct ServiceTypeInfo {
  std::string name;  ///< "std_srvs/SetBool"
  std::string md5;
  std::string type_hash;
  std::string request;  ///< names of its two messages, "std_srvs/SetBoolRequest"
  std::string reply;
};

/// The three messages of an action.
struct ActionTypeInfo {
  std::string name;  ///< "move_base_msgs/MoveBase", "nav2_msgs/action/NavigateToPose"
  std::string goal;  ///< names of its messages
  std::string feedback;
  std::string result;
};

}  // namespace hyphos::gateway
