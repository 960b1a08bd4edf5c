#include "tests/transport/conformance.hpp"

#include <algorithm>
#include <deque>
#include <thread>

#include "tests/transport/candidates.hpp"

namespace hyphos::transport::testing {
namespace {

TEST_P(Conformance, messages_arrive_whole_and_in_order) {
  connect(spec("scan", reliable_policy(8)));
  send_samples(1, 300);
  ASSERT_TRUE(events_.wait([&] { return sink_.messages.size() >= 300; }));
  EXPECT_EQ(sink_.messages.size(), 300U);
  EXPECT_EQ(sink_.lost() + send_events_.lost(), 0U);
  expect_ordered_and_intact();
  for (const Envelope& message : sink_.messages) {
    EXPECT_FALSE(message.meta.replayed);
    EXPECT_GT(message.meta.stamps.arrived, 0);
  }
  EXPECT_EQ(sink_.publishers, 1);
}

TEST_P(Conformance, the_report_counts_one_receiver_per_message) {
  connect(spec("scan"));
  const SendReport report = publisher_->send(out_, sample(1));
  EXPECT_EQ(report.accepted, 1U);
  EXPECT_EQ(report.dropped, 0U);
  EXPECT_FALSE(report.failure.has_value());
}

TEST_P(Conformance, an_empty_payload_arrives) {
  connect(spec("scan", reliable_policy()));
  publisher_->send(out_, sample(1, 0));
  ASSERT_TRUE(events_.wait([&] { return !sink_.messages.empty(); }));
  EXPECT_TRUE(sink_.messages[0].payload.empty());
}

TEST_P(Conformance, attached_buffers_arrive_unchanged) {
  connect(spec("image", reliable_policy(4)));
  for (std::uint64_t i = 1; i <= 20; ++i) {
    publisher_->send(out_, sample(i, 3000 * i, i % (kMaxAttachedBuffers + 1)));
  }
  ASSERT_TRUE(events_.wait([&] { return sink_.messages.size() == 20; }));
  for (const Envelope& message : sink_.messages) {
    const std::uint64_t i = message.meta.sequence;
    EXPECT_TRUE(intact(message, 3000 * i, i % (kMaxAttachedBuffers + 1))) << i;
  }
}

TEST_P(Conformance, received_large_messages_outlive_the_transport) {
  constexpr std::size_t kSize = 6 << 20;
  connect(spec("map", reliable_policy(2)));
  for (std::uint64_t i = 1; i <= 3; ++i) publisher_->send(out_, sample(i, kSize, 1));
  ASSERT_TRUE(events_.wait([&] { return sink_.messages.size() == 3; }));
  publisher_.reset();
  subscriber_.reset();
  // The bytes belong to the holders of the buffers, not to the transport.
  for (const Envelope& message : sink_.messages) EXPECT_TRUE(intact(message, kSize, 1));
}

TEST_P(Conformance, a_message_in_loaned_memory_arrives) {
  connect(spec("image", reliable_policy()));
  WritableBuffer loan = publisher_->loan(out_, 5000);
  if (loan.empty()) loan = WritableBuffer::on_heap(5000);  // the transport has no memory of its own
  const Envelope model = sample(7, 5000);
  std::memcpy(loan.data(), model.payload.data(), 5000);
  Envelope message = model;
  message.payload = std::move(loan).freeze();
  publisher_->send(out_, message);
  ASSERT_TRUE(events_.wait([&] { return sink_.messages.size() == 1; }));
  EXPECT_TRUE(intact(sink_.messages[0], 5000));
}

TEST_P(Conformance, received_buffers_can_be_republished) {
  connect(spec("first", reliable_policy()));
  TestSendEvents second_events(events_);
  TestSink second_sink(events_);
  const PortId second_out =
      publisher_->open(spec("second", reliable_policy()), nullptr, &second_events).or_throw();
  const PortId second_in =
      subscriber_->open(spec("second", reliable_policy()), &second_sink, nullptr).or_throw();
  ASSERT_TRUE(events_.wait([&] { return second_events.receivers == 1; }));
  publisher_->send(out_, sample(1, 100'000, 2));
  ASSERT_TRUE(events_.wait([&] { return sink_.messages.size() == 1; }));
  publisher_->send(second_out, sink_.messages[0]);
  ASSERT_TRUE(events_.wait([&] { return second_sink.messages.size() == 1; }));
  EXPECT_TRUE(intact(second_sink.messages[0], 100'000, 2));
  publisher_->close(second_out);
  subscriber_->close(second_in);
}

TEST_P(Conformance, every_subscriber_gets_every_message) {
  publisher_ = factory_->publisher();
  out_ = publisher_->open(spec("scan", reliable_policy(8)), nullptr, &send_events_).or_throw();
  std::vector<std::unique_ptr<TestSink>> sinks;
  std::vector<std::shared_ptr<Transport>> subscribers;
  for (int i = 0; i < 3; ++i) {
    sinks.push_back(std::make_unique<TestSink>(events_));
    subscribers.push_back(factory_->subscriber("subscriber" + std::to_string(i)));
    (void)subscribers.back()
        ->open(spec("scan", reliable_policy(8)), sinks.back().get(), nullptr)
        .or_throw();
  }
  ASSERT_TRUE(events_.wait([&] { return send_events_.receivers == 3; }));
  send_samples(1, 100);
  for (const auto& sink : sinks) {
    ASSERT_TRUE(events_.wait([&] { return sink->messages.size() == 100; }));
    for (std::uint64_t i = 0; i < 100; ++i) {
      EXPECT_EQ(sink->messages[i].meta.sequence, i + 1);
      EXPECT_TRUE(intact(sink->messages[i]));
    }
  }
}

TEST_P(Conformance, another_type_is_refused_by_name_on_both_sides) {
  publisher_ = factory_->publisher();
  subscriber_ = factory_->subscriber("subscriber");
  ChannelSpec ours = spec("scan");
  ChannelSpec theirs = spec("scan");
  theirs.type = make_type_id("test.Other", Encoding::structure, 24);
  out_ = publisher_->open(ours, nullptr, &send_events_).or_throw();
  in_ = subscriber_->open(theirs, &sink_, nullptr).or_throw();
  ASSERT_TRUE(events_.wait([&] { return !sink_.errors.empty() && !send_events_.errors.empty(); }));
  for (const Error& error : {sink_.errors[0], send_events_.errors[0]}) {
    EXPECT_EQ(error.code, Code::type_mismatch);
    EXPECT_NE(error.message.find("test.Sample"), std::string::npos) << error.message;
    EXPECT_NE(error.message.find("test.Other"), std::string::npos) << error.message;
  }
  EXPECT_EQ(send_events_.receivers, 0U);
  publisher_->send(out_, sample(1));
  // The right type still works on the same transport, and no message of the other type arrived.
  subscriber_->close(in_);
  TestSink right(events_);
  in_ = subscriber_->open(ours, &right, nullptr).or_throw();
  ASSERT_TRUE(events_.wait([&] { return send_events_.receivers == 1; }));
  publisher_->send(out_, sample(2));
  ASSERT_TRUE(events_.wait([&] { return !right.messages.empty(); }));
  EXPECT_EQ(right.messages[0].meta.sequence, 2U);
  EXPECT_TRUE(sink_.messages.empty());
  subscriber_->close(in_);
}

TEST_P(Conformance, drop_oldest_keeps_the_newest_for_a_slow_subscriber) {
  connect(spec("scan", with_overflow(Overflow::drop_oldest, 4)));
  set(&TestSink::stuck, true);
  send_samples(1, 2000, 2000);
  set(&TestSink::stuck, false);
  ASSERT_TRUE(wait_until_settled(2000));
  EXPECT_EQ(sink_.messages.size() + sink_.lost() + send_events_.lost(), 2000U);
  EXPECT_GT(events_.read(
                [&] { return sink_.drops[Drop::overflow] + send_events_.drops[Drop::overflow]; }),
            0U);
  EXPECT_EQ(sink_.messages.back().meta.sequence, 2000U) << "the newest is kept";
  expect_ordered_and_intact(2000);
}

TEST_P(Conformance, drop_newest_keeps_the_oldest_for_a_slow_subscriber) {
  connect(spec("scan", with_overflow(Overflow::drop_newest, 4)));
  set(&TestSink::stuck, true);
  send_samples(1, 2000, 2000);
  set(&TestSink::stuck, false);
  ASSERT_TRUE(wait_until_settled(2000));
  EXPECT_EQ(sink_.messages.size() + sink_.lost() + send_events_.lost(), 2000U);
  EXPECT_GT(events_.read(
                [&] { return sink_.drops[Drop::overflow] + send_events_.drops[Drop::overflow]; }),
            0U);
  EXPECT_EQ(sink_.messages.front().meta.sequence, 1U) << "the oldest is kept";
  expect_ordered_and_intact(2000);
}

TEST_P(Conformance, block_loses_no_message) {
  connect(spec("scan", with_overflow(Overflow::block, 4)));
  set(&TestSink::stuck, true);
  std::thread sender([&] { send_samples(1, 2000, 2000); });
  ASSERT_TRUE(events_.wait([&] { return sink_.delivering == 1; }));
  set(&TestSink::stuck, false);
  sender.join();
  ASSERT_TRUE(wait_until_settled(2000));
  EXPECT_EQ(sink_.messages.size(), 2000U);
  EXPECT_EQ(sink_.lost() + send_events_.lost(), 0U);
  expect_ordered_and_intact(2000);
}

TEST_P(Conformance, block_gives_up_after_its_limit) {
  Policy policy = reliable_policy(2);
  policy.block_timeout_ms = 5;
  connect(spec("scan", policy));
  set(&TestSink::stuck, true);
  std::uint64_t sent = 0;
  SendReport report;
  while (!report.failure && sent < 100'000) report = publisher_->send(out_, sample(++sent, 2000));
  ASSERT_TRUE(report.failure.has_value());
  EXPECT_EQ(*report.failure, Code::timeout);
  EXPECT_EQ(report.dropped, 1U);
  set(&TestSink::stuck, false);
  ASSERT_TRUE(wait_until_settled(sent));
  EXPECT_EQ(events_.read([&] { return send_events_.drops[Drop::timeout]; }), 1U);
  EXPECT_EQ(sink_.messages.size(), sent - 1);
  expect_ordered_and_intact(2000);
}

TEST_P(Conformance, has_room_predicts_whether_block_would_wait) {
  connect(spec("scan", with_overflow(Overflow::block, 2)));
  EXPECT_TRUE(publisher_->has_room(out_, 2000));
  set(&TestSink::stuck, true);
  std::uint64_t sent = 0;
  while (publisher_->has_room(out_, 2000) && sent < 100'000) {
    const SendReport report = publisher_->send(out_, sample(++sent, 2000));
    EXPECT_FALSE(report.failure) << sent;
  }
  EXPECT_LT(sent, 100'000U);
  set(&TestSink::stuck, false);
  // Not under the lock of events_, which a transport takes while it holds its own lock.
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!publisher_->has_room(out_, 2000)) {
    ASSERT_LT(std::chrono::steady_clock::now(), limit);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_TRUE(wait_until_settled(sent));
  EXPECT_EQ(sink_.messages.size(), sent);
  expect_ordered_and_intact(2000);
}

TEST_P(Conformance, a_full_inlet_is_retried_after_on_space) {
  connect(spec("scan", with_overflow(Overflow::block, 3)));
  const auto set_capacity = [&](std::size_t capacity) {
    const std::lock_guard lock(events_.mutex);
    sink_.capacity = capacity;
  };
  set_capacity(2);
  std::thread sender([&] { send_samples(1, 50, 300'000); });
  for (std::size_t room = 2; room <= 50; room += 4) {
    ASSERT_TRUE(events_.wait([&] { return sink_.messages.size() == room && sink_.refusals > 0; }));
    set_capacity(room + 4);
    subscriber_->on_space(in_);
  }
  sender.join();
  ASSERT_TRUE(events_.wait([&] { return sink_.messages.size() == 50; }));
  EXPECT_EQ(sink_.lost() + send_events_.lost(), 0U);
  expect_ordered_and_intact(300'000);
}

TEST_P(Conformance, one_slow_subscriber_does_not_slow_another) {
  connect(spec("scan", with_overflow(Overflow::drop_oldest, 4)));
  TestSink slow(events_);
  slow.stuck = true;
  auto other = factory_->subscriber("slow");
  (void)other->open(spec("scan", with_overflow(Overflow::drop_oldest, 4)), &slow, nullptr)
      .or_throw();
  ASSERT_TRUE(events_.wait([&] { return send_events_.receivers == 2; }));
  // The wait for the healthy subscriber after every message shows that the slow one does not delay
  // it.
  for (std::uint64_t i = 1; i <= 500; ++i) {
    publisher_->send(out_, sample(i, 2000));
    ASSERT_TRUE(events_.wait([&] { return sink_.messages.size() == i; }));
  }
  {
    const std::lock_guard lock(events_.mutex);
    slow.stuck = false;
    events_.changed.notify_all();
  }
  ASSERT_TRUE(events_.wait([&] {
    return 500 + slow.messages.size() + slow.lost() + sink_.lost() + send_events_.lost() == 1000;
  }));
}

TEST_P(Conformance, many_threads_can_send_at_once) {
  connect(spec("scan", reliable_policy(8)));
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (std::uint64_t i = 1; i <= 200; ++i) publisher_->send(out_, sample(t * 1000 + i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(events_.wait([&] { return sink_.messages.size() == 800; }));
  std::array<std::uint64_t, 4> last{};
  for (const Envelope& message : sink_.messages) {
    EXPECT_TRUE(intact(message));
    std::uint64_t& previous = last.at(message.meta.sequence / 1000);
    EXPECT_EQ(message.meta.sequence % 1000, previous + 1) << "order within one thread";
    previous = message.meta.sequence % 1000;
  }
}

TEST_P(Conformance, channels_are_separate) {
  connect(spec("one", reliable_policy()));
  TestSink other_sink(events_);
  TestSendEvents other_events(events_);
  const PortId other_out =
      publisher_->open(spec("one/more", reliable_policy()), nullptr, &other_events).or_throw();
  publisher_->send(other_out, sample(1));
  EXPECT_EQ(other_events.receivers, 0U) << "a channel is not a prefix";
  const PortId other_in =
      subscriber_->open(spec("one/more", reliable_policy()), &other_sink, nullptr).or_throw();
  ASSERT_TRUE(events_.wait([&] { return other_events.receivers == 1; }));
  publisher_->send(other_out, sample(2));
  publisher_->send(out_, sample(3));
  ASSERT_TRUE(
      events_.wait([&] { return sink_.messages.size() == 1 && other_sink.messages.size() == 1; }));
  EXPECT_EQ(sink_.messages[0].meta.sequence, 3U);
  EXPECT_EQ(other_sink.messages[0].meta.sequence, 2U);
  publisher_->close(other_out);
  subscriber_->close(other_in);
}

TEST_P(Conformance, a_closed_subscription_can_be_opened_again) {
  connect(spec("scan", reliable_policy()));
  std::deque<TestSink> sinks;  // each outlives its port
  // Each change is awaited before the next. Otherwise an earlier count could be mistaken for the
  // new one.
  const auto open_again = [&](TestSink& sink) {
    subscriber_->close(in_);
    EXPECT_TRUE(events_.wait([&] { return send_events_.receivers == 0; }));
    publisher_->send(out_, sample(1));
    in_ = subscriber_->open(spec("scan", reliable_policy()), &sink, nullptr).or_throw();
    EXPECT_TRUE(events_.wait([&] { return send_events_.receivers == 1; }));
  };
  for (int round = 0; round < 5; ++round) {
    TestSink& sink = sinks.emplace_back(events_);
    open_again(sink);
    publisher_->send(out_, sample(2));
    ASSERT_TRUE(events_.wait([&] { return sink.messages.size() == 1; }));
    EXPECT_EQ(sink.messages[0].meta.sequence, 2U);
  }
  open_again(sink_);
}

TEST_P(Conformance, a_closed_publisher_can_be_opened_again) {
  connect(spec("scan", reliable_policy()));
  ASSERT_TRUE(events_.wait([&] { return sink_.publishers == 1; }));
  publisher_->close(out_);
  ASSERT_TRUE(events_.wait([&] { return sink_.publishers == 0; }));
  out_ = publisher_->open(spec("scan", reliable_policy()), nullptr, &send_events_).or_throw();
  ASSERT_TRUE(events_.wait([&] { return sink_.publishers == 1; }));
  ASSERT_TRUE(events_.wait([&] { return send_events_.receivers == 1; }));
  publisher_->send(out_, sample(5));
  ASSERT_TRUE(events_.wait([&] { return sink_.messages.size() == 1; }));
}

TEST_P(Conformance, a_subscriber_leaves_and_returns) {
  connect(spec("scan", reliable_policy()));
  subscriber_.reset();
  ASSERT_TRUE(events_.wait([&] { return send_events_.receivers == 0; }));
  TestSink second(events_);
  subscriber_ = factory_->subscriber("subscriber");
  in_ = subscriber_->open(spec("scan", reliable_policy()), &second, nullptr).or_throw();
  ASSERT_TRUE(events_.wait([&] { return send_events_.receivers == 1; }));
  publisher_->send(out_, sample(1));
  ASSERT_TRUE(events_.wait([&] { return second.messages.size() == 1; }));
  subscriber_->close(in_);
}

TEST_P(Conformance, a_publisher_leaves_and_returns) {
  connect(spec("scan", reliable_policy()));
  publisher_->send(out_, sample(1));
  ASSERT_TRUE(events_.wait([&] { return sink_.messages.size() == 1; }));
  publisher_.reset();
  ASSERT_TRUE(events_.wait([&] { return sink_.publishers == 0; }));
  TestSendEvents second(events_);
  publisher_ = factory_->publisher();
  out_ = publisher_->open(spec("scan", reliable_policy()), nullptr, &second).or_throw();
  ASSERT_TRUE(events_.wait([&] { return second.receivers == 1 && sink_.publishers == 1; }));
  publisher_->send(out_, sample(2));
  ASSERT_TRUE(events_.wait([&] { return sink_.messages.size() == 2; }));
  EXPECT_EQ(sink_.messages[1].meta.sequence, 2U);
  publisher_->close(out_);
}

TEST_P(Conformance, a_blocked_sender_is_freed_when_its_receiver_leaves) {
  connect(spec("scan", reliable_policy(2)));
  {
    const std::lock_guard lock(events_.mutex);
    sink_.capacity = 0;
  }
  std::uint64_t sent = 0;
  std::uint64_t promised = 0;  // accepted messages, even if lost later
  std::thread sender([&] {
    // Ends once there is no receiver. Before that, the window and the queue fill up and it blocks.
    for (bool heard = true; heard;) {
      const SendReport report = publisher_->send(out_, sample(++sent, 200'000));
      heard = report.accepted > 0;
      promised += report.accepted + report.dropped;
      if (report.dropped > 0) {
        EXPECT_EQ(report.failure, Code::disconnected);
      }
    }
  });
  ASSERT_TRUE(events_.wait([&] { return sink_.refusals > 0; }));
  subscriber_.reset();
  sender.join();
  ASSERT_TRUE(events_.wait([&] { return send_events_.receivers == 0; }));
  EXPECT_GE(promised, sent - 1) << "the last message may have had no receiver";
  // A receiver that leaves reports its position, so each message is counted on one side. (A killed
  // receiver cannot. Then the sender counts the messages without acknowledgement, and no receiver
  // counts them a second time.)
  EXPECT_EQ(send_events_.lost() + sink_.lost(), promised);
}

TEST_P(Conformance, stop_flushes_reliable_channels) {
  connect(spec("scan", reliable_policy(64)));
  send_samples(1, 64, 20'000);
  publisher_->stop(20'000);
  ASSERT_TRUE(events_.wait([&] { return sink_.messages.size() == 64; }));
  EXPECT_EQ(send_events_.lost(), 0U);
  publisher_->stop(0);
  publisher_->stop(0);
}

TEST_P(Conformance, peers_lists_both_directions) {
  connect(spec("scan"));
  ASSERT_TRUE(events_.wait([&] { return sink_.publishers == 1; }));
  const std::vector<PeerStatus> subscribers = publisher_->peers();
  ASSERT_EQ(subscribers.size(), 1U);
  EXPECT_EQ(subscribers[0].channel, "scan");
  EXPECT_EQ(subscribers[0].who, "subscriber");
  EXPECT_FALSE(subscribers[0].is_publisher);
  const std::vector<PeerStatus> publishers = subscriber_->peers();
  ASSERT_EQ(publishers.size(), 1U);
  EXPECT_EQ(publishers[0].who, "publisher");
  EXPECT_TRUE(publishers[0].is_publisher);
}

TEST_P(Conformance, call_marks_arrive_and_the_peer_is_known) {
  connect(spec("call", reliable_policy(8)));
  ASSERT_TRUE(events_.wait([&] { return sink_.publishers == 1; }));
  Envelope message = sample(1);
  message.meta.call = {0xfedcba9876543210, 77, 3};
  EXPECT_EQ(publisher_->send(out_, message).accepted, 1U);
  publisher_->send(out_, sample(2));
  ASSERT_TRUE(events_.wait([&] { return sink_.messages.size() == 2; }));
  const Meta& marked = sink_.messages[0].meta;
  EXPECT_EQ(marked.call.client, 0xfedcba9876543210);
  EXPECT_EQ(marked.call.id, 77U);
  EXPECT_EQ(marked.call.kind, 3U);
  EXPECT_EQ(sink_.messages[1].meta.call.kind, 0U);
  // The message's origin equals the id that the receive sink got for the publisher.
  EXPECT_NE(sink_.last_peer_id, 0U);
  EXPECT_EQ(marked.peer, sink_.last_peer_id);
}

TEST_P(Conformance, a_message_for_another_process_is_not_sent) {
  connect(spec("call", reliable_policy(8)));
  Envelope elsewhere = sample(1);
  elsewhere.meta.to = 0x0123456789abcdef;
  const SendReport report = publisher_->send(out_, elsewhere);
  EXPECT_EQ(report.accepted, 0U);
  EXPECT_EQ(report.dropped, 0U);
  EXPECT_FALSE(report.failure.has_value());
  EXPECT_EQ(publisher_->send(out_, sample(2)).accepted, 1U);
  ASSERT_TRUE(events_.wait([&] { return !sink_.messages.empty(); }));
  EXPECT_EQ(sink_.messages[0].meta.sequence, 2U);
  EXPECT_EQ(sink_.lost() + send_events_.lost(), 0U);
}

TEST_P(Conformance, a_second_port_of_a_channel_is_refused) {
  publisher_ = factory_->publisher();
  out_ = publisher_->open(spec("scan"), nullptr, &send_events_).or_throw();
  TestSendEvents second(events_);
  const auto again = publisher_->open(spec("scan"), nullptr, &second);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, Code::already_exists);
}

INSTANTIATE_TEST_SUITE_P(Of, Conformance, ::testing::ValuesIn(candidates()),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace hyphos::transport::testing
