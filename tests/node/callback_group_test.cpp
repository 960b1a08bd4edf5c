#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/node/harness.hpp"

namespace hyphos::test {
namespace {

/// A node with a pool of four threads, and a group of two subscriptions `a` and `b`.
class Grouped {
 public:
  explicit Grouped(Policy policy = reliable_policy(1000))
      : node(open().node("grouped").or_throw()), group(node.callback_group()) {
    SubscriptionOptions how;
    how.group = group;
    how.policy = policy;
    for (const std::string name : {"a", "b"}) {
      publishers.push_back(node.publisher<Number>(name, {.policy = policy}));
      subscriptions.push_back(node.subscribe<Number>(
          name, how, [this, name](const Message<Number>& number) { run(name, number->value); }));
    }
  }
  ~Grouped() { node.close(); }
  Grouped(const Grouped&) = delete;
  Grouped& operator=(const Grouped&) = delete;

  static Runtime open() {
    RuntimeOptions options = offline_options();
    options.threads = 4;
    return Runtime::open(options).or_throw();
  }

  Node node;
  CallbackGroup group;
  std::vector<Publisher<Number>> publishers;
  std::vector<Subscription> subscriptions;
  std::function<void(const std::string&, std::int64_t)> then;
  std::string order;  // without a lock: the group guards it
  std::atomic<int> inside{0};
  std::atomic<int> overlaps{0};

 private:
  void run(const std::string& name, std::int64_t value) {
    overlaps += inside++ > 0 ? 1 : 0;
    order += name;
    if (then) then(name, value);
    --inside;
  }
};

TEST(CallbackGroup, callbacks_of_two_subscriptions_never_overlap) {
  Grouped grouped;
  constexpr std::int64_t kCount = 2000;
  const auto publish = [&](std::size_t which) {
    for (std::int64_t i = 0; i < kCount; ++i) grouped.publishers[which].publish({i});
  };
  std::thread other([&] { publish(1); });
  publish(0);
  other.join();
  grouped.node.runtime().settle();
  EXPECT_EQ(grouped.overlaps, 0);
  EXPECT_EQ(std::ranges::count(grouped.order, 'a'), kCount);
  EXPECT_EQ(std::ranges::count(grouped.order, 'b'), kCount);
}

TEST(CallbackGroup, without_a_group_they_do_overlap) {
  const Node node = Grouped::open().node("free").or_throw();
  std::atomic<int> inside{0};
  std::atomic<bool> met{false};
  std::vector<Publisher<Number>> publishers;
  for (const std::string name : {"a", "b"}) {
    publishers.push_back(node.publisher<Number>(name));
    node.subscribe<Number>(name, serial, [&](const Message<Number>&) {
      ++inside;
      (void)eventually([&] { return inside == 2; });
      met = inside == 2;
    });
  }
  for (const auto& publisher : publishers) publisher.publish({1});
  EXPECT_TRUE(eventually([&] { return met.load(); }));
  node.close();
}

TEST(CallbackGroup, the_subscriptions_take_turns) {
  Grouped grouped;
  // The first callback waits until all messages are there.
  std::atomic<bool> go{false};
  grouped.then = [&](const std::string&, std::int64_t) {
    (void)eventually([&] { return go.load(); });
  };
  for (std::int64_t i = 0; i < 20; ++i) grouped.publishers[0].publish({i});
  for (std::int64_t i = 0; i < 20; ++i) grouped.publishers[1].publish({i});
  go = true;
  grouped.node.runtime().settle();
  std::string alternating;
  for (int i = 0; i < 20; ++i) alternating += "ab";
  EXPECT_EQ(grouped.order.size(), 40U);
  // The first turn may begin before `b` has a message.
  EXPECT_NE(grouped.order.find(alternating.substr(0, 36)), std::string::npos) << grouped.order;
}

TEST(CallbackGroup, a_callback_may_close_another_subscription_with_waiting_messages) {
  Grouped grouped;
  grouped.then = [&](const std::string& name, std::int64_t) {
    grouped.subscriptions[name == "a" ? 1 : 0].close();
  };
  grouped.node.runtime().settle([&] {
    for (std::int64_t i = 0; i < 10; ++i) {
      grouped.publishers[0].publish({i});
      grouped.publishers[1].publish({i});
    }
  });
  // The first callback closes the other subscription before that has run.
  EXPECT_EQ(grouped.order, std::string(10, grouped.order.at(0)));
  for (const EndpointInfo& end : grouped.node.runtime().endpoints()) {
    const std::string closed = grouped.order.at(0) == 'a' ? "b" : "a";
    EXPECT_TRUE(end.is_publisher || end.channel != closed) << "not released";
  }
}

TEST(CallbackGroup, a_callback_may_close_its_node) {
  Grouped grouped;
  grouped.then = [&](const std::string&, std::int64_t) { grouped.node.close(); };
  grouped.node.runtime().settle([&] {
    for (std::int64_t i = 0; i < 10; ++i) {
      grouped.publishers[0].publish({i});
      grouped.publishers[1].publish({i});
    }
  });
  EXPECT_EQ(grouped.order.size(), 1U);
}

TEST(CallbackGroup, a_blocked_publisher_of_the_pool_runs_callbacks_only_in_a_turn) {
  Grouped grouped(reliable_policy(1));
  constexpr std::int64_t kCount = 300;
  grouped.node.subscribe<Number>("go", concurrent, [&](const Message<Number>& number) {
    for (std::int64_t i = 0; i < kCount; ++i) {
      grouped.publishers[static_cast<std::size_t>(number->value)].publish({i});
    }
  });
  const auto go = grouped.node.publisher<Number>("go");
  for (const std::int64_t which : {0, 1, 0, 1}) go.publish({which});
  grouped.node.runtime().settle();
  EXPECT_EQ(grouped.overlaps, 0);
  EXPECT_EQ(grouped.order.size(), static_cast<std::size_t>(4 * kCount));
}

TEST(CallbackGroup, options_that_contradict_a_group_are_refused) {
  const Grouped grouped;
  const auto problem = [&](const Node& node, SubscriptionOptions how) {
    how.group = grouped.group;
    try {
      node.subscribe<Number>("c", how, [](const Message<Number>&) {});
    } catch (const Exception& error) {
      return error.error().message;
    }
    return std::string();
  };
  SubscriptionOptions how;
  how.mode = Mode::concurrent;
  EXPECT_NE(problem(grouped.node, how).find("requires the mode serial, not concurrent"),
            std::string::npos);
  how.mode = Mode::inline_;
  EXPECT_NE(problem(grouped.node, how).find("not inline"), std::string::npos);
  how.mode = Mode::serial;
  how.ready = [] {};
  EXPECT_NE(problem(grouped.node, how).find("`ready`"), std::string::npos);
  how.ready = {};
  EXPECT_EQ(problem(grouped.node, how), "");
  const Node other = Node::open("other", offline_options()).or_throw();
  EXPECT_NE(problem(other, how).find("another runtime"), std::string::npos);
}

}  // namespace
}  // namespace hyphos::test
