// Latched values, and the presence of the publishers that they come from.
#include <algorithm>
#include <deque>

#include "tests/transport/conformance.hpp"

namespace hyphos::transport::testing {
namespace {

TEST_P(Conformance, a_late_subscriber_gets_the_latched_value) {
  Policy policy = reliable_policy();
  policy.latched = true;
  publisher_ = factory_->publisher();
  out_ = publisher_->open(spec("map", policy), nullptr, &send_events_).or_throw();
  send_samples(1, 3);
  subscriber_ = factory_->subscriber("late");
  in_ = subscriber_->open(spec("map", policy), &sink_, nullptr).or_throw();
  ASSERT_TRUE(events_.wait([&] { return send_events_.receivers == 1 && !sink_.messages.empty(); }));
  send_samples(4, 4);
  ASSERT_TRUE(events_.wait([&] { return sink_.messages.size() >= 2; }));
  ASSERT_EQ(sink_.messages.size(), 2U);
  EXPECT_EQ(sink_.messages[0].meta.sequence, 3U);
  EXPECT_TRUE(sink_.messages[0].meta.replayed);
  EXPECT_TRUE(intact(sink_.messages[0]));
  EXPECT_EQ(sink_.messages[1].meta.sequence, 4U);
  EXPECT_FALSE(sink_.messages[1].meta.replayed);
}

TEST_P(Conformance, messages_arrive_while_their_publisher_is_present) {
  Policy policy = reliable_policy();
  policy.latched = true;
  publisher_ = factory_->publisher();
  out_ = publisher_->open(spec("map", policy), nullptr, &send_events_).or_throw();
  send_samples(1, 1);
  subscriber_ = factory_->subscriber("late");
  std::deque<TestSink> sinks;  // each outlives its port
  for (int i = 0; i < 20; ++i) {
    TestSink& sink = sinks.emplace_back(events_);
    in_ = subscriber_->open(spec("map", policy), &sink, nullptr).or_throw();
    EXPECT_TRUE(events_.wait([&] { return !sink.messages.empty(); })) << "turn " << i;
    subscriber_->close(in_);
    EXPECT_EQ(sink.of_unknown_peers, 0);
    if (HasFailure()) return;
  }
}

Envelope end_of(std::uint64_t sender) {
  Envelope notice;
  notice.meta.type_hash = test_type().hash;
  notice.meta.sender = sender;
  notice.meta.latch = Latch::gone;
  return notice;
}

TEST_P(Conformance, a_late_subscriber_gets_the_value_of_each_live_publisher) {
  Policy policy = reliable_policy();
  policy.latched = true;
  publisher_ = factory_->publisher();
  out_ = publisher_->open(spec("map", policy), nullptr, &send_events_).or_throw();
  for (std::uint64_t number = 1; number <= 6; ++number) {
    Envelope message = sample(number);
    message.meta.sender = 1 + number % 3;
    publisher_->send(out_, message);
  }
  publisher_->send(out_, end_of(3));  // the sender of 2 and 5
  subscriber_ = factory_->subscriber("late");
  in_ = subscriber_->open(spec("map", policy), &sink_, nullptr).or_throw();
  ASSERT_TRUE(
      events_.wait([&] { return send_events_.receivers == 1 && sink_.messages.size() >= 2; }));
  send_samples(7, 7);
  ASSERT_TRUE(events_.wait([&] { return sink_.messages.size() >= 3; }));
  ASSERT_EQ(sink_.messages.size(), 3U);
  EXPECT_EQ(sink_.messages[0].meta.sequence, 4U);
  EXPECT_TRUE(sink_.messages[0].meta.replayed);
  EXPECT_EQ(sink_.messages[1].meta.sequence, 6U);
  EXPECT_TRUE(std::ranges::equal(sink_.messages[1].payload.bytes(), sample(6).payload.bytes()));
  EXPECT_EQ(sink_.messages[2].meta.sequence, 7U);
}

TEST_P(Conformance, a_late_subscriber_gets_each_latched_value_beyond_its_depth) {
  Policy policy = with_overflow(Overflow::drop_oldest, 1);
  policy.latched = true;
  publisher_ = factory_->publisher();
  out_ = publisher_->open(spec("map", policy), nullptr, &send_events_).or_throw();
  constexpr std::uint64_t kSenders = 40;
  const auto from = [&](std::uint64_t sender, std::uint64_t number) {
    Envelope message = sample(number);
    message.meta.sender = sender;
    message.meta.latch = Latch::last;
    publisher_->send(out_, message);
  };
  for (std::uint64_t sender = 1; sender <= kSenders; ++sender) from(sender, sender);
  subscriber_ = factory_->subscriber("late");
  in_ = subscriber_->open(spec("map", policy), &sink_, nullptr).or_throw();
  ASSERT_TRUE(events_.wait([&] { return sink_.messages.size() >= kSenders; }));
  from(kSenders + 1, 1000);
  ASSERT_TRUE(events_.wait([&] { return sink_.messages.size() > kSenders; }));
  ASSERT_EQ(sink_.messages.size(), kSenders + 1);
  for (std::uint64_t sender = 1; sender <= kSenders; ++sender) {
    const Meta& meta = sink_.messages[sender - 1].meta;
    EXPECT_EQ(meta.sender, sender);
    EXPECT_TRUE(meta.replayed);
    EXPECT_EQ(meta.latch, Latch::last);
  }
  EXPECT_FALSE(sink_.messages.back().meta.replayed);
}

TEST_P(Conformance, a_late_subscriber_gets_the_last_values_of_a_publisher_in_order) {
  Policy policy = with_overflow(Overflow::drop_oldest, 1);
  policy.latched = true;
  policy.latched_depth = 3;
  publisher_ = factory_->publisher();
  out_ = publisher_->open(spec("map", policy), nullptr, &send_events_).or_throw();
  const auto from = [&](std::uint64_t sender, std::uint64_t number) {
    Envelope message = sample(number);
    message.meta.sender = sender;
    message.meta.latch = Latch::last;
    message.meta.latched_depth = 3;
    publisher_->send(out_, message);
  };
  for (std::uint64_t number = 1; number <= 5; ++number) from(1, number);
  for (std::uint64_t number = 1; number <= 2; ++number) from(2, number);
  from(3, 1);
  publisher_->send(out_, end_of(3));
  subscriber_ = factory_->subscriber("late");
  in_ = subscriber_->open(spec("map", policy), &sink_, nullptr).or_throw();
  ASSERT_TRUE(events_.wait([&] { return sink_.messages.size() >= 5; }));
  from(1, 6);
  ASSERT_TRUE(events_.wait([&] { return sink_.messages.size() >= 6; }));
  std::string got;
  for (const Envelope& message : sink_.messages) {
    got += std::to_string(message.meta.sender) + ":" + std::to_string(message.meta.sequence) + " ";
    EXPECT_EQ(message.meta.latched_depth, 3U);
  }
  EXPECT_EQ(got, "1:3 1:4 1:5 2:1 2:2 1:6 ");
}

TEST_P(Conformance, the_end_of_a_publisher_comes_after_its_messages) {
  Policy policy = with_overflow(Overflow::drop_oldest, 4);
  policy.latched = true;
  connect(spec("map", policy));
  set(&TestSink::stuck, true);
  for (std::uint64_t number = 1; number <= 50; ++number) publisher_->send(out_, sample(number));
  publisher_->send(out_, end_of(sample(1).meta.sender));
  set(&TestSink::stuck, false);
  ASSERT_TRUE(events_.wait(
      [&] { return !sink_.messages.empty() && sink_.messages.back().meta.latch == Latch::gone; }));
  ASSERT_GE(sink_.messages.size(), 2U);
  EXPECT_EQ(sink_.messages[sink_.messages.size() - 2].meta.sequence, 50U);
  EXPECT_EQ(sink_.messages.size() - 1 + sink_.lost() + send_events_.lost(), 50U)
      << "the notice is not a message, so it is not counted";
}

}  // namespace
}  // namespace hyphos::transport::testing
