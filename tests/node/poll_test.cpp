#include <gtest/gtest.h>

#include <thread>

#include "tests/node/harness.hpp"

namespace hyphos::test {
namespace {

/// A polled subscription of this process.
class Polled {
 public:
  explicit Polled(Policy policy = {}) {
    RuntimeOptions options = offline_options();
    options.domain = fresh_domain();
    node_.emplace(Node::open("poller", options).or_throw());
    SubscriptionOptions how;
    how.policy = policy;
    how.ready = [this] { told_.add(); };
    subscription = node_->subscribe<Number>("n", how, [this](const Message<Number>& number) {
      in_ = std::this_thread::get_id();
      got.push_back(number->value);
      if (then) then();
    });
    publisher = node_->publisher<Number>("n", {.policy = policy});
  }
  ~Polled() { node_->close(); }

  void publish(std::int64_t first, std::int64_t last) const {
    for (std::int64_t value = first; value <= last; ++value) publisher.publish({value});
  }
  [[nodiscard]] std::size_t told() { return told_.count(); }
  [[nodiscard]] std::thread::id ran_in() const { return in_; }
  [[nodiscard]] std::uint64_t counter(std::string_view name) const {
    for (const EndpointInfo& end : node_->runtime().endpoints()) {
      if (!end.is_publisher && end.channel == "n") return end.counter(name);
    }
    return 0;
  }

  std::vector<std::int64_t> got;
  std::function<void()> then;
  Subscription subscription;
  Publisher<Number> publisher;

 private:
  std::optional<Node> node_;
  Arrivals told_;
  std::thread::id in_;
};

TEST(Poll, callbacks_run_only_in_the_polling_thread) {
  Polled polled;
  polled.publish(1, 3);
  EXPECT_TRUE(polled.got.empty());
  EXPECT_EQ(polled.subscription.poll(100), 3U);
  EXPECT_EQ(polled.got, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(polled.ran_in(), std::this_thread::get_id());
  EXPECT_EQ(polled.subscription.poll(100), 0U);
}

TEST(Poll, ready_is_called_once_per_poll_and_for_the_rest) {
  Polled polled;
  polled.publish(1, 5);
  EXPECT_EQ(polled.told(), 1U);
  EXPECT_EQ(polled.subscription.poll(2), 2U);
  EXPECT_EQ(polled.told(), 2U);
  EXPECT_EQ(polled.subscription.poll(3), 3U);
  EXPECT_EQ(polled.told(), 2U);
  polled.publish(6, 6);
  EXPECT_EQ(polled.told(), 3U);
}

TEST(Poll, messages_that_arrive_meanwhile_wait_for_the_next_poll) {
  Polled polled;
  polled.then = [&] {
    if (polled.got.size() < 5) polled.publish(10, 10);
  };
  polled.publish(1, 2);
  EXPECT_EQ(polled.subscription.poll(100), 2U);
  EXPECT_EQ(polled.told(), 2U);
  EXPECT_EQ(polled.subscription.poll(100), 2U);
}

TEST(Poll, polling_from_its_own_callback_does_nothing) {
  Polled polled;
  std::uint32_t inner = 99;
  polled.then = [&] { inner = polled.subscription.poll(1); };
  polled.publish(1, 2);
  EXPECT_EQ(polled.subscription.poll(1), 1U);
  EXPECT_EQ(inner, 0U);
  EXPECT_EQ(polled.got.size(), 1U);
}

TEST(Poll, a_full_queue_drops_the_oldest_and_counts) {
  Policy policy;
  policy.depth = 2;
  Polled polled(policy);
  polled.publish(1, 5);
  EXPECT_EQ(polled.subscription.poll(100), 2U);
  EXPECT_EQ(polled.got, (std::vector<std::int64_t>{4, 5}));
  EXPECT_EQ(polled.counter("drop.queue.overflow"), 3U);
  EXPECT_EQ(polled.counter("received"), 2U);
}

TEST(Poll, a_reliable_sender_waits_until_there_is_room) {
  Polled polled(reliable_policy(2));
  std::thread sender([&] { polled.publish(1, 50); });
  std::size_t seen = 0;
  EXPECT_TRUE(eventually([&] { return (seen += polled.subscription.poll(1)) == 50; }));
  sender.join();
  for (std::size_t i = 0; i < polled.got.size(); ++i) {
    EXPECT_EQ(polled.got[i], static_cast<std::int64_t>(i) + 1);
  }
}

TEST(Poll, after_a_close_from_the_callback_nothing_runs) {
  Polled polled;
  polled.then = [&] { polled.subscription.close(); };
  polled.publish(1, 3);
  EXPECT_EQ(polled.subscription.poll(100), 1U);
  polled.publish(4, 4);
  EXPECT_EQ(polled.subscription.poll(100), 0U);
  EXPECT_EQ(polled.got.size(), 1U);
}

}  // namespace
}  // namespace hyphos::test
