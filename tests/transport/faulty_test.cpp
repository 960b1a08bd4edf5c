#include "transport/faulty.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "hyphos/time.hpp"
#include "tests/transport/registered_factory.hpp"
#include "transport/registry.hpp"

namespace hyphos::transport::testing {
namespace {

class FaultyTest : public ::testing::Test {
 protected:
  /// Sends `count` messages through the faults and waits until each has arrived or was counted.
  std::vector<std::uint64_t> run(const FaultConfig& faults, std::uint64_t count,
                                 std::uint64_t& lost) {
    Events events;
    TestSink sink(events);
    TestSendEvents send_events(events);
    RegisteredFactory factory("sample");
    const auto publisher = factory.publisher();
    const auto faulty = make_faulty(factory.unstarted_subscriber("subscriber"), faults);
    faulty->start().or_throw();
    const PortId out =
        publisher->open(spec("scan", reliable_policy()), nullptr, &send_events).or_throw();
    const PortId in = faulty->open(spec("scan", reliable_policy()), &sink, nullptr).or_throw();
    for (std::uint64_t i = 1; i <= count; ++i) publisher->send(out, sample(i));
    // At most one message may still wait for the one that is to overtake it. Closing counts it.
    const std::uint64_t waiting = faults.reorder > 0 ? 1 : 0;
    EXPECT_TRUE(events.wait([&] { return sink.messages.size() + sink.lost() + waiting >= count; }));
    faulty->close(in);
    // The very last message may still have been in flight.
    lost = sink.drops[Drop::injected] + send_events.drops[Drop::disconnected];
    EXPECT_EQ(sink.lost() + send_events.lost(), lost);
    std::vector<std::uint64_t> got;
    for (const Envelope& message : sink.messages) {
      EXPECT_TRUE(intact(message));
      got.push_back(message.meta.sequence);
    }
    return got;
  }
};

TEST_F(FaultyTest, loss_is_counted_and_follows_the_seed) {
  FaultConfig faults;
  faults.loss = 0.3;
  faults.seed = 42;
  std::uint64_t lost = 0;
  const auto first = run(faults, 1000, lost);
  EXPECT_EQ(first.size() + lost, 1000U);
  EXPECT_GT(lost, 200U);
  EXPECT_LT(lost, 400U);
  std::uint64_t lost_again = 0;
  EXPECT_EQ(run(faults, 1000, lost_again), first) << "the same seed, the same faults";
  faults.seed = 43;
  EXPECT_NE(run(faults, 1000, lost_again), first);
}

TEST_F(FaultyTest, reorder_swaps_neighbours_and_loses_nothing) {
  FaultConfig faults;
  faults.reorder = 0.2;
  std::uint64_t lost = 0;
  auto got = run(faults, 500, lost);
  EXPECT_FALSE(std::is_sorted(got.begin(), got.end()));
  EXPECT_EQ(got.size() + lost, 500U);
  EXPECT_EQ(std::set(got.begin(), got.end()).size(), got.size());
}

TEST_F(FaultyTest, a_duplicate_arrives_twice_in_a_row) {
  FaultConfig faults;
  faults.duplicate = 1;
  std::uint64_t lost = 0;
  const auto got = run(faults, 3, lost);
  EXPECT_LE(got.size(), 6U);
  ASSERT_GE(got.size(), 2U);
  EXPECT_EQ(got[0], 1U);
  EXPECT_EQ(got[1], 1U);
}

TEST_F(FaultyTest, delay_holds_messages_back_and_keeps_the_order) {
  FaultConfig faults;
  faults.delay_us = 2000;
  faults.jitter_us = 3000;
  std::uint64_t lost = 0;
  const std::int64_t before = monotonic_now().ns;
  const auto got = run(faults, 50, lost);
  EXPECT_GE(monotonic_now().ns - before, 2'000'000);
  EXPECT_EQ(got.size(), 50U);
  EXPECT_TRUE(std::is_sorted(got.begin(), got.end()));
}

/// A transport whose subscriptions receive before open() returns, as a fast peer makes happen.
class EagerTransport final : public Transport {
 public:
  EagerTransport() : Transport("eager") {}
  Result<void> start() override { return success(); }
  void stop(std::int64_t) override {}
  Result<PortId> open(const ChannelSpec&, ReceiveSink* sink, SendEvents*) override {
    sinks.push_back(sink);
    on_open();
    return static_cast<PortId>(sinks.size());
  }
  void close(PortId) override {}
  SendReport send(PortId, const Envelope&) override { return {}; }
  WritableBuffer loan(PortId, std::size_t) override { return {}; }
  void on_space(PortId) override {}
  std::vector<PeerStatus> peers() const override { return {}; }

  /// Passes one message to a subscription.
  void deliver(std::size_t which) {
    Envelope message = sample(1);
    EXPECT_TRUE(sinks.at(which)->deliver(message, nullptr));
  }
  std::vector<ReceiveSink*> sinks;
  std::function<void()> on_open = [] {};
};

TEST_F(FaultyTest, a_message_that_arrives_during_open_is_delivered) {
  FaultConfig faults;
  faults.delay_us = 1000;
  Events events;
  TestSink known(events);
  TestSink late(events);
  const auto inner = std::make_shared<EagerTransport>();
  const auto faulty = make_faulty(inner, faults);
  faulty->start().or_throw();
  faulty->open(spec("known", reliable_policy()), &known, nullptr).or_throw();
  // open() of the second channel returns after the time at which its message was due.
  inner->on_open = [&] {
    inner->deliver(1);
    inner->deliver(0);
    EXPECT_TRUE(events.wait([&] { return known.messages.size() == 1; }));
  };
  faulty->open(spec("late", reliable_policy()), &late, nullptr).or_throw();
  EXPECT_TRUE(events.wait([&] { return late.messages.size() == 1; }));
  faulty->stop(0);
}

TEST_F(FaultyTest, room_that_is_reported_during_open_is_used) {
  FaultConfig faults;
  Events events;
  TestSink known(events);
  TestSink late(events);
  const auto inner = std::make_shared<EagerTransport>();
  const auto faulty = make_faulty(inner, faults);
  faulty->start().or_throw();
  known.capacity = 0;
  faulty->open(spec("known", reliable_policy()), &known, nullptr).or_throw();
  inner->deliver(0);
  late.capacity = 0;
  // The clock thread reports room to the channel that it knows after it has read both reports.
  inner->on_open = [&] {
    inner->deliver(1);
    events.read([&] { return known.capacity = late.capacity = 1; });
    faulty->on_space(2);
    faulty->on_space(1);
    EXPECT_TRUE(events.wait([&] { return known.messages.size() == 1; }));
  };
  faulty->open(spec("late", reliable_policy()), &late, nullptr).or_throw();
  EXPECT_TRUE(events.wait([&] { return late.messages.size() == 1; }));
  faulty->stop(0);
}

TEST(Registry, makes_each_transport_that_plans_name) {
  TransportContext context;
  context.process_name = "test";
  for (const std::string_view name : transport_names()) {
    EXPECT_EQ(make_transport(name, context).or_throw().transport->name(), name);
  }
  context.faults = FaultConfig{};
  const MadeTransport faulty = make_transport("zmq", context).or_throw();
  EXPECT_EQ(faulty.transport->name(), "zmq");
  EXPECT_NE(faulty.peering, nullptr) << "the peering interface stays reachable through the wrapper";
  const auto none = make_transport("pigeon", context);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, Code::not_found);
  EXPECT_NE(none.error().message.find("zmq"), std::string::npos);
}

}  // namespace
}  // namespace hyphos::transport::testing
