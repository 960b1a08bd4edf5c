#include "tests/gateway/facade/hyphos_graph_test.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <string>
#include <thread>

#include "gateway/facade/channel_names.hpp"
#include "hyphos/hyphos.hpp"
#include "hyphos/msgs/sensor.pb.h"
#include "tests/gateway/heard.hpp"

namespace hyphos::gateway {
namespace {

bool contains(const std::vector<std::string>& texts, const std::string& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

/// Waits for messages until `text` is among them.
bool eventually_hears(Heard& heard, const std::string& text) {
  for (std::size_t count = 1;; ++count) {
    const auto texts = heard.wait(count);
    if (contains(texts, text)) return true;
    if (texts.size() < count) return false;
  }
}

TEST_F(HyphosGraphTest, each_client_gets_messages_in_its_own_encoding) {
  Heard json;
  Heard cdr;
  const auto subscription =
      facade_.topics()
          .open_subscription(client_, "/part", "made/Part", Form::json, {}, json.take())
          .or_throw();
  const auto second =
      facade_.topics()
          .open_subscription(client_, "/part", "made/Part", Form::ros1, {}, cdr.take())
          .or_throw();
  const auto publisher =
      facade_.topics().open_publisher(client_, "part", "made/Part", Form::ros1, {}).or_throw();
  EXPECT_TRUE(publisher->publish(bytes_of(std::string_view("\5\0\0\0\0\0\0\0", 8))));
  EXPECT_TRUE(contains(json.wait(1), R"({"x":5})"));
  EXPECT_TRUE(contains(cdr.wait(1), std::string("\5\0\0\0\0\0\0\0", 8)));
  EXPECT_EQ(publisher->type().name, "made/Part");
}

TEST_F(HyphosGraphTest, faulty_messages_are_refused_and_counted) {
  const auto publisher =
      facade_.topics().open_publisher(client_, "/part", "made/Part", Form::json, {}).or_throw();
  const auto told = publisher->publish(bytes_of(R"({"y":5})"));
  ASSERT_FALSE(told);
  EXPECT_TRUE(has(told.error().message, "has the field 'y', which made/Part does not define"));
  EXPECT_EQ(facade_.counters().at("drop.gateway.corrupt"), 1U);
}

TEST_F(HyphosGraphTest, a_latched_message_reaches_late_subscribers) {
  const auto publisher =
      facade_.topics()
          .open_publisher(client_, "/part", "made/Part", Form::json, {.latched = true})
          .or_throw();
  ASSERT_TRUE(publisher->publish(bytes_of(R"({"x":7})")));
  Heard first;
  Heard second;
  const auto one =
      facade_.topics()
          .open_subscription(client_, "/part", "made/Part", Form::json, {}, first.take())
          .or_throw();
  EXPECT_TRUE(contains(first.wait(1), R"({"x":7})"));
  // Shares the subscription of the first.
  const auto two =
      facade_.topics()
          .open_subscription(client_, "/part", "made/Part", Form::json, {}, second.take())
          .or_throw();
  EXPECT_TRUE(contains(second.wait(1), R"({"x":7})"));
}

TEST_F(HyphosGraphTest, a_latched_message_beyond_the_lifespan_reaches_no_late_subscriber) {
  constexpr ClientSubscriptionOptions kShort{.lifespan_ms = 200};
  const auto publisher = facade_.topics()
                             .open_publisher(client_, "/part", "made/Part", Form::json,
                                             {.latched = true, .lifespan_ms = kShort.lifespan_ms})
                             .or_throw();
  const auto subscribe = [&](const ClientSubscriptionOptions& options, Heard& heard) {
    return facade_.topics()
        .open_subscription(client_, "/part", "made/Part", Form::json, options, heard.take())
        .or_throw();
  };
  Heard at_once;
  Heard later;   // shares the subscription of the first
  Heard newest;  // its own subscription, to which the graph sends the latched message again
  const auto one = subscribe(kShort, at_once);
  ASSERT_TRUE(publisher->publish(bytes_of(R"({"x":7})")));
  const Time published = monotonic_now();
  (void)at_once.wait(1);
  while (monotonic_now() - published < Duration::from_ms(kShort.lifespan_ms)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const auto two = subscribe(kShort, later);
  const auto three = subscribe({.depth = 5, .lifespan_ms = kShort.lifespan_ms}, newest);
  ASSERT_TRUE(publisher->publish(bytes_of(R"({"x":8})")));
  for (Heard* heard : {&later, &newest}) {
    EXPECT_FALSE(contains(heard->wait(1), R"({"x":7})"));
  }
}

TEST_F(HyphosGraphTest, a_topic_may_change_its_type_after_all_users_left) {
  {
    const auto publisher =
        facade_.topics().open_publisher(client_, "/x", "made/Part", Form::json, {}).or_throw();
    const auto other = facade_.topics().open_publisher(client_, "/x", "made/Many", Form::json, {});
    ASSERT_FALSE(other) << "one publisher is still there";
    EXPECT_EQ(other.error().code, Code::type_mismatch);
    // A client sees from this that no other client uses the topic.
    const auto topics = facade_.topics().list();
    ASSERT_EQ(topics.size(), 1U);
    EXPECT_EQ(topics[0].publishers, std::vector{client_.name});
    EXPECT_TRUE(topics[0].subscribers.empty());
  }
  Heard heard;
  const auto subscription =
      facade_.topics()
          .open_subscription(client_, "/x", "made/Many", Form::json, {}, heard.take())
          .or_throw();
  const auto publisher =
      facade_.topics().open_publisher(client_, "/x", "made/Many", Form::json, {}).or_throw();
  EXPECT_TRUE(publisher->publish(bytes_of(R"({"parts":[{"x":1}]})")));
  EXPECT_TRUE(contains(heard.wait(1), R"({"parts":[{"x":1}]})"));
}

TEST_F(HyphosGraphTest, a_latched_publisher_reaches_early_and_late_subscribers) {
  RuntimeOptions same;
  same.domain = robot_.runtime().domain();
  HyphosGraph base(Node::open("base", same).or_throw(), types_, {});
  for (HyphosGraph* const from : {&facade_, &base}) {
    const std::string topic = from == &facade_ ? "/here" : "/there";
    const auto on_message = [&](Heard& heard) {
      return facade_.topics()
          .open_subscription(client_, topic, "made/Part", Form::json, {}, heard.take())
          .or_throw();
    };
    Heard early;
    const auto first = on_message(early);
    const auto publisher =
        from->topics()
            .open_publisher(client_, topic, "made/Part", Form::json, {.latched = true})
            .or_throw();
    // The link exists only after a message has arrived.
    while (early.wait(0).empty()) {
      ASSERT_TRUE(publisher->publish(bytes_of(R"({"x":7})")));
      std::this_thread::yield();
    }
    Heard late;
    const auto second = on_message(late);
    EXPECT_TRUE(contains(late.wait(1), R"({"x":7})")) << topic;
  }
}

TEST_F(HyphosGraphTest, closed_topics_leave_no_channels_behind) {
  constexpr int kNames = 10000, kMostKept = 64;
  const std::size_t before = robot_.runtime().channels().size();
  for (int number = 0; number < kNames; ++number) {
    const std::string topic = "/name" + std::to_string(number);
    const auto publisher = facade_.topics().open_publisher(client_, topic, "made/Part", Form::json,
                                                           {.latched = number % 2 == 0});
    ASSERT_TRUE(publisher) << publisher.error().to_string();
    ASSERT_TRUE((*publisher)->publish(bytes_of(R"({"x":7})")));
  }
  EXPECT_LE(robot_.runtime().channels().size(), before + kMostKept);
}

TEST_F(HyphosGraphTest, a_topic_has_the_weakest_options_of_its_publishers) {
  const auto find = [&]() -> TopicInfo {
    for (TopicInfo& info : facade_.topics().list()) {
      if (info.topic == "/part") return info;
    }
    return {};
  };
  const auto open = [&](HyphosGraph& facade, const ClientPublisherOptions& options) {
    return facade.topics()
        .open_publisher({"talker"}, "/part", "made/Part", Form::json, options)
        .or_throw();
  };
  const auto first = open(facade_, {.depth = 3, .reliable = true, .deadline_ms = 40});
  EXPECT_TRUE(find().reliable);
  EXPECT_EQ(find().depth, 3U);
  EXPECT_EQ(find().deadline_ms, 40);
  // Another process, with its own options.
  RuntimeOptions same;
  same.domain = robot_.runtime().domain();
  HyphosGraph base(Node::open("base", same).or_throw(), types_, {});
  auto second = open(base, {.depth = 7, .reliable = true, .deadline_ms = 90});
  EXPECT_EQ(find().depth, 7U);
  EXPECT_EQ(find().deadline_ms, 90);
  EXPECT_TRUE(find().reliable);
  HyphosGraph arm(Node::open("arm", same).or_throw(), types_, {});
  const auto third = open(arm, {});
  EXPECT_FALSE(find().reliable);
  EXPECT_EQ(find().deadline_ms, 0);
}

TEST_F(HyphosGraphTest, late_subscribers_of_a_list_get_the_last_of_each_publisher) {
  const auto say = [](const std::unique_ptr<ClientPublisher>& publisher, int number) {
    return publisher->publish(bytes_of(R"({"parts":[{"x":)" + std::to_string(number) + "}]}"));
  };
  const auto open = [](HyphosGraph& facade, const Client& client) {
    return facade.topics()
        .open_publisher(client, "/many", "made/Many", Form::json, {.latched = true})
        .or_throw();
  };
  const auto on_message = [](HyphosGraph& facade, const Client& client, Heard& heard) {
    return facade.topics()
        .open_subscription(client, "/many", "made/Many", Form::json, {}, heard.take())
        .or_throw();
  };
  auto first = open(facade_, {"/first", "ros"});
  const auto second = open(facade_, {"/second", "ros"});
  EXPECT_TRUE(say(first, 1));
  EXPECT_TRUE(say(first, 2));
  EXPECT_TRUE(say(second, 3));
  // Another process of the robot.
  RuntimeOptions same;
  same.domain = robot_.runtime().domain();
  HyphosGraph base(Node::open("base", same).or_throw(), types_, {});
  Heard at_base;
  const auto robot = on_message(base, client_, at_base);
  EXPECT_TRUE(eventually_hears(at_base, R"({"parts":[{"x":2},{"x":3}]})"));
  // Its messages reach ROS without the messages from ROS. Other clients get both.
  const auto third = open(base, {"base"});
  EXPECT_TRUE(say(third, 4));
  Heard in_ros;
  const auto inside = on_message(facade_, {"/late", "ros"}, in_ros);
  EXPECT_EQ(in_ros.wait(1).back(), R"({"parts":[{"x":4}]})");
  Heard outside;
  const auto page = on_message(facade_, client_, outside);
  EXPECT_EQ(outside.wait(1).back().size(),
            std::string(R"({"parts":[{"x":2},{"x":3},{"x":4}]})").size());
  first.reset();
  EXPECT_TRUE(say(second, 5));
  EXPECT_TRUE(eventually_hears(outside, R"({"parts":[{"x":4},{"x":5}]})"));
}

TEST_F(HyphosGraphTest, late_subscribers_get_the_last_of_each_latched_publisher) {
  const auto say = [](const std::unique_ptr<ClientPublisher>& publisher, int number) {
    return publisher->publish(bytes_of(R"({"x":)" + std::to_string(number) + "}"));
  };
  const auto open = [](HyphosGraph& facade, const std::string& name) {
    return facade.topics()
        .open_publisher({name, "ros"}, "/part", "made/Part", Form::json, {.latched = true})
        .or_throw();
  };
  const auto on_message = [](HyphosGraph& facade, Heard& heard) {
    return facade.topics()
        .open_subscription({"test"}, "/part", "made/Part", Form::json, {}, heard.take())
        .or_throw();
  };
  using Texts = std::vector<std::string>;
  auto first = open(facade_, "/first");
  const auto second = open(facade_, "/second");
  EXPECT_TRUE(say(first, 1));
  EXPECT_TRUE(say(second, 2));
  EXPECT_TRUE(say(first, 3));
  // A node of another process, and clients of its gateway that connect one after the other.
  RuntimeOptions same;
  same.domain = robot_.runtime().domain();
  HyphosGraph base(Node::open("base", same).or_throw(), types_, {});
  Heard at_once;
  const auto one = on_message(base, at_once);
  EXPECT_EQ(at_once.wait(2), (Texts{R"({"x":2})", R"({"x":3})"}));
  Heard later;
  const auto two = on_message(base, later);
  EXPECT_EQ(later.wait(2), (Texts{R"({"x":2})", R"({"x":3})"}));
  // A publisher that ended and was opened again.
  first.reset();
  first = open(facade_, "/first");
  EXPECT_TRUE(say(first, 4));
  EXPECT_TRUE(eventually_hears(later, R"({"x":4})"));
  Heard last;
  const auto three = on_message(facade_, last);
  EXPECT_EQ(last.wait(2), (Texts{R"({"x":2})", R"({"x":4})"}));
  Heard elsewhere;
  HyphosGraph third(Node::open("third", same).or_throw(), types_, {});
  const auto four = on_message(third, elsewhere);
  EXPECT_EQ(elsewhere.wait(2), (Texts{R"({"x":2})", R"({"x":4})"}));
}

TEST_F(HyphosGraphTest, a_topic_lists_the_client_as_its_publisher) {
  const auto publisher =
      facade_.topics().open_publisher({"/talker"}, "/part", "made/Part", Form::json, {}).or_throw();
  const auto topics = facade_.topics().list();
  const auto part = std::find_if(topics.begin(), topics.end(),
                                 [](const TopicInfo& topic) { return topic.topic == "/part"; });
  ASSERT_NE(part, topics.end());
  EXPECT_EQ(part->publishers, std::vector<std::string>{"/talker"});
}

TEST_F(HyphosGraphTest, a_closed_service_leaves_no_endpoints_behind) {
  Node node = robot_.runtime().node("serving").or_throw();
  const TypeId scan = type_support<msgs::LaserScan>().id;
  const std::size_t before = robot_.runtime().endpoints().size();
  for (int round = 0; round < 5; ++round) {
    const Service server =
        node.raw_service("scanned", service_type(scan, scan), {}, [](const RawRequest&) {})
            .or_throw();
    EXPECT_GT(robot_.runtime().endpoints().size(), before);
    server.close();
    EXPECT_EQ(robot_.runtime().endpoints().size(), before);
  }
}

TEST_F(HyphosGraphTest, a_client_subscription_may_end_itself_in_its_callback) {
  std::unique_ptr<ClientSubscription> subscription;
  std::promise<void> ended;
  subscription = facade_.topics()
                     .open_subscription(client_, "/part", "made/Part", Form::json, {},
                                        [&](const OutgoingMessage&) {
                                          subscription.reset();
                                          ended.set_value();
                                        })
                     .or_throw();
  const auto publisher =
      facade_.topics().open_publisher(client_, "/part", "made/Part", Form::json, {}).or_throw();
  ASSERT_TRUE(publisher->publish(bytes_of("{}")));
  EXPECT_EQ(ended.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
}

TEST_F(HyphosGraphTest, the_error_of_an_unknown_type_suggests_a_similar_one) {
  const auto publisher =
      facade_.topics().open_publisher(client_, "/a", "other/Part", Form::json, {});
  ASSERT_FALSE(publisher);
  EXPECT_EQ(publisher.error().code, Code::not_found);
  EXPECT_TRUE(has(publisher.error().message, "Did you mean 'made/"));
}

TEST_F(HyphosGraphTest, the_error_of_a_channel_of_another_type_names_that_type) {
  const auto scans = robot_.publisher<msgs::LaserScan>("scan");
  const auto subscription = facade_.topics().open_subscription(client_, "/scan", "made/Part",
                                                               Form::json, {}, [](auto&&) {});
  ASSERT_FALSE(subscription);
  EXPECT_EQ(subscription.error().code, Code::type_mismatch);
  EXPECT_TRUE(has(subscription.error().message, "hyphos.msgs.LaserScan"));
}

TEST_F(HyphosGraphTest, clients_of_one_group_do_not_hear_each_other) {
  const Client talker{"/talker", "ros"};
  const Client listener{"/listener", "ros"};
  Heard inside;
  Heard outside;
  const auto in =
      facade_.topics().open_publisher(talker, "/part", "made/Part", Form::json, {}).or_throw();
  const auto inner =
      facade_.topics()
          .open_subscription(listener, "/part", "made/Part", Form::json, {}, inside.take())
          .or_throw();
  const auto outer =
      facade_.topics()
          .open_subscription(client_, "/part", "made/Part", Form::json, {}, outside.take())
          .or_throw();
  EXPECT_TRUE(in->publish(bytes_of(R"({"x":1})")));
  EXPECT_EQ(outside.wait(1).size(), 1U);
  const auto other =
      facade_.topics().open_publisher(client_, "/part", "made/Part", Form::json, {}).or_throw();
  EXPECT_TRUE(other->publish(bytes_of(R"({"x":2})")));
  EXPECT_EQ(inside.wait(1), std::vector<std::string>{R"({"x":2})"});
  const auto topics = facade_.topics().list();
  const auto part = std::find_if(topics.begin(), topics.end(),
                                 [](const TopicInfo& topic) { return topic.topic == "/part"; });
  ASSERT_NE(part, topics.end());
  EXPECT_EQ(part->publishers, (std::vector<std::string>{"/talker", "test"}));
  EXPECT_EQ(part->subscribers, (std::vector<std::string>{"/listener", "test"}));
  EXPECT_FALSE(part->latched);
}

TEST_F(HyphosGraphTest, a_group_does_not_get_its_own_latched_messages) {
  const Client talker{"/talker", "ros"};
  const auto in = facade_.topics()
                      .open_publisher(talker, "/part", "made/Part", Form::json, {.latched = true})
                      .or_throw();
  EXPECT_TRUE(in->publish(bytes_of(R"({"x":1})")));
  Heard inside;
  Heard outside;
  const auto inner = facade_.topics()
                         .open_subscription({"/listener", "ros"}, "/part", "made/Part", Form::json,
                                            {}, inside.take())
                         .or_throw();
  const auto outer =
      facade_.topics()
          .open_subscription(client_, "/part", "made/Part", Form::json, {}, outside.take())
          .or_throw();
  EXPECT_EQ(outside.wait(1), std::vector<std::string>{R"({"x":1})"});
  EXPECT_TRUE(in->publish(bytes_of(R"({"x":2})")));
  EXPECT_EQ(outside.wait(2).size(), 2U);
  const auto other =
      facade_.topics()
          .open_publisher(client_, "/part", "made/Part", Form::json, {.latched = true})
          .or_throw();
  EXPECT_TRUE(other->publish(bytes_of(R"({"x":3})")));
  EXPECT_EQ(inside.wait(1), std::vector<std::string>{R"({"x":3})"});
}

TEST(Types, the_text_of_a_type_includes_its_nested_types) {
  const auto types = sample_types();
  EXPECT_EQ(types->message("made/All").or_throw().text,
            "Part inner\n\n" + std::string(80, '=') + "\nMSG: made/Part\nint64 x\n\n" +
                std::string(80, '=') + "\nMSG: made/Nothing\n");
  EXPECT_EQ(types->message("made/msg/Many").or_throw().text,
            "made/msg/Part[] parts\n\n" + std::string(80, '=') + "\nMSG: made/msg/Part\nint64 x\n");
}

TEST(Types, type_names_of_ros1_and_ros2_are_mapped) {
  const auto types = sample_types();
  EXPECT_EQ(types->message("made/msg/Part").or_throw().name, "made/msg/Part");
  EXPECT_EQ(types->message("made/Part").or_throw().name, "made/Part");
  EXPECT_EQ(ros1_name("sensor_msgs/msg/Image"), "sensor_msgs/Image");
  EXPECT_EQ(types->ros_name("ros1.made.msg.Part", true), "made/msg/Part");
  EXPECT_EQ(types->ros_name("hyphos.msgs.PointCloud", false), "sensor_msgs/PointCloud2");
}

}  // namespace
}  // namespace hyphos::gateway
