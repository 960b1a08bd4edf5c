#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The mapping of ROS 2 topics, services and types to DDS names.
namespace hyphos::gateway::ros2 {

/// "rt/camera/image" → "/camera/image". nullopt if it is not a ROS topic.
[[nodiscard]] std::optional<std::string> topic_of_dds(std::string_view name);
/// "/camera/image" → "rt/camera/image".
[[nodiscard]] std::string dds_topic(std::string_view topic);

/// One of the two topics of a service.
struct ServiceTopic {
  std::string service;  ///< "/add"
  bool is_request = false;
};
/// Parses "rq/addRequest" and "rr/addReply". nullopt for other names.
[[nodiscard]] std::optional<ServiceTopic> service_of_dds(std::string_view name);
[[nodiscard]] std::string dds_request(std::string_view service);
[[nodiscard]] std::string dds_reply(std::string_view service);

/// "sensor_msgs::msg::dds_::Image_" → "sensor_msgs/msg/Image". nullopt if it is not a ROS type.
[[nodiscard]] std::optional<std::string> type_of_dds(std::string_view type);
/// "sensor_msgs/msg/Image", "sensor_msgs/Image" → "sensor_msgs::msg::dds_::Image_". Empty if `type`
/// is not a type name. `middle` completes a name of two parts.
[[nodiscard]] std::string dds_type(std::string_view type, std::string_view middle = "msg");
/// "std_srvs::srv::dds_::SetBool_Request_" → "std_srvs/srv/SetBool", also for "…_Response_".
[[nodiscard]] std::optional<std::string> service_type_of_dds(std::string_view type);
/// Adds the part that only ROS 2 has: "std_msgs/String" → "std_msgs/msg/String".
[[nodiscard]] std::string ros2_type(std::string_view type, std::string_view middle = "msg");

/// Formats an entry of the user data that DDS carries beside the QoS of an endpoint:
/// "typehash=RIHS01_…;", "clientid=…;".
[[nodiscard]] std::string put_user_data(std::string_view key, std::string_view value);
/// The value of `key` in "key=value;key=value;". Empty if the key is missing.
[[nodiscard]] std::string take_user_data(std::string_view data, std::string_view key);

/// True for the topic of ROS that becomes the channel of log lines, and back.
[[nodiscard]] bool is_rosout(std::string_view topic, std::string_view type);

/// True for names such as "/camera/image": parts of letters, digits and '_' that do not begin with
/// a digit.
[[nodiscard]] bool is_name(std::string_view name);
/// "/ns/name" → {"/ns", "name"}. For "name", {"/", "name"}.
[[nodiscard]] std::pair<std::string, std::string> split_node(std::string_view name);

/// "/a, /b" for people. `none` if the list is empty. `quote` surrounds each name.
[[nodiscard]] std::string list_of(const std::vector<std::string>& names, std::string_view none,
                                  std::string_view quote = "");

}  // namespace hyphos::gateway::ros2
