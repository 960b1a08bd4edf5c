#include "gateway/ros2/names.hpp"

#include <gtest/gtest.h>

namespace hyphos::gateway::ros2 {
namespace {

TEST(Ros2Names, topics_have_a_prefix_in_dds) {
  EXPECT_EQ(topic_of_dds("rt/camera/image"), "/camera/image");
  EXPECT_EQ(topic_of_dds("ros_discovery_info"), std::nullopt);
  EXPECT_EQ(topic_of_dds("rt/"), std::nullopt);
  EXPECT_EQ(dds_topic("/camera/image"), "rt/camera/image");
}

TEST(Ros2Names, a_service_is_two_topics) {
  const auto request = service_of_dds("rq/arm/moveRequest");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->service, "/arm/move");
  EXPECT_TRUE(request->is_request);
  const auto reply = service_of_dds("rr/arm/moveReply");
  ASSERT_TRUE(reply);
  EXPECT_FALSE(reply->is_request);
  EXPECT_FALSE(service_of_dds("rq/arm/moveReply"));
  EXPECT_FALSE(service_of_dds("rq/Request"));
  EXPECT_EQ(dds_request("/arm/move"), "rq/arm/moveRequest");
  EXPECT_EQ(dds_reply("/arm/move"), "rr/arm/moveReply");
}

TEST(Ros2Names, type_names_contain_their_package) {
  EXPECT_EQ(type_of_dds("sensor_msgs::msg::dds_::Image_"), "sensor_msgs/msg/Image");
  EXPECT_EQ(type_of_dds("a::action::dds_::Go_FeedbackMessage_"), "a/action/Go_FeedbackMessage");
  EXPECT_EQ(dds_type("sensor_msgs/msg/Image"), "sensor_msgs::msg::dds_::Image_");
  EXPECT_EQ(dds_type("sensor_msgs/Image"), "sensor_msgs::msg::dds_::Image_");
  EXPECT_EQ(service_type_of_dds("std_srvs::srv::dds_::SetBool_Response_"), "std_srvs/srv/SetBool");
  EXPECT_EQ(service_type_of_dds("std_srvs::srv::dds_::SetBool_Request_"), "std_srvs/srv/SetBool");
  EXPECT_EQ(service_type_of_dds("std_msgs::msg::dds_::String_"), std::nullopt);
}

TEST(Ros2Names, a_type_that_is_not_of_ros_has_no_name) {
  for (const char* type : {"", "Image", "sensor_msgs::msg::Image", "::dds_::Image_",
                           "a::b::dds_::_", "a b::msg::dds_::C_", "a::b::c::dds_::D_"}) {
    EXPECT_EQ(type_of_dds(type), std::nullopt) << type;
  }
  EXPECT_EQ(dds_type("Image"), "");
  EXPECT_EQ(dds_type("a/b/c/d"), "");
}

TEST(Ros2Names, user_data_holds_values_by_key) {
  EXPECT_EQ(put_user_data("clientid", "1.2"), "clientid=1.2;");
  EXPECT_EQ(take_user_data("typehash=a;clientid=1.2;", "clientid"), "1.2");
  EXPECT_EQ(take_user_data("clientid=1.2", "clientid"), "1.2");
  for (const char* data : {"", ";", "clientid", "clientid=", "clientids=1;", "xclientid=1;;"}) {
    EXPECT_EQ(take_user_data(data, "clientid"), "") << data;
  }
}

TEST(Ros2Names, a_name_has_letters_digits_and_underscores) {
  for (const char* name : {"/a", "/a/b_1", "/_hidden"}) EXPECT_TRUE(is_name(name)) << name;
  for (const char* name : {"", "a", "/", "/a/", "/1a", "/a b", "/a-b", "//a"}) {
    EXPECT_FALSE(is_name(name)) << name;
  }
  EXPECT_EQ(split_node("/ns/node").first, "/ns");
  EXPECT_EQ(split_node("node").first, "/");
  EXPECT_EQ(split_node("/node").second, "node");
}

}  // namespace
}  // namespace hyphos::gateway::ros2
