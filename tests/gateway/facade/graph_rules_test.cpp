// The rules of a gateway, and the limits of its clients.
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "gateway/facade/channel_names.hpp"
#include "hyphos/hyphos.hpp"
#include "tests/gateway/facade/hyphos_graph_test.hpp"
#include "tests/gateway/heard.hpp"

namespace hyphos::gateway {
namespace {

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

}  // namespace
}  // namespace hyphos::gateway
