#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/gateway/ros_tcp/gateway.hpp"

namespace hyphos::gateway::ros_tcp {
namespace {

using Sent = std::pair<std::string, std::string>;

const std::string kChat = registration("/chat", "std_msgs/String");

TEST(RosTcpTopics, the_gateway_sends_the_first_frame) {
  Gateway gateway;
  FrameClient client(gateway.port());
  EXPECT_EQ(client.next(),
            Sent("__handshake", R"({"version":"v0.7.0","metadata":"{\"protocol\":\"ROS1\"}"})"));
}

TEST(RosTcpTopics, messages_reach_other_clients_and_the_graph) {
  Gateway gateway;
  std::atomic<int> heard = 0;
  const auto subscription = gateway.facade.topics().open_subscription(
      {"graph"}, "/chat", "std_msgs/String", Form::ros1, {}, [&](const OutgoingMessage& message) {
        if (message.bytes.joined().text() == string_message("hello")) ++heard;
      });
  auto listener = gateway.client();
  listener.say("__subscribe", kChat);
  listener.sync();
  auto talker = gateway.client();
  talker.say("__publish", kChat);
  talker.say("/chat", string_message("hello"));
  EXPECT_EQ(listener.next(), Sent("/chat", string_message("hello")));
  EXPECT_TRUE(eventually([&] { return heard == 1; }));
}

TEST(RosTcpTopics, each_of_many_clients_gets_all_its_subscriptions) {
  Gateway gateway(with(&Options::queue_depth, 1000));
  std::vector<FrameClient> listeners;
  for (int i = 0; i < 8; ++i) {
    listeners.push_back(gateway.client());
    listeners.back().say("__subscribe", kChat);
    if (i % 2 == 0) {
      listeners.back().say("__subscribe", registration("/other", "std_msgs/String"));
    }
    listeners.back().sync();
  }
  auto talker = gateway.client();
  talker.say("__publish", kChat);
  talker.say("__publish", registration("/other", "std_msgs/String"));
  for (int i = 0; i < 100; ++i) {
    talker.say("/chat", string_message("c" + std::to_string(i)));
    talker.say("/other", string_message("o" + std::to_string(i)));
  }
  for (std::size_t k = 0; k < listeners.size(); ++k) {
    int chats = 0;
    int others = 0;
    while (chats + others < (k % 2 == 0 ? 200 : 100)) {
      const auto [topic, message] = listeners[k].next();
      int& count = topic == "/chat" ? chats : others;
      ASSERT_EQ(message, string_message((topic == "/chat" ? "c" : "o") + std::to_string(count)));
      ++count;
    }
  }
}

TEST(RosTcpTopics, registering_twice_keeps_the_existing_endpoints) {
  Gateway gateway;
  auto client = gateway.client();
  for (int i = 0; i < 2; ++i) {
    client.say("__publish", kChat);
    client.say("__subscribe", kChat);
  }
  client.sync();
  EXPECT_EQ(gateway.facade.open(), 2U);
  client.say("/chat", string_message("once"));
  client.say("__publish", kChat);
  client.say("__subscribe", kChat);
  client.say("/chat", string_message("twice"));
  EXPECT_EQ(client.next(), Sent("/chat", string_message("once")));
  EXPECT_EQ(client.next(), Sent("/chat", string_message("twice")));
}

TEST(RosTcpTopics, a_client_gets_a_topic_under_the_name_it_used) {
  Gateway gateway;
  auto plain = gateway.client();
  plain.say("__subscribe", registration("chat", "std_msgs/String"));
  plain.sync();
  auto talker = gateway.client();
  talker.say("__publish", kChat);
  talker.say("/chat", string_message("hello"));
  EXPECT_EQ(plain.next().first, "chat");
  // The name in a frame is literal, so this name is not registered.
  talker.say("chat", string_message("hello"));
  EXPECT_NE(talker.next("__error").find("'chat' is not registered"), std::string::npos);
}

TEST(RosTcpTopics, a_latched_message_reaches_late_clients) {
  Gateway gateway;
  auto talker = gateway.client();
  talker.say("__publish", R"({"topic":"/map","message_name":"std_msgs/String","latch":true})");
  talker.say("/map", string_message("all of it"));
  talker.sync();
  auto late = gateway.client();
  late.say("__subscribe", registration("/map", "std_msgs/String"));
  EXPECT_EQ(late.next(), Sent("/map", string_message("all of it")));
}

TEST(RosTcpTopics, a_publisher_can_be_registered_again_as_latched) {
  Gateway gateway;
  auto talker = gateway.client();
  talker.say("__publish", kChat);
  talker.say("__publish", R"({"topic":"/chat","message_name":"std_msgs/String","latch":true})");
  talker.say("/chat", string_message("for all"));
  talker.sync();
  EXPECT_EQ(gateway.facade.open(), 1U);
  auto late = gateway.client();
  late.say("__subscribe", kChat);
  EXPECT_EQ(late.next(), Sent("/chat", string_message("for all")));
}

TEST(RosTcpTopics, a_publisher_gets_the_queue_size_it_requested) {
  Gateway gateway;
  auto talker = gateway.client();
  talker.say("__publish", R"({"topic":"/chat","message_name":"std_msgs/String","queue_size":7})");
  talker.sync();
  EXPECT_EQ(gateway.facade.topics().depth("/chat"), 7U);
}

TEST(RosTcpTopics, endpoints_stay_if_another_type_is_refused) {
  Gateway gateway;
  auto client = gateway.client();
  client.say("__publish", kChat);
  client.say("__subscribe", kChat);
  for (const char* type : {"no_msgs/Such", "sensor_msgs/PointCloud2"}) {
    client.say("__publish", registration("/chat", type));
    EXPECT_NE(client.next("__error").find("cannot publish /chat"), std::string::npos);
    client.say("__subscribe", registration("/chat", type));
    EXPECT_NE(client.next("__error").find("cannot subscribe to /chat"), std::string::npos);
  }
  client.say("/chat", string_message("still here"));
  EXPECT_EQ(client.next(), Sent("/chat", string_message("still here")));
}

TEST(RosTcpTopics, a_topic_without_other_users_may_change_its_type) {
  Gateway gateway;
  auto client = gateway.client();
  const std::string cloud = registration("/chat", "sensor_msgs/PointCloud2");
  client.say("__publish", kChat);
  client.say("__publish", cloud);
  client.sync();
  EXPECT_EQ(gateway.facade.topics().list().at(0).type, "sensor_msgs/PointCloud2");
  EXPECT_EQ(gateway.facade.open(), 1U);
  auto other = gateway.client();
  other.say("__subscribe", cloud);
  other.sync();
  client.say("/chat", "as it is");
  EXPECT_EQ(other.next(), Sent("/chat", "as it is"));
  // The type stays while another client uses the topic.
  client.say("__publish", kChat);
  EXPECT_NE(client.next("__error").find("cannot publish /chat"), std::string::npos);
  client.say("/chat", "as before");
  EXPECT_EQ(other.next(), Sent("/chat", "as before"));
  client.say("__remove_publisher", R"({"topic":"/chat"})");
  client.sync();
  other.say("__subscribe", kChat);
  other.sync();
  EXPECT_EQ(gateway.facade.topics().list().at(0).type, "std_msgs/String");
  client.say("__publish", kChat);
  client.say("/chat", string_message("heard"));
  EXPECT_EQ(other.next(), Sent("/chat", string_message("heard")));
}

/// Refuses one type, and after some openings all types, as if another process were on the topic
/// each time.
FakeTopics::OpeningCheck refuse_after(int openings) {
  return [left = std::make_shared<int>(openings)](const std::string& topic,
                                                  const std::string& type) -> Result<void> {
    if (type == "sensor_msgs/PointCloud2" || *left == 0) {
      return Error{Code::type_mismatch, "the topic has another type", topic};
    }
    --*left;
    return success();
  };
}

TEST(RosTcpTopics, a_failed_change_of_type_restores_the_publisher) {
  for (const int openings : {1, 2}) {
    FakeGraph facade;
    add_types(facade);
    facade.topics().check_opening(refuse_after(openings));
    const auto protocol = open_ros_tcp(facade, {}).or_throw();
    FrameClient client = FrameClient::greeted(protocol->port());
    client.say("__publish",
               R"({"topic":"/chat","message_name":"std_msgs/String","latch":true,"queue_size":7})");
    client.say("__publish", registration("/chat", "sensor_msgs/PointCloud2"));
    const std::string_view told =
        openings == 2 ? "cannot publish /chat: " : "cannot publish /chat, and reopening it as ";
    EXPECT_NE(client.next("__error").find(told), std::string::npos);
    EXPECT_EQ(facade.open(), openings == 2 ? 1U : 0U);
    client.say("/chat", string_message("still here"));
    if (openings == 1) {
      EXPECT_NE(client.next("__error").find("'/chat' is not registered"), std::string::npos);
      continue;
    }
    client.sync();
    EXPECT_EQ(facade.topics().depth("/chat"), 7U);
    auto late = FrameClient::greeted(protocol->port());
    late.say("__subscribe", kChat);
    EXPECT_EQ(late.next(), Sent("/chat", string_message("still here")));
  }
}

TEST(RosTcpTopics, removing_an_unknown_subscriber_gives_a_warning) {
  Gateway gateway;
  auto client = gateway.client();
  client.say("__publish", kChat);
  client.say("__subscribe", kChat);
  client.say("__remove_subscriber", R"({"topic":"/chat"})");
  client.say("__remove_publisher", R"({"topic":"/chat"})");
  client.sync();
  EXPECT_EQ(gateway.facade.open(), 0U);
  client.say("__remove_subscriber", R"({"topic":"/chat"})");
  EXPECT_EQ(client.next(), Sent("__warn", R"({"text":"the subscriber /chat was not registered"})"));
}

TEST(RosTcpTopics, the_topic_list_has_types_in_unity_form) {
  Gateway gateway;
  auto client = gateway.client();
  client.say("__publish", kChat);
  client.say("__subscribe", registration("/two", "std_msgs/msg/String"));
  client.say("__topic_list", "{}");
  EXPECT_EQ(client.next("__topic_list"),
            R"({"topics":["/chat","/two"],"types":["std_msgs/String","std_msgs/String"]})");
}

TEST(RosTcpTopics, for_ros_2_greeting_and_types_are_those_of_ros_2) {
  Gateway gateway(with(&Options::own, {{"ros", "2"}}));
  FrameClient client(gateway.port());
  EXPECT_EQ(client.next().second, R"({"version":"v0.7.0","metadata":"{\"protocol\":\"ROS2\"}"})");
  client.say("__subscribe", kChat);
  client.sync();
  EXPECT_EQ(gateway.facade.topics().list().at(0).type, "std_msgs/msg/String");
}

TEST(RosTcpTopics, large_messages_pass_both_ways) {
  Gateway gateway;
  auto client = gateway.client();
  const std::string cloud = registration("/cloud", "sensor_msgs/PointCloud2");
  client.say("__subscribe", cloud);
  client.say("__publish", cloud);
  for (const std::size_t size : {10'000UL, 100'000UL, 1'000'000UL, 10'000'000UL}) {
    const std::string points(size, static_cast<char>('a' + size % 23));
    std::thread sender([&] { client.say("/cloud", points); });
    EXPECT_TRUE(client.next("/cloud") == points) << size;
    sender.join();
  }
}

TEST(RosTcpTopics, a_client_that_does_not_read_loses_its_oldest_messages) {
  Gateway gateway(with(&Options::queue_depth, 3));
  const std::string cloud = registration("/cloud", "sensor_msgs/PointCloud2");
  auto stopped = gateway.client();
  stopped.say("__subscribe", cloud);
  stopped.sync();
  auto quick = gateway.client();
  quick.say("__subscribe", cloud);
  quick.sync();
  auto talker = gateway.client();
  talker.say("__publish", cloud);
  for (int i = 0; i < 40; ++i) {
    const std::string points(1'000'000, static_cast<char>('A' + i));
    talker.say("/cloud", points);
    ASSERT_TRUE(quick.next("/cloud") == points);
  }
  EXPECT_GT(gateway.facade.clients().counted("slow_client"), 0U);
  std::string last;
  for (std::size_t i = gateway.facade.clients().counted("slow_client"); i < 40; ++i) {
    last = stopped.next("/cloud");
  }
  EXPECT_EQ(last.substr(0, 1), std::string(1, static_cast<char>('A' + 39)));
}

TEST(RosTcpTopics, a_waiting_message_blocks_only_its_client) {
  Gateway gateway;
  auto listener = gateway.client();
  listener.say("__subscribe", kChat);
  listener.say("__subscribe", registration("/other", "std_msgs/String"));
  listener.sync();
  auto talker = gateway.client();
  talker.say("__publish", kChat);
  talker.sync();
  gateway.facade.topics().fill("/chat", true);
  for (int i = 0; i < 100; ++i) talker.say("/chat", string_message(std::to_string(i)));
  auto other = gateway.client();
  other.say("__publish", registration("/other", "std_msgs/String"));
  other.say("/other", string_message("through"));
  EXPECT_EQ(listener.next(), Sent("/other", string_message("through")));
  gateway.facade.topics().fill("/chat", false);
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(listener.next(), Sent("/chat", string_message(std::to_string(i))));
  }
  EXPECT_EQ(gateway.facade.clients().counted("not_held_up"), 0U);
}

}  // namespace
}  // namespace hyphos::gateway::ros_tcp
