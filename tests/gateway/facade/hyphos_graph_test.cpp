#include "gateway/facade/hyphos_graph.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "gateway/facade/channel_names.hpp"
#include "hyphos/hyphos.hpp"
#include "hyphos/msgs/sensor.pb.h"
#include "tests/gateway/convert/sample.hpp"
#include "tests/gateway/heard.hpp"

namespace hyphos::gateway {
namespace {

/// Succeeds if `text` contains `part`. A failure shows both.
testing::AssertionResult has(std::string_view text, std::string_view part) {
  if (text.find(part) != std::string_view::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no '" << part << "' in '" << text << "'";
}

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

/// A process with the graph facade and a node of the robot.
class HyphosGraphTest : public testing::Test {
 protected:
  static RuntimeOptions alone() {
    static int count = 0;
    RuntimeOptions options;
    options.domain = "door" + std::to_string(getpid()) + "_" + std::to_string(++count);
    return options;
  }
  HyphosGraph facade_with(Rules rules) {
    return {robot_.runtime().node("other").or_throw(), types_, std::move(rules)};
  }

  Node robot_ = Node::open("robot", alone()).or_throw();
  std::shared_ptr<Types> types_ = sample_types();
  HyphosGraph facade_{robot_.runtime().node("gateway").or_throw(), types_, {}};
  const Client client_{"test"};
};

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

TEST_F(HyphosGraphTest, rules_are_enforced) {
  Rules rules;
  rules.publish.deny = {"secret/*"};
  rules.subscribe.allow = {"open"};
  HyphosGraph facade = facade_with(rules);
  const auto publisher =
      facade.topics().open_publisher(client_, "/secret/part", "made/Part", Form::json, {});
  ASSERT_FALSE(publisher);
  EXPECT_EQ(publisher.error().code, Code::permission);
  EXPECT_TRUE(facade.topics().open_publisher(client_, "/part", "made/Part", Form::json, {}));
  EXPECT_FALSE(facade.topics().open_subscription(client_, "/part", "made/Part", Form::json, {},
                                                 [](auto&&) {}));
}

TEST_F(HyphosGraphTest, messages_above_the_rate_limit_are_refused_and_counted) {
  Rules rules;
  rules.rate_hz = 2;
  HyphosGraph facade = facade_with(rules);
  const auto publisher =
      facade.topics().open_publisher(client_, "/part", "made/Part", Form::json, {}).or_throw();
  constexpr int kAll = 200;
  const Time begin = monotonic_now();
  EXPECT_TRUE(publisher->publish(bytes_of("{}")));
  EXPECT_TRUE(publisher->publish(bytes_of("{}")));
  int let = 2;  // The initial messages, and those that the rate allows meanwhile.
  for (int i = let; i < kAll; ++i) let += publisher->publish(bytes_of("{}")) ? 1 : 0;
  EXPECT_LE(let, 2 + rules.rate_hz * (monotonic_now() - begin).seconds());
  EXPECT_EQ(facade.counters().at("drop.gateway.rate"), static_cast<std::uint64_t>(kAll - let));
}

TEST_F(HyphosGraphTest, a_rate_limit_covers_all_operations_of_a_client) {
  Rules rules;
  rules.rate_hz = 0.001;  // one message, and no more during the test
  HyphosGraph facade = facade_with(rules);
  const auto publish = [&](const Client& client, const std::string& topic) {
    return facade.topics()
        .open_publisher(client, topic, "made/Part", Form::json, {})
        .or_throw()
        ->publish(bytes_of("{}"));
  };
  EXPECT_TRUE(publish(client_, "/one"));
  EXPECT_EQ(publish(client_, "/one").error().code, Code::permission) << "advertised again";
  EXPECT_EQ(publish(client_, "/two").error().code, Code::permission) << "another topic";
  std::promise<Result<Buffer>> end;
  facade.services().call(client_, "/add", "made/Add", Form::json, bytes_of("{}"),
                         Duration::from_seconds(30),
                         [&](Result<Buffer> answer) { end.set_value(std::move(answer)); });
  EXPECT_EQ(end.get_future().get().error().code, Code::permission);
  EXPECT_EQ(facade.counters().at("drop.gateway.rate"), 3U);
  EXPECT_TRUE(publish({"another"}, "/one"));
  // Quotas of clients that have left are removed, but only after they have refilled.
  for (int number = 0; number < 1000; ++number) {
    EXPECT_TRUE(publish({"client" + std::to_string(number)}, "/one"));
  }
  EXPECT_FALSE(publish(client_, "/one"));
}

TEST_F(HyphosGraphTest, rules_may_differ_between_clients) {
  Rules rules;
  rules.rate_hz = 0.001;
  Rules viewer = rules;
  viewer.publish.allow = {};
  viewer.call.allow = {};
  Rules driver;
  driver.subscribe.deny = {"*"};
  driver.serve.deny = {"*"};
  rules.clients = {{"ros_tcp*10.0.0.6:*", viewer}, {"ros_tcp*10.0.0.*", driver}};
  HyphosGraph facade = facade_with(rules);
  const Client seeing{"ros_tcp 10.0.0.6:4000"};
  const Client driving{"ros_tcp 10.0.0.5:4000"};
  const auto code_of = [](const auto& result) {
    return result ? std::optional<Code>() : result.error().code;
  };
  const auto publishes = [&](const Client& client) {
    return facade.topics().open_publisher(client, "/part", "made/Part", Form::json, {});
  };
  const auto hears = [&](const Client& client) {
    return code_of(facade.topics().open_subscription(client, "/part", "made/Part", Form::json, {},
                                                     [](const OutgoingMessage&) {}));
  };
  const auto serves = [&](const Client& client) {
    return code_of(facade.services().open_server(client, "/add", "made/Add", Form::json,
                                                 [](const Buffer&, const Answer&) {}));
  };
  EXPECT_EQ(code_of(publishes(seeing)), Code::permission);
  EXPECT_EQ(hears(seeing), std::nullopt);
  EXPECT_EQ(serves(seeing), std::nullopt);
  EXPECT_EQ(hears(driving), Code::permission);
  EXPECT_EQ(serves(driving), Code::permission);
  const auto free = publishes(driving).or_throw();
  const auto bound = publishes(client_).or_throw();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(free->publish(bytes_of("{}")));
    EXPECT_EQ(static_cast<bool>(bound->publish(bytes_of("{}"))), i == 0);
  }
  std::promise<Result<Buffer>> end;
  facade.services().call(seeing, "/add", "made/Add", Form::json, bytes_of("{}"),
                         Duration::from_seconds(30),
                         [&](Result<Buffer> answer) { end.set_value(std::move(answer)); });
  EXPECT_EQ(end.get_future().get().error().code, Code::permission);
}

TEST_F(HyphosGraphTest, one_client_cannot_use_up_all_topics) {
  std::vector<std::unique_ptr<ClientPublisher>> publishers;
  const auto open = [&](const Client& client, const std::string& topic) -> Result<void> {
    auto publisher = facade_.topics().open_publisher(client, topic, "made/Part", Form::json, {});
    if (!publisher) return publisher.error();
    publishers.push_back(std::move(*publisher));
    return {};
  };
  const auto fill = [&](const Client& client) {
    const std::size_t before = publishers.size();
    for (int number = 0;; ++number) {
      const auto opened = open(client, "/" + client.name + std::to_string(number));
      if (opened) continue;
      EXPECT_EQ(opened.error().code, Code::overloaded);
      return publishers.size() - before;
    }
  };
  EXPECT_EQ(fill({"a"}), Limits().client_topics);
  EXPECT_EQ(fill({"b"}), Limits().client_topics);
  EXPECT_TRUE(open({"d"}, "/a0")) << "the topic exists";
  // The process itself and services are not limited.
  EXPECT_TRUE(robot_.raw_publisher("own", make_type_id("x", Encoding::custom)));
  publishers.clear();
  EXPECT_TRUE(open({"d"}, "/d"));
}

// Up to its limit, each operation succeeds. Beyond it, the error names the option, and the refusal
// is counted.
TEST_F(HyphosGraphTest, the_error_at_each_topic_limit_names_its_option) {
  struct Case {
    const char* option;
    std::size_t clients;  // Each client opens topics of its own until it is refused.
    std::size_t allowed;  // over all clients
    Limits limits;
  };
  for (const Case& one : {Case{"--max-topics ", 2, 5, {.topics = 5}},
                          Case{"--max-topics-per-client", 1, 3, {.client_topics = 3}},
                          Case{"--max-topics-per-client", 2, 6, {.client_topics = 3}}}) {
    Rules rules;
    rules.limits = one.limits;
    HyphosGraph facade(Node::open("limited", alone()).or_throw(), types_, rules);
    std::vector<std::unique_ptr<ClientPublisher>> publishers;
    std::string refusal;
    for (std::size_t client = 0; client < one.clients; ++client) {
      for (int number = 0; number < 8; ++number) {
        const Client asking{"c" + std::to_string(client)};
        auto publisher = facade.topics().open_publisher(
            asking, "/" + asking.name + std::to_string(number), "made/Part", Form::json, {});
        if (publisher) {
          publishers.push_back(std::move(*publisher));
        } else {
          EXPECT_EQ(publisher.error().code, Code::overloaded);
          refusal = publisher.error().message + " ";
        }
      }
    }
    EXPECT_EQ(publishers.size(), one.allowed) << one.option;
    EXPECT_TRUE(has(refusal, one.option)) << refusal;
    EXPECT_EQ(facade.counters().at("drop.gateway.topics"), one.clients * 8 - one.allowed);
  }
}

TEST_F(HyphosGraphTest, the_error_at_each_call_limit_names_its_option) {
  struct Case {
    const char* option;
    bool one_service;
    std::size_t allowed;
    Limits limits;
  };
  for (const Case& one : {Case{"--max-calls", true, 4, {.calls = 4}},
                          Case{"--max-services", false, 3, {.services = 3}},
                          Case{"--max-unserved ", false, 2, {.unserved = 2}},
                          Case{"--max-unserved-per-client", false, 5, {.client_unserved = 5}}}) {
    Rules rules;
    rules.limits = one.limits;
    std::mutex mutex;
    std::vector<std::string> refusals;
    HyphosGraph facade(Node::open("limited", alone()).or_throw(), types_, rules);
    constexpr std::size_t kCalls = 8;
    for (std::size_t number = 0; number < kCalls; ++number) {
      facade.services().call(client_, "/no" + std::to_string(one.one_service ? 0 : number),
                             "made/Add", Form::json, bytes_of("{}"), Duration::from_seconds(600),
                             [&](const Result<Buffer>& answer) {
                               const std::lock_guard lock(mutex);
                               if (!answer && answer.error().code == Code::overloaded) {
                                 refusals.push_back(answer.error().message + " ");
                               }
                             });
    }
    const std::lock_guard lock(mutex);
    ASSERT_EQ(refusals.size(), kCalls - one.allowed) << one.option;
    EXPECT_TRUE(has(refusals.front(), one.option)) << refusals.front();
    EXPECT_EQ(facade.counters().at("drop.gateway.calls"), refusals.size());
  }
}

TEST_F(HyphosGraphTest, names_of_services_without_a_server_leave_nothing_behind) {
  constexpr int kNames = 2000;
  const auto service_channels = [&] {
    return std::ranges::count_if(robot_.runtime().channels(), [](const ChannelInfo& channel) {
      return channel.name.starts_with(kServices);
    });
  };
  const auto before = service_channels();
  std::mutex mutex;
  std::condition_variable changed;
  int overloaded = 0;
  int all = 0;
  const auto call = [&](const Client& client, int number, Duration timeout) {
    facade_.services().call(client, "/no" + std::to_string(number), "made/Add", Form::json,
                            bytes_of("{}"), timeout, [&](const Result<Buffer>& answer) {
                              const std::lock_guard lock(mutex);
                              overloaded += answer.error().code == Code::overloaded ? 1 : 0;
                              ++all;
                              changed.notify_all();
                            });
  };
  const auto wait = [&](int count) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(60), [&] { return all >= count; });
  };
  for (int number = 0; number < kNames; ++number) call(client_, number, Duration::from_ms(200));
  ASSERT_TRUE(wait(kNames));
  EXPECT_EQ(facade_.counters().at("drop.gateway.calls"), static_cast<std::uint64_t>(overloaded));
  EXPECT_GE(overloaded, 1);
  EXPECT_LE(overloaded, kNames - static_cast<int>(Limits().client_unserved));
  // One after the other, each call runs until its timeout.
  overloaded = 0;
  for (int number = 0; number < 20; ++number) {
    call(client_, number, Duration::from_ms(1));
    ASSERT_TRUE(wait(kNames + number + 1));
  }
  EXPECT_LE(overloaded, 4);  // A call may end shortly before its slot is free.
  while (service_channels() > before) std::this_thread::yield();
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
