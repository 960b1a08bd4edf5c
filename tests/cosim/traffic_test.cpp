#include "cosim/programs/traffic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>

#include "cosim/programs/recording.hpp"
#include "cosim/programs/source.hpp"
#include "rig.hpp"

namespace hyphos::cosim {
namespace {

constexpr Duration kDelay = Duration::from_us(900);

/// Delivers after kDelay. Drops every `lost`th packet to a single receiver.
class Lossy final : public Network {
 public:
  explicit Lossy(std::uint64_t lost) : lost_(lost) {}

  Result<void> init(std::uint32_t nodes, std::uint64_t /*seed*/) override {
    nodes_ = nodes;
    return success();
  }
  Result<void> set_poses(std::span<const Pose> /*poses*/) override { return success(); }
  Result<void> inject(const Packet& packet) override {
    for (NodeId to = 0; to < nodes_; ++to) {
      if (to == packet.from || (packet.to != kEveryone && packet.to != to)) continue;
      const bool lost = packet.to != kEveryone && lost_ != 0 && packet.id % lost_ == 0;
      Outcome outcome{.id = packet.id, .to = to, .time = packet.stamp + kDelay};
      outcome.fate = lost ? Fate::dropped : Fate::delivered;
      outcome.reason = lost ? DropReason::other : DropReason::none;
      if (!lost) outcome.bytes = packet.bytes;
      under_way_.emplace(outcome.time, outcome);
    }
    return success();
  }
  Result<void> advance(Time end) override {
    const auto last = under_way_.lower_bound(end);
    for (auto it = under_way_.begin(); it != last; ++it) told_.push_back(it->second);
    under_way_.erase(under_way_.begin(), last);
    return success();
  }
  Time next_event_time() const override {
    return under_way_.empty() ? kNever : under_way_.begin()->first;
  }
  Result<void> poll(std::vector<Outcome>& outcomes) override {
    std::ranges::move(told_, std::back_inserter(outcomes));
    told_.clear();
    return success();
  }

 private:
  std::uint64_t lost_;
  std::uint32_t nodes_ = 0;
  std::multimap<Time, Outcome> under_way_;
  std::vector<Outcome> told_;
};

const Scene kOpen;

struct Sent {
  Ran ran;
  std::vector<FlowResult> flows;
};

/// Three robots, 20 m and 40 m from the first robot.
Sent send(const TrafficOptions& options, std::uint64_t lost = 0, double seconds = 2) {
  Trial trial;
  trial.paths.emplace_back(ConstantVelocity{{40, 0, 1}, {}});
  trial.end = Duration::from_seconds(seconds);
  Lossy network(lost);
  TrafficOptions told = options;
  told.nodes = 3;
  Traffic traffic(told, kOpen);
  Sent sent{run(trial, network, traffic), {}};
  EXPECT_TRUE(sent.ran.result.ok()) << sent.ran.result.error().to_string();
  EXPECT_TRUE(sent.ran.report.packets.balanced());
  sent.flows = traffic.results();
  return sent;
}

FlowOptions flow(FlowKind kind, NodeId to = 1) {
  FlowOptions made;
  made.name = "flow";
  made.kind = kind;
  made.to = to;
  return made;
}

std::uint64_t arrived(const FlowResult& flow) {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      flow.messages, [](const Message& message) { return message.delivered != kNever; }));
}

TEST(CosimTraffic, a_header_survives_a_round_trip_and_other_bytes_fail) {
  const Header header{7, Header::Kind::reply, 3, kEveryone, 99, {1'234'567'890'123}};
  std::array<std::byte, kHeaderBytes> bytes{};
  EXPECT_FALSE(read_header(bytes).has_value());
  write_header(header, bytes);
  EXPECT_EQ(read_header(bytes), header);
  EXPECT_FALSE(read_header(std::span(bytes).first(kHeaderBytes - 1)).has_value());
  bytes[2] = std::byte{9};
  EXPECT_FALSE(read_header(bytes).has_value());
}

