#include "gateway/ros2/left_out.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/gateway/ros2/gateway.hpp"

namespace hyphos::gateway::ros2 {
namespace {

std::vector<Qos> qos_of_every_kind() {
  std::vector<Qos> all;
  for (const bool reliable : {false, true}) {
    for (const bool transient_local : {false, true}) {
      for (const std::int64_t deadline_ms : {0, 50, 80}) {
        for (const auto liveliness : {Liveliness::automatic, Liveliness::manual_by_topic}) {
          for (const std::int64_t lease_ms : {0, 100}) {
            for (const bool exclusive : {false, true}) {
              all.push_back({.reliable = reliable,
                             .transient_local = transient_local,
                             .deadline_ms = deadline_ms,
                             .liveliness = liveliness,
                             .lease_ms = lease_ms,
                             .exclusive = exclusive});
            }
          }
        }
      }
    }
  }
  return all;
}

/// DDS 1.4, 2.2.3: an independent comparison of request and offer.
std::size_t incompatible(const Qos& offered, const Qos& asked) {
  const auto time = [](std::int64_t ms) { return ms == 0 ? INT64_MAX : ms; };
  std::size_t count = 0;
  count += asked.reliable && !offered.reliable ? 1U : 0U;
  count += asked.transient_local && !offered.transient_local ? 1U : 0U;
  count += time(offered.deadline_ms) > time(asked.deadline_ms) ? 1U : 0U;
  count += offered.liveliness < asked.liveliness ? 1U : 0U;
  count += time(offered.lease_ms) > time(asked.lease_ms) ? 1U : 0U;
  count += offered.exclusive != asked.exclusive ? 1U : 0U;
  return count;
}

TEST(Ros2LeftOut, every_differing_policy_is_named) {
  const auto all = qos_of_every_kind();
  for (const Qos& offered : all) {
    for (const Qos& asked : all) {
      const std::size_t expected = incompatible(offered, asked);
      ASSERT_EQ(differences(offered, asked).size(), expected);
      const std::string text = mismatch(offered, asked);
      std::size_t named = 0;
      for (std::size_t at = text.find("it requests"); at != std::string::npos;
           at = text.find("it requests", at + 1)) {
        ++named;
      }
      ASSERT_EQ(named, expected) << text;
    }
  }
}

TEST(Ros2LeftOut, partitions_and_representations_are_compared_too) {
  EXPECT_EQ(mismatch({.partitions = {"a"}}, {.partitions = {"b", "a"}}), "");
  EXPECT_NE(mismatch({}, {.partitions = {"b"}}).find("the partitions 'b'"), std::string::npos);
  EXPECT_NE(mismatch({.partitions = {"b"}}, {}).find("the default one"), std::string::npos);
  EXPECT_NE(mismatch({}, {.xcdr1 = false}).find("XCDR2"), std::string::npos);
}

TEST(Ros2LeftOut, each_incompatible_subscriber_is_reported_once) {
  Gateway gateway;
  const auto publisher = gateway.publisher("/plain");
  RosSide ros;
  ros.reader("rt/plain", kString, {.latched = true});
  ros.reader("rt/plain", kString, {.deadline_ms = 50});
  ros.reader("rt/plain", kString, {.latched = true, .deadline_ms = 20});
  EXPECT_TRUE(
      eventually([&] { return gateway.facade.clients().counted("incompatible_qos") == 3; }));
  ros.reader("rt/plain", kString, {.deadline_ms = 10});
  EXPECT_TRUE(
      eventually([&] { return gateway.facade.clients().counted("incompatible_qos") == 4; }));
  EXPECT_NE(gateway.facade.clients().last("incompatible_qos").find("a deadline of 10 ms"),
            std::string::npos);
}

TEST(Ros2LeftOut, a_subscriber_of_another_type_is_reported_with_both_types) {
  Gateway gateway;
  const auto publisher = gateway.publisher("/plain");
  RosSide ros;
  ros.reader("rt/plain", "sensor_msgs::msg::dds_::Image_");
  EXPECT_TRUE(eventually([&] { return gateway.facade.clients().counted("type_mismatch") == 1; }));
  const std::string line = gateway.facade.clients().last("type_mismatch");
  EXPECT_NE(line.find("sensor_msgs/msg/Image"), std::string::npos) << line;
  EXPECT_NE(line.find("std_msgs/msg/String"), std::string::npos) << line;
}

TEST(Ros2LeftOut, the_publisher_of_the_rarer_type_is_reported) {
  Gateway gateway;
  RosSide ros;
  ros.writer("rt/two", kString);
  ros.writer("rt/two", kString);
  RosSide other;
  other.writer("rt/two", "sensor_msgs::msg::dds_::Image_");
  EXPECT_TRUE(eventually([&] { return gateway.facade.clients().counted("type_mismatch") > 0; }));
}

TEST(Ros2LeftOut, a_topic_that_is_not_of_ros_is_reported) {
  Gateway gateway;
  RosSide ros;
  ros.writer("rt/odd", "Odd");
  EXPECT_TRUE(eventually([&] { return gateway.facade.clients().counted("unsupported") == 1; }));
  EXPECT_NE(gateway.facade.clients().last("unsupported").find("'Odd'"), std::string::npos);
  ros.writer("plain_dds", "Odd");  // The name claims no relation to ROS.
  ros.writer("rt/a-b", kString);
  EXPECT_TRUE(eventually([&] { return gateway.facade.clients().counted("unsupported") == 2; }));
}

TEST(Ros2LeftOut, an_action_of_an_unknown_type_is_reported) {
  Gateway gateway;
  RosSide ros;
  const std::pair<const char*, const char*> services[] = {
      {"send_goal", "own_msgs::action::dds_::Climb_SendGoal"},
      {"get_result", "own_msgs::action::dds_::Climb_GetResult"},
      {"cancel_goal", "action_msgs::srv::dds_::CancelGoal"}};
  for (const auto& [name, type] : services) {
    const std::string service = std::string("climb/_action/") + name;
    ros.reader("rq/" + service + "Request", std::string(type) + "_Request_");
    ros.writer("rr/" + service + "Reply", std::string(type) + "_Response_");
  }
  EXPECT_TRUE(eventually([&] { return gateway.facade.clients().counted("not_found") == 1; }));
  const std::string line = gateway.facade.clients().last("not_found");
  EXPECT_NE(line.find("the action is left out"), std::string::npos) << line;
  EXPECT_NE(line.find("own_msgs/action/Climb"), std::string::npos) << line;
}

TEST(Ros2LeftOut, a_topic_that_returns_is_reported_again) {
  Gateway gateway;
  RosSide ros;
  for (const std::uint64_t round : {1U, 2U}) {
    RosWriter& odd = ros.writer("rt/odd", "Odd");
    EXPECT_TRUE(
        eventually([&] { return gateway.facade.clients().counted("unsupported") == round; }));
    ros.end(odd);
  }
}

}  // namespace
}  // namespace hyphos::gateway::ros2
