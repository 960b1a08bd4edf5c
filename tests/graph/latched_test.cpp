#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/graph/harness.hpp"

// The last messages of a channel for late subscribers, and channels without endpoints.
namespace hyphos::graph::test {
namespace {

struct Number {
  std::int64_t value;
};

TEST(Latched, a_late_subscriber_gets_the_last_value_as_replayed) {
  OneGraph g;
  Policy p;
  p.latched = true;
  auto pub = g.publisher<Number>("n", p);
  pub.publish({1});
  pub.publish({2});
  std::vector<std::pair<std::int64_t, bool>> got;
  auto sub = g.subscribe<Number>(
      "n", inline_, [&](const Message<Number>& m) { got.emplace_back(m->value, m.replayed()); });
  pub.publish({3});
  EXPECT_EQ(got, (std::vector<std::pair<std::int64_t, bool>>{{2, true}, {3, false}}));
  EXPECT_EQ(sub->trace().info().latency.count, 1U);  // an old value is not part of the latency
}

TEST(Latched, the_first_publisher_makes_a_channel_latched) {
  OneGraph g;
  std::vector<std::int64_t> got;
  const auto hear = [&](const Message<Number>& m) { got.push_back(m->value); };
  g.subscribe<Number>("n", inline_, hear);
  Policy p;
  p.latched = true;
  auto pub = g.publisher<Number>("n", p);
  pub.publish({1});
  EXPECT_TRUE(g.graph.list().front().policy.latched);
  g.subscribe<Number>("n", inline_, hear);
  EXPECT_EQ(got, (std::vector<std::int64_t>{1, 1}));
}

TEST(Unused, a_channel_without_endpoints_adopts_the_next_policy) {
  OneGraph g;
  {
    auto pub = g.publisher<Number>("n", policy(Overflow::drop_newest, 3));
  }
  EXPECT_TRUE(g.graph.list().empty());
  auto pub = g.publisher<Number>("n", policy(Overflow::drop_oldest, 5));
  EXPECT_EQ(g.graph.list().front().policy, policy(Overflow::drop_oldest, 5));
  const auto other = g.graph.publisher("n", type_support<std::int64_t>(), {}, Scope::network, "a");
  EXPECT_EQ(other.error().code, Code::type_mismatch);
  pub = {};
  EXPECT_TRUE(g.graph.publisher("n", type_support<std::int64_t>(), {}, Scope::network, "a"));
}

TEST(Unused, a_channel_stays_closed_after_its_endpoints_are_gone) {
  OneGraph g;
  {
    auto pub = g.publisher<Number>("n");
  }
  {
    auto pub = g.publisher<Number>("m");
  }
  auto pub = g.publisher<Number>("n");
  ASSERT_TRUE(g.graph.with_channel("n", [](Channel& one) { one.set_open(Where::nowhere); }).ok());
  pub = {};
  {
    auto another = g.publisher<Number>("k");
  }
  EXPECT_EQ(g.graph.channels(), std::vector<std::string>{"n"});
  pub = g.publisher<Number>("n", policy(Overflow::drop_newest, 3));
  EXPECT_FALSE(pub.publish({1}));
}

TEST(Unused, last_messages_are_kept_for_a_bounded_number_of_channels) {
  OneGraph g;
  Policy p;
  p.latched = true;
  for (int number = 0; number < 1000; ++number) {
    g.publisher<Number>("n" + std::to_string(number), p).publish({number});
  }
  std::vector<std::int64_t> got;
  const auto hear = [&](const Message<Number>& m) { got.push_back(m->value); };
  g.subscribe<Number>("n999", inline_, hear);
  g.subscribe<Number>("n0", inline_, hear, p);
  EXPECT_EQ(got, std::vector<std::int64_t>{999});
}

TEST(Unused, endpoints_that_open_and_close_concurrently_match) {
  OneGraph g(4);
  std::atomic<int> got = 0;
  const auto churn = [&] {
    for (int number = 0; number < 2000; ++number) {
      auto made = g.graph.subscribe(
          "n", type_support<Number>(), {}, Scope::local, Mode::inline_, false, "node",
          detail::typed_callback<Number>([&](const Message<Number>&) { ++got; }));
      auto pub = g.publisher<Number>("n", policy(Overflow::drop_newest, 1 + number % 3));
      EXPECT_GE(pub.publish({1}).accepted, 1U);
      (*made)->close();
    }
  };
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) threads.emplace_back(churn);
  for (auto& thread : threads) thread.join();
  EXPECT_GE(got, 4 * 2000);
  EXPECT_TRUE(g.graph.channels().empty());
}

TEST(Latched, a_late_subscriber_gets_the_last_value_of_each_publisher) {
  OneGraph g;
  Policy p;
  p.latched = true;
  auto first = g.publisher<Number>("n", p);
  auto second = g.publisher<Number>("n", p);
  auto third = g.publisher<Number>("n", p);
  first.publish({1});
  second.publish({20});
  third.publish({300});
  first.publish({2});
  std::vector<std::int64_t> got;
  g.subscribe<Number>("n", inline_, [&](const Message<Number>& m) { got.push_back(m->value); });
  EXPECT_EQ(got, (std::vector<std::int64_t>{20, 300, 2})) << "the newest last";
  got.clear();
  second = {};
  g.subscribe<Number>("n", inline_, [&](const Message<Number>& m) { got.push_back(m->value); });
  EXPECT_EQ(got, (std::vector<std::int64_t>{300, 2}));
}

TEST(Latched, a_late_subscriber_gets_all_values_beyond_its_depth) {
  OneGraph g;
  Policy p;
  p.latched = true;
  p.depth = 2;
  std::vector<Publisher<Number>> all;
  for (int number = 1; number <= 4; ++number) {
    all.push_back(g.publisher<Number>("n", p));
    all.back().publish({number});
  }
  std::vector<std::int64_t> got;
  g.subscribe<Number>("n", inline_, [&](const Message<Number>& m) { got.push_back(m->value); });
  EXPECT_EQ(got, (std::vector<std::int64_t>{1, 2, 3, 4}));
}

TEST(Latched, the_next_message_replaces_the_value_of_an_ended_publisher) {
  OneGraph g;
  Policy p;
  p.latched = true;
  std::vector<std::int64_t> got;
  const auto hear = [&](const Message<Number>& m) { got.push_back(m->value); };
  g.publisher<Number>("n", p).publish({1});
  g.subscribe<Number>("n", inline_, hear);
  EXPECT_EQ(got, std::vector<std::int64_t>{1});
  auto pub = g.publisher<Number>("n", p);
  pub.publish({2});
  got.clear();
  g.subscribe<Number>("n", inline_, hear);
  EXPECT_EQ(got, std::vector<std::int64_t>{2});
}

TEST(Latched, with_a_depth_a_late_subscriber_gets_the_last_values_in_order) {
  OneGraph g;
  Policy p;
  p.latched = true;
  p.latched_depth = 3;
  p.depth = 1;
  auto pub = g.publisher<Number>("n", p);
  for (std::int64_t value = 1; value <= 5; ++value) pub.publish({value});
  for (const Mode mode : {inline_, serial}) {
    std::vector<std::int64_t> got;
    const auto sub =
        g.subscribe<Number>("n", mode, [&](const Message<Number>& m) { got.push_back(m->value); });
    g.graph.settle({});
    EXPECT_EQ(got, (std::vector<std::int64_t>{3, 4, 5})) << to_string(mode);
    sub->close();
  }
  EXPECT_EQ(g.graph.list().front().policy.latched_depth, 3U);
}

/// A subscription that joins while values are published gets the older ones first, and none twice.
TEST(Latched, a_subscriber_that_joins_meanwhile_misses_no_value_and_keeps_the_order) {
  OneGraph g(4);
  Policy p = reliable_policy(1000);
  p.latched = true;
  p.latched_depth = 8;
  auto pub = g.publisher<Number>("n", p);
  std::atomic<bool> enough{false};
  std::atomic<std::int64_t> last{0};
  std::thread talker([&] {
    while (!enough) {
      const std::int64_t next = last + 1;
      pub.publish({next});
      last = next;
    }
  });
  for (int round = 0; round < 200; ++round) {
    Arrivals got;
    const auto sub = g.subscribe<Number>("n", round % 2 == 0 ? inline_ : serial,
                                         [&](const Message<Number>& m) { got.add(m->value); });
    ASSERT_TRUE(got.wait_for(20));
    sub->close();
    const std::vector<std::int64_t> values = got.values();
    for (std::size_t i = 1; i < values.size(); ++i) ASSERT_EQ(values[i], values[i - 1] + 1);
  }
  enough = true;
  talker.join();
}

TEST(Latched, another_depth_than_that_of_the_first_publisher_is_refused_with_a_warning) {
  OneGraph g;
  Policy p;
  p.latched = true;
  p.latched_depth = 3;
  auto first = g.publisher<Number>("n", p);
  p.latched_depth = 5;
  auto second = g.publisher<Number>("n", p);
  EXPECT_EQ(g.graph.list().front().policy.latched_depth, 3U);
}

/// The callback runs without a lock of the channel, so it may open and close endpoints of the
/// channel.
TEST(Latched, an_inline_callback_may_subscribe_again) {
  OneGraph g;
  Policy p;
  p.latched = true;
  auto pub = g.publisher<Number>("n", p);
  pub.publish({1});
  int inner = 0;
  g.subscribe<Number>("n", inline_, [&](const Message<Number>&) {
    g.subscribe<Number>("n", inline_, [&](const Message<Number>&) { ++inner; });
  });
  EXPECT_EQ(inner, 1);
}

TEST(Latched, a_channel_that_is_not_latched_keeps_no_value) {
  Arrivals got;
  OneGraph g;
  g.publisher<Number>("n").publish({1});
  g.subscribe<Number>("n", inline_, [&](const Message<Number>&) { got.add(); });
  EXPECT_EQ(got.count(), 0U);
}

}  // namespace
}  // namespace hyphos::graph::test
