#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "tests/node/harness.hpp"

namespace hyphos::test {
namespace {

Policy lifespan(std::int64_t ms) {
  Policy policy;
  policy.lifespan_ms = ms;
  return policy;
}

std::uint64_t counter(const Node& node, std::string_view name) {
  std::uint64_t sum = 0;
  for (const EndpointInfo& end : node.runtime().endpoints()) {
    if (!end.is_publisher && end.channel == "n") sum += end.counter(name);
  }
  return sum;
}

void wait_until_older(Time published, std::int64_t ms) {
  EXPECT_TRUE(eventually([&] { return monotonic_now() - published > Duration::from_ms(ms); }));
}

/// Publishes `value` until `node` received it once. A value that the scheduler delayed beyond its
/// lifespan is counted, and the next one follows. No other message may be in flight.
bool publish_until_received(const Publisher<Number>& numbers, const Node& node,
                            std::int64_t value) {
  const auto settled = [&] {
    return counter(node, "received") + counter(node, "drop.queue.expired");
  };
  const std::uint64_t received = counter(node, "received");
  while (counter(node, "received") == received) {
    const std::uint64_t before = settled();
    numbers.publish({value});
    if (!eventually([&] { return settled() > before; })) return false;
  }
  return true;
}

TEST(Lifespan, a_message_that_waited_too_long_is_dropped_and_counted) {
  std::vector<std::int64_t> got;  // outlives the callback, as `go` does
  std::atomic<bool> go{false};
  const Node node = Node::open("late", offline_options()).or_throw();
  const auto numbers = node.publisher<Number>("n", {.policy = lifespan(20)});
  node.subscribe<Number>("n", serial, [&](const Message<Number>& number) {
    got.push_back(number->value);
    (void)eventually([&] { return go.load(); });
  });
  ASSERT_TRUE(publish_until_received(numbers, node, 1));
  const std::uint64_t expired = counter(node, "drop.queue.expired");
  const Time published = monotonic_now();
  for (const std::int64_t value : {2, 3}) numbers.publish({value});
  wait_until_older(published, 40);
  go = true;
  ASSERT_TRUE(eventually([&] { return counter(node, "drop.queue.expired") == expired + 2; }));
  ASSERT_TRUE(publish_until_received(numbers, node, 4));
  node.close();
  EXPECT_EQ(got, (std::vector<std::int64_t>{1, 4}));
}

TEST(Lifespan, a_late_subscriber_gets_no_expired_latched_message) {
  const std::string domain = fresh_domain();
  for (const bool other_process : {false, true}) {
    SCOPED_TRACE(other_process);
    Arrivals got;  // outlives the callback
    const Runtime from = open_runtime(domain, "from");
    Runtime to = other_process ? open_runtime(domain, "to") : from;
    const Node sender = Runtime(from).node("sender").or_throw();
    const Node receiver = to.node("receiver").or_throw();
    Policy policy = lifespan(50);
    policy.latched = true;
    policy.latched_depth = 3;
    const auto numbers = sender.publisher<Number>("n", {.policy = policy});
    const Time published = monotonic_now();
    for (const std::int64_t value : {1, 2, 3}) numbers.publish({value});
    wait_until_older(published, 100);
    SubscriptionOptions how;
    how.policy = policy;
    receiver.subscribe<Number>("n", how,
                               [&](const Message<Number>& number) { got.add(number->value); });
    ASSERT_TRUE(eventually([&] { return counter(receiver, "drop.queue.expired") == 3; }));
    ASSERT_TRUE(publish_until_received(numbers, receiver, 4));
    ASSERT_TRUE(eventually([&] { return got.count() == 1; }));
    EXPECT_EQ(got.values(), (std::vector<std::int64_t>{4}));
    sender.close();
    receiver.close();
  }
}

TEST(Lifespan, an_inline_subscription_drops_expired_messages_as_well) {
  const Node node = Node::open("late", offline_options()).or_throw();
  Policy policy = lifespan(20);
  policy.latched = true;
  const auto numbers = node.publisher<Number>("n", {.policy = policy});
  const Time published = monotonic_now();
  numbers.publish({1});
  wait_until_older(published, 40);
  std::vector<std::int64_t> got;
  node.subscribe<Number>("n", inline_,
                         [&](const Message<Number>& number) { got.push_back(number->value); });
  EXPECT_EQ(counter(node, "drop.queue.expired"), 1U);
  ASSERT_TRUE(publish_until_received(numbers, node, 2));
  EXPECT_EQ(got, (std::vector<std::int64_t>{2}));
}

TEST(Lifespan, lock_step_runs_ignore_it) {
  RuntimeOptions options;
  options.lockstep = true;
  const Node node = Node::open("steps", options).or_throw();
  Policy policy = lifespan(1);
  policy.latched = true;
  const auto numbers = node.publisher<Number>("n", {.policy = policy});
  const Time published = monotonic_now();
  numbers.publish({1});
  wait_until_older(published, 5);
  int got = 0;
  node.subscribe<Number>("n", serial, [&](const Message<Number>&) { ++got; });
  node.runtime().settle();
  EXPECT_EQ(got, 1);
}

TEST(Lifespan, a_policy_out_of_range_is_refused) {
  const Node node = Node::open("late", offline_options()).or_throw();
  EXPECT_THROW((void)node.publisher<Number>("n", {.policy = lifespan(-1)}), Exception);
  for (const std::uint32_t depth : {0U, kMaxLatchedDepth + 1}) {
    Policy policy;
    policy.latched = true;
    policy.latched_depth = depth;
    EXPECT_THROW((void)node.publisher<Number>("n", {.policy = policy}), Exception);
  }
}

}  // namespace
}  // namespace hyphos::test
