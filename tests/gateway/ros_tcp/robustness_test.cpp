#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/gateway/ros_tcp/gateway.hpp"

namespace hyphos::gateway::ros_tcp {
namespace {

const std::string kChat = registration("/chat", "std_msgs/String");

/// Checks that a well-behaved client still works.
void expect_good_client(const Gateway& gateway) {
  auto client = gateway.client();
  client.say("__subscribe", registration("/good", "std_msgs/String"));
  client.say("__publish", registration("/good", "std_msgs/String"));
  client.say("/good", string_message("fine"));
  EXPECT_EQ(client.next("/good"), string_message("fine"));
}

TEST(RosTcpRobustness, errors_are_sent_to_the_client_and_the_connection_stays) {
  Gateway gateway;
  gateway.facade.clients().deny("/secret");
  auto client = gateway.client();
  const auto error = [&](std::string_view name, std::string_view payload) {
    client.say(name, payload);
    return client.next("__error");
  };
  EXPECT_NE(error("__publish", "{not json").find("not followed by a JSON object"),
            std::string::npos);
  EXPECT_NE(error("__dance", "{}").find("__dance"), std::string::npos);
  EXPECT_NE(error("__subscribe", R"({"topic":"/x"})").find("message_name"), std::string::npos);
  EXPECT_NE(error("__publish", registration("/x", "no/Such")).find("no/Such"), std::string::npos);
  EXPECT_NE(error("__ros_service", registration("/x", "no/Such")).find("no/Such"),
            std::string::npos);
  EXPECT_NE(error("__unity_service", registration("/x", "no/Such")).find("no/Such"),
            std::string::npos);
  EXPECT_NE(error("__subscribe", registration("/secret", "std_msgs/String")).find("permission"),
            std::string::npos);
  EXPECT_NE(error("/nowhere", "x").find("not registered"), std::string::npos);
  client.say("__publish", kChat);
  // A string that claims more bytes than the frame has.
  EXPECT_NE(error("/chat", std::string("\x09\0\0\0hi", 6)).find("claims 9 bytes"),
            std::string::npos);
  EXPECT_EQ(gateway.facade.clients().counted("corrupt"), 1U);
  client.sync();
  expect_good_client(gateway);
}

TEST(RosTcpRobustness, repeated_errors_are_rate_limited) {
  Gateway gateway;
  auto client = gateway.client();
  for (int i = 0; i < 1000; ++i) client.say("/nowhere", "x");
  client.say("__topic_list", "{}");
  int errors = 0;
  while (true) {
    const auto [name, payload] = client.next();
    if (name == "__topic_list") break;
    ASSERT_EQ(name, "__error");
    ++errors;
  }
  EXPECT_GE(errors, 1);
  EXPECT_LT(errors, 100);
  EXPECT_EQ(gateway.facade.clients().counted("unknown_topic"), 1000U);
}

TEST(RosTcpRobustness, lengths_above_their_limit_close_the_connection) {
  Gateway gateway(with(&Options::max_message, 1000));
  for (const std::string& head :
       {std::string("\xf0\xff\xff\xff", 4), std::string("\x01\x10\0\0", 4),
        std::string("\x01\0\0\0a\xe9\x03\0\0", 9)}) {
    auto client = gateway.client();
    client.say("__publish", kChat);
    client.send(head);
    client.send(std::string(5000, 'x'));
    EXPECT_NE(client.next("__error").find("bytes, more than the limit"), std::string::npos);
    EXPECT_TRUE(client.sees_end());
  }
  EXPECT_TRUE(eventually([&] { return gateway.facade.open() == 0; }));
  expect_good_client(gateway);
}

TEST(RosTcpRobustness, a_message_too_large_for_a_client_is_dropped_and_counted) {
  Gateway gateway(with(&Options::max_message, 1000));
  auto client = gateway.client();
  client.say("__subscribe", kChat);
  client.sync();
  const auto publisher = gateway.facade.topics()
                             .open_publisher({"graph"}, "/chat", "std_msgs/String", Form::ros1, {})
                             .or_throw();
  const auto publish = [&](const std::string& text) {
    const std::string message = string_message(text);
    publisher->publish(std::as_bytes(std::span(message))).or_throw();
  };
  publish(std::string(2000, 'x'));
  publish("small");
  EXPECT_EQ(client.next("/chat"), string_message("small"));
  EXPECT_EQ(gateway.facade.clients().counted("too_large"), 1U);
}

TEST(RosTcpRobustness, the_registrations_of_a_client_are_limited) {
  Options options;
  options.limits.client_topics = 7;
  Gateway gateway(options);
  auto client = gateway.client();
  for (int i = 0; i < 10; ++i) {
    client.say("__subscribe", registration("/t" + std::to_string(i), "std_msgs/String"));
  }
  const std::string error = client.next("__error");
  EXPECT_NE(error.find("already has 7 topics and services"), std::string::npos) << error;
  EXPECT_NE(error.find("--max-topics-per-client"), std::string::npos) << error;
  client.sync();
  EXPECT_EQ(gateway.facade.open(), 7U);
  EXPECT_EQ(gateway.facade.clients().counted("overloaded"), 3U);
}

TEST(RosTcpRobustness, a_client_beyond_the_limit_gets_an_error) {
  Gateway gateway(with(&Options::max_clients, 1));
  auto first = gateway.client();
  FrameClient second(gateway.port());
  const auto [name, payload] = second.next();
  EXPECT_EQ(name, "__error");
  EXPECT_NE(payload.find("already has 1 clients"), std::string::npos) << payload;
  EXPECT_NE(payload.find("--max-clients"), std::string::npos) << payload;
  EXPECT_TRUE(second.sees_end());
  first.sync();
}

TEST(RosTcpRobustness, clients_that_die_leave_nothing_behind) {
  Gateway gateway;
  const auto publisher = gateway.facade.topics()
                             .open_publisher({"graph"}, "/chat", "std_msgs/String", Form::ros1, {})
                             .or_throw();
  const std::string message = string_message(std::string(50'000, 'm'));
  // Limits the messages in flight, so that a stalled worker does not exhaust the memory.
  std::atomic<int> ahead = 0;
  auto subscription = gateway.facade.topics()
                          .open_subscription({"graph"}, "/chat", "std_msgs/String", Form::ros1, {},
                                             [&](const OutgoingMessage& outgoing) {
                                               if (outgoing.bytes.size() == message.size()) --ahead;
                                             })
                          .or_throw();
  std::atomic<bool> done = false;
  std::thread publishing([&] {
    while (!done) {
      if (ahead >= 1000) {
        std::this_thread::yield();
        continue;
      }
      ++ahead;
      publisher->publish(std::as_bytes(std::span(message))).or_throw();
    }
  });
  std::mt19937 random(3);
  const std::string all =
      FrameClient::frame("__publish", kChat) + FrameClient::frame("__subscribe", kChat) +
      FrameClient::frame("__unity_service", registration("/s", "std_srvs/SetBool")) +
      FrameClient::frame("__ros_service", registration("/s", "std_srvs/SetBool")) +
      FrameClient::frame("__request", R"({"srv_id":101})") + FrameClient::frame("/s", "on") +
      FrameClient::frame("/chat", string_message(std::string(30'000, 'c')));
  for (int i = 0; i < 50; ++i) {
    FrameClient client(gateway.port());
    client.send(all.substr(0, random() % (all.size() + 1)));
    if (random() % 2 == 0) (void)client.some(1 + random() % 100'000);
    client.reset();
  }
  done = true;
  publishing.join();
  subscription.reset();
  EXPECT_TRUE(eventually([&] { return gateway.facade.open() == 1; })) << gateway.facade.open();
  expect_good_client(gateway);
}

TEST(RosTcpRobustness, garbage_from_one_client_affects_no_other) {
  Gateway gateway;
  std::mt19937 random(11);
  const std::string valid = FrameClient::frame("__publish", kChat) +
                            FrameClient::frame("/chat", string_message("hi")) +
                            FrameClient::frame("__topic_list", "{}");
  for (int i = 0; i < 100; ++i) {
    FrameClient client(gateway.port());
    std::string garbage = valid + valid;
    for (unsigned k = 1 + random() % 20; k > 0; --k) {
      garbage[random() % garbage.size()] = static_cast<char>(random());
    }
    client.send(garbage);
    if (i % 3 == 0) (void)client.some(1000);
  }
  expect_good_client(gateway);
  EXPECT_TRUE(eventually([&] { return gateway.facade.open() == 0; })) << gateway.facade.open();
}

TEST(RosTcpRobustness, the_end_of_the_gateway_ends_clients_and_calls_in_flight) {
  Gateway gateway;
  Answer kept;
  std::atomic<bool> asked = false;
  const auto server = gateway.facade.services().open_server(
      {"graph"}, "/switch", "std_srvs/SetBool", Form::ros1, [&](const Buffer&, Answer answer) {
        kept = std::move(answer);
        asked = true;
      });
  auto client = gateway.client();
  client.say("__subscribe", kChat);
  client.say("__ros_service", registration("/switch", "std_srvs/SetBool"));
  client.say("__request", R"({"srv_id":101})");
  client.say("/switch", "on");
  ASSERT_TRUE(eventually([&] { return asked.load(); }));
  gateway.protocol.reset();
  EXPECT_TRUE(client.sees_end());
  EXPECT_EQ(gateway.facade.open(), 1U);  // the server of this test
  kept(Buffer::copy_of("too late"));
}

TEST(RosTcpOptions, errors_name_the_wrong_option) {
  FakeGraph facade;
  const auto refused = [&](Options options) {
    const auto opened = open_ros_tcp(facade, options);
    EXPECT_FALSE(opened);
    if (opened) return std::string();
    EXPECT_EQ(opened.error().code, Code::invalid_config);
    return opened.error().where;
  };
  EXPECT_EQ(refused(with(&Options::own, {{"ros", "3"}})), "ros_tcp.ros");
  EXPECT_EQ(refused(with(&Options::own, {{"rso", "1"}})), "ros_tcp.rso");
  EXPECT_EQ(refused(with(&Options::own, {{"service_timeout_ms", "-1"}})),
            "ros_tcp.service_timeout_ms");
  EXPECT_EQ(refused(with(&Options::tls, Tls{})), "ros_tcp.tls");
  EXPECT_EQ(refused(with(&Options::tokens, {{"secret"}})), "ros_tcp.tokens");
}

TEST(RosTcpOptions, a_taken_port_is_an_error) {
  Gateway gateway;
  EXPECT_EQ(gateway.protocol->address(), "tcp://127.0.0.1:" + std::to_string(gateway.port()));
  FakeGraph facade;
  const auto second = open_ros_tcp(facade, with(&Options::port, gateway.port()));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::already_exists);
}

}  // namespace
}  // namespace hyphos::gateway::ros_tcp
