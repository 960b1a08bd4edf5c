#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/gateway/ros2/gateway.hpp"

namespace hyphos::gateway::ros2 {
namespace {

using Texts = std::vector<std::string>;

TEST(Ros2Topics, messages_of_ros_reach_the_robot_byte_for_byte) {
  Gateway gateway;
  Heard heard;
  const auto subscription = gateway.subscription("/chatter", heard);
  RosSide ros;
  auto& talker = ros.writer("rt/chatter", kString);
  ASSERT_TRUE(talker.wait_matched(1));
  for (const char* text : {"one", "two", "three"}) talker.write(string_cdr(text));
  EXPECT_EQ(heard.wait(3), (Texts{string_cdr("one"), string_cdr("two"), string_cdr("three")}));
}

TEST(Ros2Topics, messages_of_the_robot_reach_ros_byte_for_byte) {
  Gateway gateway;
  const auto publisher = gateway.publisher("/status");
  RosSide ros;
  auto& listener = ros.reader("rt/status", kString);
  ASSERT_TRUE(listener.wait_matched(1));
  ASSERT_TRUE(gateway.protocol);
  // The reader has found the writer, but the writer may not have found the reader yet.
  EXPECT_TRUE(eventually([&] {
    EXPECT_TRUE(publisher->publish(bytes_of(string_cdr("good"))));
    return !listener.texts(0).empty();
  }));
  EXPECT_EQ(listener.texts(1).at(0), string_cdr("good"));
}

TEST(Ros2Topics, a_full_channel_blocks_no_other_topic) {
  Options options;
  options.queue_depth = 5;
  Gateway gateway(options);
  Heard heard;
  Heard other_heard;
  const auto subscription = gateway.subscription("/chatter", heard);
  const auto other_subscription = gateway.subscription("/other", other_heard);
  RosSide ros;
  auto& talker = ros.writer("rt/chatter", kString);
  auto& other = ros.writer("rt/other", kString);
  ASSERT_TRUE(talker.wait_matched(1));
  ASSERT_TRUE(other.wait_matched(1));
  gateway.facade.topics().fill("/chatter", true);
  // The channel keeps one message, five wait, and two are dropped.
  for (const char* text : {"0", "1", "2", "3", "4", "5", "6", "7"}) {
    talker.write(string_cdr(text));
  }
  other.write(string_cdr("through"));
  EXPECT_EQ(other_heard.wait(1), Texts{string_cdr("through")});
  ASSERT_TRUE(eventually([&] { return gateway.facade.clients().counted("overloaded") == 2; }));
  gateway.facade.topics().fill("/chatter", false);
  EXPECT_EQ(heard.wait(6), (Texts{string_cdr("0"), string_cdr("3"), string_cdr("4"),
                                  string_cdr("5"), string_cdr("6"), string_cdr("7")}));
  EXPECT_EQ(gateway.facade.clients().counted("not_held_up"), 0U);
}

TEST(Ros2Topics, a_latched_topic_of_ros_is_latched_in_the_robot) {
  RosSide ros;
  ros.writer("rt/map", kString, {.latched = true, .depth = 1}).write(string_cdr("all of it"));
  Gateway gateway;
  ASSERT_TRUE(eventually([&] {
    const auto topics = gateway.facade.topics().list();
    return !topics.empty() && topics[0].latched;
  }));
  Heard late;
  const auto subscription = gateway.subscription("/map", late);
  EXPECT_EQ(late.wait(1), Texts{string_cdr("all of it")});
}

TEST(Ros2Topics, a_latched_channel_is_transient_local_in_ros) {
  Gateway gateway;
  const auto publisher = gateway.publisher("/map", true);
  EXPECT_TRUE(publisher->publish(bytes_of(string_cdr("all of it"))));
  RosSide ros;
  EXPECT_EQ(ros.reader("rt/map", kString, {.latched = true}).texts(1),
            Texts{string_cdr("all of it")});
}

TEST(Ros2Topics, reliable_and_best_effort_writers_are_both_received) {
  Gateway gateway;
  Heard heard;
  const auto subscription = gateway.subscription("/scan", heard);
  RosSide ros;
  auto& reliable = ros.writer("rt/scan", kString);
  ASSERT_TRUE(reliable.wait_matched(1));
  auto& best_effort = ros.writer("rt/scan", kString, {.reliable = false});
  ASSERT_TRUE(best_effort.wait_matched(1));
  // The gateway has reopened its reader for both writers.
  ASSERT_TRUE(eventually([&] {
    reliable.write(string_cdr("r"));
    best_effort.write(string_cdr("b"));
    const auto all = heard.wait(0);
    return std::ranges::find(all, string_cdr("r")) != all.end() &&
           std::ranges::find(all, string_cdr("b")) != all.end();
  }));
}

TEST(Ros2Topics, a_reopened_reader_repeats_no_latched_message) {
  Gateway gateway;
  Heard heard;
  const auto subscription = gateway.subscription("/map", heard);
  RosSide ros;
  const RosQos latched{.latched = true, .depth = 1};
  ros.writer("rt/map", kString, latched).write(string_cdr("first"));
  EXPECT_EQ(heard.wait(1).size(), 1U);
  auto& second = ros.writer("rt/map", kString, {.reliable = false, .latched = true, .depth = 1});
  ASSERT_TRUE(second.wait_matched(1));
  ASSERT_TRUE(eventually([&] {
    second.write(string_cdr("second"));
    return heard.wait(0).size() > 1;
  }));
  const auto all = heard.wait(2);
  EXPECT_EQ(std::ranges::count(all, string_cdr("first")), 1);
}

TEST(Ros2Topics, both_sides_of_a_topic_receive_each_message_once) {
  Options options;
  options.queue_depth = 200;  // A depth at which no message is dropped.
  Gateway gateway(options);
  Heard heard;
  const auto subscription = gateway.subscription("/chat", heard);
  const auto publisher = gateway.publisher("/chat", false, options.queue_depth);
  RosSide ros;
  auto& talker = ros.writer("rt/chat", kString);
  auto& listener = ros.reader("rt/chat", kString);
  ASSERT_TRUE(talker.wait_matched(2));    // the listener and the gateway
  ASSERT_TRUE(listener.wait_matched(2));  // the talker and the gateway
  ASSERT_TRUE(eventually([&] {
    EXPECT_TRUE(publisher->publish(bytes_of(string_cdr("found"))));
    return !listener.texts(0).empty();
  }));
  const auto both_hear = [&](const std::string& text) {
    const auto has = [&](const Texts& all) {
      return std::ranges::find(all, string_cdr(text)) != all.end();
    };
    return eventually([&] { return has(listener.texts(0)) && has(heard.wait(0)); });
  };
  constexpr std::size_t kEach = 50;
  for (std::size_t i = 0; i < kEach; ++i) {
    talker.write(string_cdr("of ros"));
    EXPECT_TRUE(publisher->publish(bytes_of(string_cdr("of the robot"))));
  }
  // Both directions keep the order, so a looped message would arrive before these.
  talker.write(string_cdr("end of ros"));
  EXPECT_TRUE(publisher->publish(bytes_of(string_cdr("end of the robot"))));
  ASSERT_TRUE(both_hear("end of ros"));
  ASSERT_TRUE(both_hear("end of the robot"));
  const auto in_ros = listener.texts(0);
  const auto in_robot = heard.wait(0);
  EXPECT_EQ(std::ranges::count(in_ros, string_cdr("of ros")), kEach);
  EXPECT_EQ(std::ranges::count(in_ros, string_cdr("of the robot")), kEach);
  EXPECT_EQ(std::ranges::count(in_robot, string_cdr("of ros")), kEach);
  EXPECT_EQ(std::ranges::count(in_robot, string_cdr("of the robot")), kEach);
}

TEST(Ros2Topics, a_channel_published_only_by_ros_is_not_sent_back) {
  Gateway gateway;
  RosSide ros;
  auto& talker = ros.writer("rt/chat", kString);
  auto& listener = ros.reader("rt/chat", kString);
  ASSERT_TRUE(talker.wait_matched(2));
  ASSERT_TRUE(eventually([&] { return gateway.publishers("/chat") == Texts{"ros2 /chat"}; }));
  // A later channel is visible, so the gateway has scanned the graph once more.
  const auto publisher = gateway.publisher("/other");
  ASSERT_TRUE(ros.reader("rt/other", kString).wait_matched(1));
  EXPECT_TRUE(listener.wait_matched(1));
}

TEST(Ros2Topics, only_topics_that_match_the_patterns_pass) {
  Gateway gateway(with({{"topics", "*,!secret/*"}, {"channels", "out/*"}}));
  const auto hidden = gateway.publisher("/inner");
  const auto shown = gateway.publisher("/out/it");
  RosSide ros;
  auto& secret = ros.writer("rt/secret/plan", kString);
  ASSERT_TRUE(ros.writer("rt/open", kString).wait_matched(1));
  ASSERT_TRUE(ros.reader("rt/out/it", kString).wait_matched(1));
  EXPECT_TRUE(secret.wait_matched(0));
  EXPECT_TRUE(ros.reader("rt/inner", kString).wait_matched(0));
  EXPECT_TRUE(gateway.publishers("/secret/plan").empty());
}

TEST(Ros2Topics, hidden_topics_of_ros_nodes_are_left_out) {
  Gateway gateway;
  RosSide ros;
  auto& feedback = ros.writer("rt/go/_action/feedback", kString);
  ASSERT_TRUE(ros.writer("rt/open", kString).wait_matched(1));
  EXPECT_TRUE(feedback.wait_matched(0));
  EXPECT_EQ(gateway.facade.clients().counted("not_found"), 0U);
}

TEST(Ros2Topics, a_topic_of_an_unknown_type_is_counted_once) {
  Gateway gateway;
  RosSide ros;
  ros.writer("rt/odd", "odd_msgs::msg::dds_::Odd_");
  EXPECT_TRUE(eventually([&] { return gateway.facade.clients().counted("not_found") == 1; }));
  ASSERT_TRUE(ros.writer("rt/open", kString).wait_matched(1));
  EXPECT_EQ(gateway.facade.clients().counted("not_found"), 1U);
}

TEST(Ros2Topics, a_topic_with_another_channel_type_is_refused) {
  Gateway gateway;
  const auto publisher = gateway.publisher("/camera");
  RosSide ros;
  auto& camera = ros.writer("rt/camera", "sensor_msgs::msg::dds_::Image_");
  EXPECT_TRUE(eventually([&] { return gateway.facade.clients().counted("type_mismatch") == 1; }));
  EXPECT_TRUE(camera.wait_matched(0));
}

TEST(Ros2Topics, a_subscriber_with_incompatible_qos_is_counted) {
  Gateway gateway;
  const auto publisher = gateway.publisher("/state");
  RosSide ros;
  auto& latched = ros.reader("rt/state", kString, {.latched = true});
  EXPECT_TRUE(eventually([&] { return gateway.facade.clients().counted("incompatible_qos") > 0; }));
  EXPECT_TRUE(latched.wait_matched(0));
}

TEST(Ros2Topics, large_messages_pass_both_ways) {
  Gateway gateway;
  Heard heard;
  const auto subscription = gateway.subscription("/in", heard);
  const auto publisher = gateway.publisher("/out");
  RosSide ros;
  auto& talker = ros.writer("rt/in", kString);
  auto& listener = ros.reader("rt/out", kString);
  ASSERT_TRUE(talker.wait_matched(1));
  ASSERT_TRUE(listener.wait_matched(1));
  const std::string large = string_cdr(std::string(5'000'000, 'x'));
  talker.write(large);
  EXPECT_TRUE(heard.wait(1) == Texts{large});
  ASSERT_TRUE(eventually([&] {
    EXPECT_TRUE(publisher->publish(bytes_of(string_cdr("found"))));
    return !listener.texts(0).empty();
  }));
  EXPECT_TRUE(publisher->publish(bytes_of(large)));
  EXPECT_TRUE(eventually([&] { return listener.texts(1).back() == large; }));
}

TEST(Ros2Topics, messages_above_the_limit_are_counted_both_ways) {
  Options options;
  options.max_message = 1000;
  Gateway gateway(options);
  Heard heard;
  const auto subscription = gateway.subscription("/in", heard);
  const auto publisher = gateway.publisher("/out");
  RosSide ros;
  auto& talker = ros.writer("rt/in", kString);
  ASSERT_TRUE(talker.wait_matched(1));
  ASSERT_TRUE(ros.reader("rt/out", kString).wait_matched(1));
  talker.write(string_cdr(std::string(2000, 'x')));
  talker.write(string_cdr("small"));
  EXPECT_EQ(heard.wait(1), Texts{string_cdr("small")});
  EXPECT_EQ(gateway.facade.clients().counted("too_large"), 1U);
  EXPECT_TRUE(publisher->publish(bytes_of(string_cdr(std::string(2000, 'x')))));
  EXPECT_TRUE(eventually([&] { return gateway.facade.clients().counted("too_large") == 2; }));
}

TEST(Ros2Topics, a_returning_peer_is_received_again) {
  Gateway gateway;
  Heard heard;
  const auto subscription = gateway.subscription("/chat", heard);
  const auto publisher = gateway.publisher("/status");
  for (int life = 1; life <= 3; ++life) {
    RosSide ros;
    auto& talker = ros.writer("rt/chat", kString);
    auto& listener = ros.reader("rt/status", kString);
    ASSERT_TRUE(talker.wait_matched(1));
    const std::string word = string_cdr("life " + std::to_string(life));
    // Published repeatedly, because the writer may know the reader before the reader knows it.
    EXPECT_TRUE(eventually([&] {
      talker.write(word);
      const auto words = heard.wait(0);
      return !words.empty() && words.back() == word;
    }));
    EXPECT_TRUE(eventually([&] {
      EXPECT_TRUE(publisher->publish(bytes_of(string_cdr("here"))));
      return !listener.texts(0).empty();
    }));
  }
  EXPECT_TRUE(eventually([&] { return gateway.publishers("/chat").empty(); }));
}

TEST(Ros2Topics, a_gateway_that_ends_closes_all_its_endpoints) {
  Gateway gateway;
  const auto publisher = gateway.publisher("/status");
  RosSide ros;
  auto& talker = ros.writer("rt/chat", kString);
  auto& listener = ros.reader("rt/status", kString);
  ASSERT_TRUE(talker.wait_matched(1));
  ASSERT_TRUE(listener.wait_matched(1));
  gateway.protocol.reset();
  EXPECT_EQ(gateway.facade.open(), 1U);  // of the robot itself
  EXPECT_TRUE(talker.wait_matched(0));
  EXPECT_TRUE(listener.wait_matched(0));
}

}  // namespace
}  // namespace hyphos::gateway::ros2
