#pragma once

#include <string>

namespace hyphos::gateway {

/// A type of ROS: what connection headers, graphs and tools ask of it.
struct TypeInfo {
  std::string name;       ///< "sensor_msgs/LaserScan"; of ROS 2 "sensor_msgs/msg/LaserScan"
  std::string md5;        ///< ROS 1
  std::string type_hash;  ///< ROS 2, "RIHS01_…"
  /// The definition with those it needs, as in connection headers; of ROS 2 without its comments.
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
