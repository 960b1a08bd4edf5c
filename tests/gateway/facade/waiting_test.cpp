// A channel that makes its publishers wait, and gateways, which must not wait.

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "gateway/facade/hyphos_graph.hpp"
#include "hyphos/hyphos.hpp"
#include "tests/gateway/convert/sample.hpp"
#include "tests/gateway/heard.hpp"

namespace hyphos::gateway {
namespace {

/// A subscriber that takes messages only on request, on a channel with room for two messages.
class Waiting : public testing::Test {
 protected:
  void open(std::int64_t timeout_ms = 0) {
    SubscriptionOptions options;
    options.policy = reliable_policy(2);
    options.policy->block_timeout_ms = timeout_ms;
    options.ready = [] {};
    heard_ = robot_
                 .raw_subscribe("part", (*types_->default_codec("made/Part"))->id, options,
                                [this](const Message<RawMessage>&) { ++count_; })
                 .or_throw();
    publisher_ =
        facade_.topics().open_publisher({"test"}, "/part", "made/Part", Form::json, {}).or_throw();
  }
  /// A channel that drops the oldest of ten messages.
  void open_dropping() {
    SubscriptionOptions options;
    options.policy = Policy{};
    options.policy->depth = 10;
    options.ready = [] {};
    heard_ = robot_
                 .raw_subscribe("part", (*types_->default_codec("made/Part"))->id, options,
                                [this](const Message<RawMessage>&) { ++count_; })
                 .or_throw();
    publisher_ = facade_.topics()
                     .open_publisher({"test"}, "/part", "made/Part", Form::json, {.spread = true})
                     .or_throw();
  }
  Result<void> publish() { return publisher_->publish(bytes_of(R"({"x":1})")); }
  /// Publishes a message that arrived at this time, if the channel has room or drops.
  void pass(std::int64_t arrived_ms) {
    ASSERT_TRUE(publish_at(arrived_ms));
    while (!publisher_->flush().or_throw()) {
    }
  }
  Result<void> publish_at(std::int64_t arrived_ms) {
    const Time arrived{Duration::from_ms(arrived_ms).ns};
    return publisher_->publish(bytes_of(R"({"x":1})"), {Buffer(), arrived});
  }
  std::uint64_t counted(const std::string& why) const {
    const auto counters = facade_.counters();
    const auto at = counters.find("drop.gateway." + why);
    return at == counters.end() ? 0 : at->second;
  }
  static RuntimeOptions alone() {
    static int count = 0;
    RuntimeOptions options;
    options.domain = "waiting" + std::to_string(::getpid()) + "_" + std::to_string(++count);
    return options;
  }

  Node robot_ = Node::open("robot", alone()).or_throw();
  std::shared_ptr<Types> types_ = sample_types();
  HyphosGraph facade_{robot_.runtime().node("gateway").or_throw(), types_, {}};
  int count_ = 0;
  Subscription heard_;
  std::unique_ptr<ClientPublisher> publisher_;
};

TEST_F(Waiting, a_message_without_room_is_kept_and_sent_later) {
  open();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(publish());
    EXPECT_FALSE(publisher_->keeps());
  }
  ASSERT_TRUE(publish()) << "does not wait";
  EXPECT_TRUE(publisher_->keeps());
  EXPECT_FALSE(publisher_->flush().or_throw());
  EXPECT_TRUE(publisher_->loan(1 << 20).empty()) << "does not wait for memory either";
  EXPECT_EQ(heard_.poll(1), 1U);
  EXPECT_TRUE(publisher_->flush().or_throw());
  EXPECT_FALSE(publisher_->keeps());
  EXPECT_EQ(heard_.poll(10), 2U);
  EXPECT_EQ(count_, 3);
  EXPECT_TRUE(facade_.counters().empty());
}

TEST_F(Waiting, a_kept_message_is_dropped_after_the_channel_timeout) {
  open(30);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(publish());
  Result<bool> flushed = publisher_->flush();
  while (flushed && !*flushed) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    flushed = publisher_->flush();
  }
  ASSERT_FALSE(flushed);
  EXPECT_EQ(flushed.error().code, Code::timeout);
  EXPECT_FALSE(publisher_->keeps());
  EXPECT_EQ(counted("timeout"), 1U);
  EXPECT_EQ(heard_.poll(10), 2U);
  EXPECT_TRUE(publish());
  EXPECT_EQ(heard_.poll(10), 1U) << "publishing continues";
}

TEST_F(Waiting, only_messages_that_arrived_together_wait_for_room) {
  open_dropping();
  for (int i = 0; i < 10; ++i) pass(1);
  EXPECT_EQ(publisher_->overruns(), 0U);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    pass(1000 * static_cast<std::int64_t>(i));
    EXPECT_EQ(publisher_->overruns(), i) << "a single message replaces the oldest one at once";
  }
  heard_.poll(10);
  for (int i = 0; i < 10; ++i) pass(9000);
  ASSERT_TRUE(publish_at(9000));
  EXPECT_FALSE(publisher_->flush().or_throw());
  EXPECT_EQ(heard_.poll(1), 1U);
  while (!publisher_->flush().or_throw()) {
  }
  EXPECT_EQ(publisher_->overruns(), 3U);
  EXPECT_EQ(heard_.poll(20), 10U);
}

TEST_F(Waiting, a_message_kept_at_the_end_is_counted) {
  open();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(publish());
  publisher_.reset();
  EXPECT_EQ(counted("closed"), 1U);
}

TEST_F(Waiting, a_publisher_in_its_own_thread_waits_and_loses_nothing) {
  open();
  std::thread client([&] {
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(publish());
    while (!publisher_->flush().or_throw()) {
    }
  });
  while (count_ < 50) heard_.poll(1);
  client.join();
  EXPECT_EQ(count_, 50);
}

}  // namespace
}  // namespace hyphos::gateway