TEST(CosimTraffic, a_stream_sends_at_its_rate_with_distance_and_times) {
  FlowOptions stream = flow(FlowKind::stream, 2);
  stream.count = 10;
  const Sent sent = send({.flows = {stream}});
  ASSERT_EQ(sent.flows.size(), 1U);
  ASSERT_EQ(sent.flows[0].messages.size(), 10U);
  EXPECT_EQ(sent.ran.report.packets.packets, 10U);
  for (const Message& message : sent.flows[0].messages) {
    EXPECT_EQ(message.bytes, 100U);
    EXPECT_EQ(message.distance_m, 40);
    EXPECT_EQ(message.delivered - message.sent, kDelay);
    EXPECT_EQ(message.read - message.sent, Duration::from_ms(1));
  }
  EXPECT_EQ(sent.flows[0].messages[9].sent - sent.flows[0].messages[0].sent,
            Duration::from_ms(900));
}

TEST(CosimTraffic, a_given_start_is_the_instant_of_the_first_message) {
  FlowOptions stream = flow(FlowKind::stream);
  stream.start = {5'000'000};
  stream.drawn_phase = false;
  stream.lasts = Duration::from_ms(300);
  const Sent sent = send({.flows = {stream}});
  ASSERT_EQ(sent.flows[0].messages.size(), 3U);
  EXPECT_EQ(sent.flows[0].messages[0].sent.ns, 5'000'000);
}

