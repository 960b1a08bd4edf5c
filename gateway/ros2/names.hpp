#pragma once

#include <optional>
#include <string>
#include <string_view>

/// How ROS 2 names its topics, services and types in DDS.
namespace hyphos::gateway::ros2 {

/// "rt/camera/image" → "/camera/image"; nothing if it is no topic of ROS.
[[nodiscard]] std::optional<std::string> topic_of_dds(std::string_view name);
/// "/camera/image" → "rt/camera/image".
[[nodiscard]] std::string dds_topic(std::string_view topic);

/// One of the two topics that a service is.
struct ServiceTopic {
  std::string service;  ///< "/add"
  bool is_request = false;
};
/// "rq/addRequest", "rr/addReply"; nothing for others.
[[nodiscard]] std::optional<ServiceTopic> service_of_dds(std::string_view name);
[[nodiscard]] std::string dds_request(std::string_view service);
[[nodiscard]] std::string dds_reply(std::string_view service);

/// "sensor_msgs::msg::dds_::Image_" → "sensor_msgs/msg/Image"; nothing for a type that is not
/// ROS's.
[[nodiscard]] std::optional<std::string> type_of_dds(std::string_view type);
/// "sensor_msgs/msg/Image", "sensor_msgs/Image" → "sensor_msgs::msg::dds_::Image_"; empty for what
/// is no name of a type. `middle`: what a name of two parts lacks.
[[nodiscard]] std::string dds_type(std::string_view type, std::string_view middle = "msg");
/// "std_srvs::srv::dds_::SetBool_Request_" → "std_srvs/srv/SetBool", also of "…_Response_".
[[nodiscard]] std::optional<std::string> service_type_of_dds(std::string_view type);
/// With the part that only ROS 2 has: "std_msgs/String" → "std_msgs/msg/String".
[[nodiscard]] std::string ros2_type(std::string_view type, std::string_view middle = "msg");

/// What DDS carries of an endpoint beside its QoS: "typehash=RIHS01_…;", "clientid=…;".
[[nodiscard]] std::string put_user_data(std::string_view key, std::string_view value);
/// The value of `key` in "key=value;key=value;"; empty if it has none.
[[nodiscard]] std::string take_user_data(std::string_view data, std::string_view key);

/// "/camera/image": parts of letters, digits and '_', none of which begins with a digit.
[[nodiscard]] bool is_name(std::string_view name);
/// "/ns/name" → {"/ns", "name"}; of "name" {"/", "name"}.
[[nodiscard]] std::pair<std::string, std::string> split_node(std::string_view name);

}  // namespace hyphos::gateway::ros2
