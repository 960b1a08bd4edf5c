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

/// Delivers after kDelay; of packets to one, every `lost`th is dropped.
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

/// Three robots, 20 m and 40 m from the first one.
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

TEST(CosimTraffic, a_header_is_read_as_it_was_written_and_other_bytes_are_none) {
  const Header header{7, Header::Kind::reply, 3, kEveryone, 99, {1'234'567'890'123}};
  std::array<std::byte, kHeaderBytes> bytes{};
  EXPECT_FALSE(read_header(bytes).has_value());
  write_header(header, bytes);
  EXPECT_EQ(read_header(bytes), header);
  EXPECT_FALSE(read_header(std::span(bytes).first(kHeaderBytes - 1)).has_value());
  bytes[2] = std::byte{9};
  EXPECT_FALSE(read_header(bytes).has_value());
}

TEST(CosimTraffic, a_stream_sends_so_often_and_each_message_tells_its_distance_and_times) {
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

TEST(CosimTraffic, a_start_that_is_given_is_the_instant_of_the_first_message) {
  FlowOptions stream = flow(FlowKind::stream);
  stream.start = {5'000'000};
  stream.drawn_phase = false;
  stream.lasts = Duration::from_ms(300);
  const Sent sent = send({.flows = {stream}});
  ASSERT_EQ(sent.flows[0].messages.size(), 3U);
  EXPECT_EQ(sent.flows[0].messages[0].sent.ns, 5'000'000);
}

TEST(CosimTraffic, an_accelerometer_sends_ten_seconds_of_what_its_seed_gives) {
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

TEST(CosimTraffic, a_recording_is_sent_with_its_bytes_and_its_pauses) {
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

TEST(CosimTraffic, a_line_of_a_recording_that_is_none_is_named) {
  for (const char* text : {"0,00\n1,0\n", "0,00\n1,zz\n", "0,00\n-1,00\n", "0,00\nnan,00\n",
                           "0,00\n1;00\n", "1,00\n0.5,00\n", "0,00\n1e99,00\n"}) {
    const auto recorded = parse_recording(text, "a.csv");
    ASSERT_FALSE(recorded.ok()) << text;
    EXPECT_EQ(recorded.error().where, "a.csv:2") << text;
  }
}

TEST(CosimTraffic, a_file_goes_in_chunks_and_the_last_one_is_what_is_left) {
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

TEST(CosimTraffic, what_is_acknowledged_arrives_whole_and_in_order_over_a_lossy_network) {
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
  // Packets are messages, repeats and acknowledgements, and nothing else.
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

TEST(CosimTraffic, a_link_that_is_dead_delivers_nothing_and_the_repeats_become_rare) {
  FlowOptions file = flow(FlowKind::file);
  file.transport = FlowTransport::acknowledged;
  file.bytes = 100'000;
  const Sent sent = send({.flows = {file}}, 1, 30);
  EXPECT_EQ(arrived(sent.flows[0]), 0U);
  // After 1, 3, 7 and 15 s.
  EXPECT_EQ(sent.flows[0].repeats, 4U);
}

TEST(CosimTraffic, through_a_master_everything_takes_two_hops_and_both_are_in_the_ledger) {
  FlowOptions stream = flow(FlowKind::stream);
  stream.count = 10;
  FlowOptions from_master = stream;
  from_master.from = 2;
  const Sent sent = send({.via = 2, .flows = {stream, from_master}});
  EXPECT_EQ(sent.ran.report.packets.packets, 30U);  // the master's own go straight
  EXPECT_EQ(sent.ran.report.packets.delivered, 30U);
  EXPECT_EQ(arrived(sent.flows[0]), 10U);
  for (const Message& message : sent.flows[0].messages) {
    // The master reads at the next instant, and sends in it.
    EXPECT_EQ(message.delivered - message.sent, Duration::from_ms(1) + kDelay);
    EXPECT_EQ(message.distance_m, 20);
  }
}

TEST(CosimTraffic, what_is_for_everyone_reaches_each_once_through_a_master_too) {
  FlowOptions stream = flow(FlowKind::stream, kEveryone);
  stream.count = 10;
  for (const NodeId via : {kEveryone, NodeId{2}}) {
    const Sent sent = send({.via = via, .flows = {stream}});
    EXPECT_EQ(sent.flows[0].messages.size(), 20U);
    EXPECT_EQ(arrived(sent.flows[0]), 20U);
    // Straight: a packet each. Through the master: one to it, and one from it to everyone.
    EXPECT_EQ(sent.ran.report.packets.packets, via == kEveryone ? 10U : 20U);
  }
}

TEST(CosimTraffic, a_ping_comes_back_and_tells_the_way_there_and_back) {
  FlowOptions ping = flow(FlowKind::ping);
  ping.count = 10;
  ping.bytes = 64;
  const Sent sent = send({.flows = {ping}});
  EXPECT_EQ(sent.ran.report.packets.packets, 20U);
  for (const Message& message : sent.flows[0].messages) {
    EXPECT_EQ(message.read - message.sent, Duration::from_ms(2));
  }
}

TEST(CosimTraffic, flows_side_by_side_do_not_take_each_others_messages) {
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