TEST(CosimTraffic, an_accelerometer_sends_ten_seconds_that_depend_on_the_seed) {
  FlowOptions imu = flow(FlowKind::accelerometer);
  imu.rate_hz = 100;
  imu.lasts = Duration::from_ms(10'000);
  const auto all = [&](std::uint64_t seed) {
    const auto source = make_source(imu, 0, seed);
    std::vector<std::vector<std::byte>> messages;
    while (source->due() != kNever) messages.push_back(source->take());
    return messages;
  };
  const auto messages = all(1);
  EXPECT_EQ(messages.size(), 1000U);
  EXPECT_TRUE(std::ranges::all_of(messages, [](const auto& m) { return m.size() == kImuBytes; }));
  EXPECT_EQ(messages, all(1));
  EXPECT_NE(messages[5], all(2)[5]);
}

TEST(CosimTraffic, a_recording_is_sent_with_its_bytes_and_intervals) {
  const auto recorded =
      parse_recording("# seconds,bytes\n0,0a0B\r\n0.25,ff\n1,\n", "a.csv").or_throw();
  FlowOptions told = flow(FlowKind::recording);
  told.recorded = recorded;
  const auto source = make_source(told, 0, 1);
  EXPECT_EQ(source->due().ns, 0);
  const auto first = source->take();
  ASSERT_EQ(first.size(), kHeaderBytes + 2);
  EXPECT_EQ(first[kHeaderBytes + 1], std::byte{0x0b});
  EXPECT_EQ(source->due().ns, 250'000'000);
  EXPECT_EQ(arrived(send({.flows = {told}}).flows[0]), 3U);
}

TEST(CosimTraffic, an_invalid_line_of_a_recording_is_named) {
  for (const char* text : {"0,00\n1,0\n", "0,00\n1,zz\n", "0,00\n-1,00\n", "0,00\nnan,00\n",
                           "0,00\n1;00\n", "1,00\n0.5,00\n", "0,00\n1e99,00\n"}) {
    const auto recorded = parse_recording(text, "a.csv");
    ASSERT_FALSE(recorded.ok()) << text;
    EXPECT_EQ(recorded.error().where, "a.csv:2") << text;
  }
}

TEST(CosimTraffic, a_file_is_sent_in_chunks_and_the_last_is_the_remainder) {
  FlowOptions file = flow(FlowKind::file);
  file.bytes = 293'797;
  file.chunk_bytes = 8168;
  const Sent sent = send({.flows = {file}});
  const auto& messages = sent.flows[0].messages;
  ASSERT_EQ(messages.size(), 36U);
  EXPECT_EQ(messages[0].bytes, 8192U);
  EXPECT_EQ(messages[35].bytes, kHeaderBytes + 293'797 - 35 * 8168);
  EXPECT_EQ(arrived(sent.flows[0]), 36U);
}

TEST(CosimTraffic, acknowledged_messages_arrive_in_order_despite_losses) {
  FlowOptions file = flow(FlowKind::file);
  file.transport = FlowTransport::acknowledged;
  file.bytes = 293'797;
  file.chunk_bytes = 1420;
  const Sent sent = send({.flows = {file}}, 7, 20);
  const FlowResult& result = sent.flows[0];
  ASSERT_EQ(result.messages.size(), 207U);
  EXPECT_EQ(arrived(result), 207U);
  EXPECT_GT(result.repeats, 20U);
  EXPECT_TRUE(std::ranges::is_sorted(result.messages, {}, &Message::delivered));
  EXPECT_TRUE(std::ranges::is_sorted(result.messages, {}, &Message::read));
  // Packets are messages, repetitions and acknowledgements only.
  EXPECT_EQ(sent.ran.report.packets.packets,
            result.messages.size() + result.repeats + result.acknowledgements);
}

TEST(CosimTraffic, without_loss_nothing_is_repeated) {
  FlowOptions file = flow(FlowKind::file);
  file.transport = FlowTransport::acknowledged;
  file.bytes = 100'000;
  const Sent sent = send({.flows = {file}});
  EXPECT_EQ(arrived(sent.flows[0]), sent.flows[0].messages.size());
  EXPECT_EQ(sent.flows[0].repeats, 0U);
}

TEST(CosimTraffic, repetitions_become_rare_on_a_dead_link) {
  FlowOptions file = flow(FlowKind::file);
  file.transport = FlowTransport::acknowledged;
  file.bytes = 100'000;
  const Sent sent = send({.flows = {file}}, 1, 30);
  EXPECT_EQ(arrived(sent.flows[0]), 0U);
  // After 1, 3, 7 and 15 s.
  EXPECT_EQ(sent.flows[0].repeats, 4U);
}

TEST(CosimTraffic, every_packet_through_a_master_takes_two_counted_hops) {
  FlowOptions stream = flow(FlowKind::stream);
  stream.count = 10;
  FlowOptions from_master = stream;
  from_master.from = 2;
  const Sent sent = send({.via = 2, .flows = {stream, from_master}});
  EXPECT_EQ(sent.ran.report.packets.packets, 30U);  // the master sends its own packets directly
  EXPECT_EQ(sent.ran.report.packets.delivered, 30U);
  EXPECT_EQ(arrived(sent.flows[0]), 10U);
  for (const Message& message : sent.flows[0].messages) {
    // The master reads and forwards at the next instant.
    EXPECT_EQ(message.delivered - message.sent, Duration::from_ms(1) + kDelay);
    EXPECT_EQ(message.distance_m, 20);
  }
}

TEST(CosimTraffic, a_broadcast_through_a_master_reaches_each_robot_once) {
  FlowOptions stream = flow(FlowKind::stream, kEveryone);
  stream.count = 10;
  for (const NodeId via : {kEveryone, NodeId{2}}) {
    const Sent sent = send({.via = via, .flows = {stream}});
    EXPECT_EQ(sent.flows[0].messages.size(), 20U);
    EXPECT_EQ(arrived(sent.flows[0]), 20U);
    // Direct: one packet each. Through the master: one packet to it, and one from it to everyone.
    EXPECT_EQ(sent.ran.report.packets.packets, via == kEveryone ? 10U : 20U);
  }
}

TEST(CosimTraffic, a_ping_reports_its_round_trip) {
  FlowOptions ping = flow(FlowKind::ping);
  ping.count = 10;
  ping.bytes = 64;
  const Sent sent = send({.flows = {ping}});
  EXPECT_EQ(sent.ran.report.packets.packets, 20U);
  for (const Message& message : sent.flows[0].messages) {
    EXPECT_EQ(message.read - message.sent, Duration::from_ms(2));
  }
}

TEST(CosimTraffic, parallel_flows_keep_their_messages_separate) {
  FlowOptions stream = flow(FlowKind::stream);
  stream.count = 5;
  FlowOptions file = flow(FlowKind::file);
  file.bytes = 10'000;
  file.transport = FlowTransport::acknowledged;
  FlowOptions ping = flow(FlowKind::ping);
  ping.count = 3;
  const Sent sent = send({.flows = {stream, file, ping}});
  EXPECT_EQ(arrived(sent.flows[0]), 5U);
  EXPECT_EQ(arrived(sent.flows[1]), 8U);
  EXPECT_EQ(arrived(sent.flows[2]), 3U);
}

}  // namespace
}  // namespace hyphos::cosim
