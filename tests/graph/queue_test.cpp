#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "tests/graph/harness.hpp"

namespace hyphos::graph::test {
namespace {

struct Number {
  std::int64_t value;
};

TEST(Serial, serial_messages_arrive_one_at_a_time_and_in_order) {
  Arrivals got;
  OneGraph g(4);
  std::atomic<int> inside{0};
  std::atomic<bool> overlapped{false};
  auto policy_all = policy(Overflow::block, 16);
  g.subscribe<Number>(
      "n", serial,
      [&](const Message<Number>& m) {
        if (inside.fetch_add(1) != 0) overlapped = true;
        got.add(m->value);
        inside.fetch_sub(1);
      },
      policy_all);
  auto pub = g.publisher<Number>("n", policy_all);
  for (int i = 0; i < 5000; ++i) ASSERT_TRUE(pub.publish({i}));
  ASSERT_TRUE(got.wait_for(5000));
  const auto values = got.values();
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(values[static_cast<std::size_t>(i)], i);
  EXPECT_FALSE(overlapped);
}

TEST(Concurrent, concurrent_callbacks_overlap) {
  Gate gate;
  Arrivals got;
  OneGraph g(3);
  g.subscribe<Number>("n", concurrent, [&](const Message<Number>& m) {
    gate.pass();
    got.add(m->value);
  });
  auto pub = g.publisher<Number>("n");
  for (int i = 0; i < 3; ++i) pub.publish({i});
  gate.wait_for_waiting(3);  // all three are inside at once
  gate.open();
  EXPECT_TRUE(got.wait_for(3));
}

TEST(Inline, a_callback_runs_in_the_publisher_before_publish_returns) {
  OneGraph g;
  std::thread::id where;
  g.subscribe<Number>("n", inline_,
                      [&](const Message<Number>&) { where = std::this_thread::get_id(); });
  g.publisher<Number>("n").publish({1});
  EXPECT_EQ(where, std::this_thread::get_id());
}

/// Publishes while the only worker waits at a gate, so that the queue fills exactly.
struct Held {
  explicit Held(Policy p) : g(1), pub(g.publisher<Number>("n", p)) {
    sub = g.subscribe<Number>(
        "n", serial,
        [this](const Message<Number>& m) {
          gate.pass();
          got.add(m->value);
        },
        p);
    pub.publish({0});
    gate.wait_for_waiting(1);
  }
  OneGraph g;
  Gate gate;
  Arrivals got;
  Publisher<Number> pub;
  std::shared_ptr<Subscriber> sub;
};

TEST(Overflow, drop_oldest_keeps_the_newest_and_counts) {
  Held h(policy(Overflow::drop_oldest, 3));
  std::uint32_t dropped = 0;
  for (int i = 1; i <= 10; ++i) dropped += h.pub.publish({i}).dropped;
  h.gate.open();
  ASSERT_TRUE(h.got.wait_for(4));
  EXPECT_EQ(h.got.values(), (std::vector<std::int64_t>{0, 8, 9, 10}));
  EXPECT_EQ(dropped, 7U);
  EXPECT_EQ(counter(*h.sub, "drop.queue.overflow"), 7U);
}

TEST(Overflow, drop_newest_keeps_the_oldest_and_counts) {
  Held h(policy(Overflow::drop_newest, 3));
  std::uint32_t dropped = 0;
  for (int i = 1; i <= 10; ++i) dropped += h.pub.publish({i}).dropped;
  h.gate.open();
  ASSERT_TRUE(h.got.wait_for(4));
  EXPECT_EQ(h.got.values(), (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(dropped, 7U);
  EXPECT_EQ(counter(*h.sub, "drop.queue.overflow"), 7U);
}

TEST(Overflow, block_makes_the_publisher_wait_for_room) {
  Held h(policy(Overflow::block, 2));
  ASSERT_TRUE(h.pub.publish({1}));
  ASSERT_TRUE(h.pub.publish({2}));
  std::atomic<bool> through{false};
  std::thread publisher([&] {
    EXPECT_TRUE(h.pub.publish({3}));
    through = true;
  });
  EXPECT_FALSE(through);
  h.gate.open();
  publisher.join();
  EXPECT_TRUE(through);
  ASSERT_TRUE(h.got.wait_for(4));
  EXPECT_EQ(h.got.values(), (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(counter(*h.sub, "drop.queue.overflow"), 0U);
}

TEST(Overflow, has_room_is_false_if_block_would_wait) {
  Held h(policy(Overflow::block, 2));
  EXPECT_TRUE(h.pub.has_room(0));
  ASSERT_TRUE(h.pub.publish({1}));
  EXPECT_TRUE(h.pub.has_room(0));
  ASSERT_TRUE(h.pub.publish({2}));
  EXPECT_FALSE(h.pub.has_room(0));
  h.gate.open();
  ASSERT_TRUE(h.got.wait_for(3));
  EXPECT_TRUE(h.pub.has_room(0));
}

TEST(Overflow, has_room_is_false_if_a_full_queue_would_drop) {
  for (const Overflow overflow : {Overflow::drop_oldest, Overflow::drop_newest}) {
    Held h(policy(overflow, 2));
    EXPECT_TRUE(h.pub.has_room(0));
    ASSERT_TRUE(h.pub.publish({1}));
    EXPECT_TRUE(h.pub.has_room(0));
    ASSERT_TRUE(h.pub.publish({2}));
    EXPECT_FALSE(h.pub.has_room(0));
    EXPECT_EQ(counter(*h.sub, "drop.queue.overflow"), 0U);
    h.pub.publish({3});
    EXPECT_EQ(counter(*h.sub, "drop.queue.overflow"), 1U);
    h.gate.open();
    ASSERT_TRUE(h.got.wait_for(3));
    EXPECT_TRUE(h.pub.has_room(0));
  }
}

TEST(Overflow, block_returns_timeout_after_its_timeout) {
  Policy p = policy(Overflow::block, 1);
  p.block_timeout_ms = 20;
  Held h(p);
  ASSERT_TRUE(h.pub.publish({1}));
  const Published late = h.pub.publish({2});
  EXPECT_EQ(late.failure, Code::timeout);
  EXPECT_EQ(late.dropped, 1U);
  EXPECT_EQ(counter(*h.sub, "drop.queue.timeout"), 1U);
  h.gate.open();
  ASSERT_TRUE(h.got.wait_for(2));
}

TEST(Overflow, a_publisher_blocked_on_a_worker_runs_the_waiting_callbacks) {
  Arrivals got;
  // One worker handles a message and publishes into a full queue. Only the blocked publisher itself
  // can empty that queue.
  OneGraph g(1);
  const Policy p = policy(Overflow::block, 2);
  g.subscribe<Number>("b", serial, [&](const Message<Number>& m) { got.add(m->value); }, p);
  auto to_b = g.publisher<Number>("b", p);
  g.subscribe<Number>(
      "a", serial,
      [&](const Message<Number>& m) {
        for (int i = 0; i < 20; ++i) to_b.publish({m->value * 100 + i});
      },
      p);
  auto to_a = g.publisher<Number>("a", p);
  to_a.publish({1});
  to_a.publish({2});
  ASSERT_TRUE(got.wait_for(40));
  const auto values = got.values();
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
}

TEST(Overflow, a_slow_subscriber_does_not_slow_or_starve_another) {
  Gate gate;
  Arrivals slow;
  Arrivals fast;
  OneGraph g(2);
  const Policy p = policy(Overflow::drop_oldest, 1);
  g.subscribe<Number>(
      "n", serial,
      [&](const Message<Number>&) {
        gate.pass();
        slow.add();
      },
      p);
  g.subscribe<Number>("n", serial, [&](const Message<Number>& m) { fast.add(m->value); }, p);
  auto pub = g.publisher<Number>("n", p);
  pub.publish({0});
  gate.wait_for_waiting(1);
  ASSERT_TRUE(fast.wait_for(1));
  for (std::size_t i = 1; i <= 50; ++i) {
    pub.publish({static_cast<std::int64_t>(i)});
    ASSERT_TRUE(fast.wait_for(i + 1));
  }
  gate.open();
  EXPECT_TRUE(slow.wait_for(2));
}

/// A channel with any number of waiting messages yields to another one after its fair share.
TEST(Fairness, a_busy_channel_yields_after_its_fair_share) {
  Gate gate;
  Arrivals order;
  OneGraph g(1);
  const Policy deep = policy(Overflow::drop_oldest, 1000);
  g.subscribe<Number>("hold", serial, [&](const Message<Number>&) { gate.pass(); });
  g.subscribe<Number>("busy", serial, [&](const Message<Number>&) { order.add(0); }, deep);
  for (const char* quick : {"one", "two"}) {
    g.subscribe<Number>(quick, serial, [&](const Message<Number>& m) { order.add(m->value); });
  }
  g.publisher<Number>("hold").publish({0});
  gate.wait_for_waiting(1);  // the only thread, so further messages wait
  auto busy = g.publisher<Number>("busy", deep);
  for (int i = 0; i < 500; ++i) busy.publish({i});
  g.publisher<Number>("one").publish({1});
  g.publisher<Number>("two").publish({2});
  gate.open();
  ASSERT_TRUE(order.wait_for(502));
  const auto values = order.values();
  const auto busy_before = [&](std::int64_t quick) {
    return std::count(values.begin(), std::find(values.begin(), values.end(), quick), 0);
  };
  EXPECT_LE(busy_before(1), 32);
  EXPECT_LE(busy_before(2), 32);
}

/// A serial callback that never ends occupies one thread, even with many messages behind it. All
/// messages of the other channels are handled meanwhile.
TEST(Fairness, a_stuck_callback_occupies_only_one_thread) {
  Gate gate;
  Arrivals slow;
  Arrivals quick;
  OneGraph g(2);
  const Policy deep = policy(Overflow::drop_oldest, 1000);
  g.subscribe<Number>(
      "slow", serial,
      [&](const Message<Number>& m) {
        slow.add(m->value);
        gate.pass();
      },
      deep);
  for (const char* name : {"one", "two", "three"}) {
    g.subscribe<Number>(name, serial, [&](const Message<Number>& m) { quick.add(m->value); }, deep);
  }
  auto to_slow = g.publisher<Number>("slow", deep);
  for (int i = 0; i < 100; ++i) to_slow.publish({i});
  gate.wait_for_waiting(1);
  for (const char* name : {"one", "two", "three"}) {
    auto pub = g.publisher<Number>(name, deep);
    for (int i = 0; i < 300; ++i) pub.publish({i});
  }
  ASSERT_TRUE(quick.wait_for(900));
  EXPECT_EQ(slow.count(), 1U);
  gate.open();
  EXPECT_TRUE(slow.wait_for(100));
}

TEST(Counting, sent_equals_received_plus_drops_for_every_overflow_rule) {
  for (const Overflow overflow : {Overflow::drop_oldest, Overflow::drop_newest, Overflow::block}) {
    for (const Mode mode : {serial, concurrent}) {
      OneGraph g(2);
      const Policy p = policy(overflow, 4);
      std::atomic<std::uint64_t> received{0};
      auto sub = g.subscribe<Number>("n", mode, [&](const Message<Number>&) { ++received; }, p);
      constexpr int kThreads = 3;
      constexpr int kEach = 3000;
      std::vector<std::thread> threads;
      for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&] {
          auto pub = g.publisher<Number>("n", p);
          for (int i = 0; i < kEach; ++i) pub.publish({i});
        });
      }
      for (auto& thread : threads) thread.join();
      const auto accounted = [&] { return received + counter(*sub, "drop.queue.overflow"); };
      while (accounted() < kThreads * kEach) std::this_thread::yield();
      EXPECT_EQ(accounted(), static_cast<std::uint64_t>(kThreads * kEach));
      if (overflow == Overflow::block) {
        EXPECT_EQ(received, accounted());
      }
      EXPECT_EQ(counter(*sub, "received"), received);
    }
  }
}

TEST(Priority, high_priority_runs_before_low_when_the_worker_is_busy) {
  Gate gate;
  Arrivals order;
  OneGraph g(1);
  Policy low;
  low.priority = Priority::low;
  Policy high;
  high.priority = Priority::high;
  g.subscribe<Number>("hold", serial, [&](const Message<Number>&) { gate.pass(); });
  g.subscribe<Number>("low", concurrent, [&](const Message<Number>&) { order.add(1); }, low);
  g.subscribe<Number>("high", concurrent, [&](const Message<Number>&) { order.add(2); }, high);
  g.publisher<Number>("hold").publish({0});
  gate.wait_for_waiting(1);
  auto to_low = g.publisher<Number>("low", low);
  auto to_high = g.publisher<Number>("high", high);
  for (int i = 0; i < 5; ++i) to_low.publish({i});
  for (int i = 0; i < 5; ++i) to_high.publish({i});
  gate.open();
  ASSERT_TRUE(order.wait_for(10));
  const auto values = order.values();
  const auto highs_in_front = std::count(values.begin(), values.begin() + 5, 2);
  EXPECT_GE(highs_in_front, 4);  // the worker may have started one low task already
}

TEST(Close, no_callback_runs_after_close_has_returned) {
  for (int round = 0; round < 50; ++round) {
    OneGraph g(2);
    std::atomic<bool> closed{false};
    std::atomic<bool> late{false};
    auto sub = g.subscribe<Number>("n", concurrent, [&](const Message<Number>&) {
      if (closed) late = true;
    });
    auto pub = g.publisher<Number>("n");
    std::thread publisher([&] {
      for (int i = 0; i < 200; ++i) pub.publish({i});
    });
    sub->close();
    closed = true;
    publisher.join();
    EXPECT_FALSE(late);
  }
}

TEST(Close, a_subscription_may_close_itself_in_its_callback) {
  Arrivals got;
  OneGraph g;
  std::shared_ptr<Subscriber> sub;
  sub = g.subscribe<Number>("n", serial, [&](const Message<Number>&) {
    sub->close();
    got.add();
  });
  auto pub = g.publisher<Number>("n");
  pub.publish({1});
  ASSERT_TRUE(got.wait_for(1));
  sub->close();
  EXPECT_EQ(pub.publish({2}).accepted, 0U);
  EXPECT_EQ(got.count(), 1U);
}

TEST(Callback, an_exception_is_counted_and_the_next_message_arrives) {
  Arrivals got;
  OneGraph g;
  auto sub = g.subscribe<Number>("n", serial, [&](const Message<Number>& m) {
    got.add();
    if (m->value == 1) throw std::runtime_error("bad day");
  });
  auto pub = g.publisher<Number>("n");
  pub.publish({1});
  pub.publish({2});
  ASSERT_TRUE(got.wait_for(2));
  EXPECT_EQ(counter(*sub, "callback_error"), 1U);
}

}  // namespace
}  // namespace hyphos::graph::test
