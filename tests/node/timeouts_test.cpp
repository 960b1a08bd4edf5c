// Timeouts of every size: the longest ones wait, and zero and negative ones do not.
#include <gtest/gtest.h>

#include <future>
#include <limits>
#include <string>

#include "hyphos/future.hpp"
#include "tests/node/service_pair.hpp"

namespace hyphos::test {
namespace {

constexpr Duration kLongest{std::numeric_limits<std::int64_t>::max()};
constexpr Duration kNone[] = {Duration{0}, Duration{-1}, Duration{-kLongest.ns}};

TEST(Timeouts, the_longest_ones_wait_for_a_server_and_its_reply) {
  Two two;
  const auto client = two.client.client<Number, Number>("square");
  auto found = std::async(std::launch::async, [&] { return client.wait_for_server(kLongest); });
  auto called = std::async(std::launch::async, [&] { return client.call({3}, kLongest); });
  auto asked = client.call_async({4}, kLongest);
  // A wait that ended too early would have ended by now.
  EXPECT_EQ(client.call({2}, Duration::from_ms(50)).error().code, Code::not_found);
  two.server.service<Number, Number>("square", square);
  EXPECT_TRUE(found.get().ok());
  EXPECT_EQ(called.get().or_throw().value, 9);
  EXPECT_EQ(asked.get().or_throw().value, 16);
}

TEST(Timeouts, no_time_is_enough_for_no_server) {
  Two two;
  const auto client = two.client.client<Number, Number>("square");
  for (const Duration none : kNone) {
    EXPECT_EQ(client.wait_for_server(none).error().code, Code::not_found) << none.ns;
    EXPECT_EQ(client.call({3}, none).error().code, Code::not_found) << none.ns;
    EXPECT_EQ(client.call_async({3}, none).get().error().code, Code::not_found) << none.ns;
  }
}

TEST(Timeouts, goals_are_awaited_for_any_time) {
  Arrivals begun;
  Two two;
  const auto client = two.client.action_client<Number, Number, Number>("count");
  for (const Duration none : kNone) {
    EXPECT_EQ(client.wait_for_server(none).error().code, Code::not_found) << none.ns;
    EXPECT_EQ(client.send({1}, none).accepted(kLongest).error().code, Code::not_found) << none.ns;
  }
  two.server.action<Number, Number, Number>(
      "count", {}, [&begun](const GoalHandle<Number, Number, Number>& goal) {
        for (const Duration none : kNone) EXPECT_FALSE(goal.wait_for(none));
        begun.add();
        EXPECT_TRUE(goal.wait_for(kLongest));
        EXPECT_TRUE(goal.canceled({7}).ok());
      });
  const auto sent = client.send({1}, kLongest);
  EXPECT_TRUE(sent.accepted(kLongest).ok());
  ASSERT_TRUE(begun.wait_for(1));
  for (const Duration none : kNone) EXPECT_EQ(sent.result(none).error().code, Code::timeout);
  auto result = std::async(std::launch::async, [&] { return sent.result(kLongest); });
  sent.cancel();
  EXPECT_EQ(result.get().or_throw().value.value, 7);
}

TEST(Timeouts, parameters_are_awaited_for_any_time) {
  Two two;
  const RemoteParams remote = two.client.remote_params("server");
  for (const Duration none : kNone) {
    EXPECT_EQ(remote.wait(none).error().code, Code::timeout) << none.ns;
    EXPECT_FALSE(remote.set("speed", 1.5, none).ok()) << none.ns;
  }
  auto waited = std::async(std::launch::async, [&] { return remote.wait(kLongest); });
  const auto speed = two.server.params().declare<double>("speed", {.value = 0.5});
  EXPECT_EQ(waited.get().or_throw().get<double>("speed"), 0.5);
  EXPECT_TRUE(remote.set("speed", 1.5, kLongest).ok());
  EXPECT_EQ(*speed, 1.5);
}

TEST(Timeouts, transforms_are_awaited_for_any_time) {
  Two two;
  const Transforms transforms = two.client.transforms();
  for (const Duration none : kNone) {
    EXPECT_FALSE(transforms.wait("map", "base", latest, none).get().ok()) << none.ns;
  }
  auto waited = transforms.wait("map", "base", latest, kLongest);
  ASSERT_TRUE(transforms.set(Transform{"map", "base", Time{1}}).ok());
  EXPECT_TRUE(waited.get().ok());
}

TEST(Timeouts, a_policy_may_have_the_longest_times) {
  Arrivals got;
  Two two;
  Policy policy;
  policy.depth = 1;
  policy.overflow = Overflow::block;
  policy.reliability = Reliability::reliable;
  policy.deadline_ms = kLongest.ns;
  policy.block_timeout_ms = kLongest.ns;
  SubscriptionOptions options;
  options.policy = policy;
  const auto subscription = two.client.subscribe<Number>(
      "count", options, [&](const Message<Number>& number) { got.add(number->value); });
  PublisherOptions publish;
  publish.policy = policy;
  const auto publisher = two.server.publisher<Number>("count", publish);
  ASSERT_TRUE(eventually([&] { return publisher.listeners() == 1; }));
  for (std::int64_t i = 0; i < 200; ++i) ASSERT_TRUE(publisher.publish(Number{i}));
  EXPECT_TRUE(got.wait_for(200));
}

}  // namespace
}  // namespace hyphos::test
