// A restored radio continues exactly like the saved one.
#include <random>

#include "rig.hpp"

namespace hyphos::cosim {
namespace {

constexpr std::uint32_t kNodes = 12;
constexpr Time kEnd{60'000'000};

/// Near enough to interfere, and too far for some.
std::vector<Pose> places() {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> place(0, 250);
  std::vector<Pose> poses(kNodes);
  for (Pose& pose : poses) pose.position = {place(random), place(random), 1};
  return poses;
}

/// More than the channel can carry: queues, collisions, repetitions.
std::vector<Packet> burst() {
  std::mt19937_64 random(6);
  std::vector<Packet> packets;
  for (PacketId id = 1; id <= 300; ++id) {
    const auto from = static_cast<NodeId>(random() % kNodes);
    const NodeId to = id % 3 == 0 ? kEveryone : static_cast<NodeId>((from + 1 + id % 7) % kNodes);
    const Time stamp{static_cast<std::int64_t>(id) * 100'000};
    packets.push_back({id, from, to, stamp, Buffer::adopt(std::vector<std::byte>(50 + id))});
  }
  return packets;
}

AnalyticRadio radio() { return AnalyticRadio({.shadowing_db = 4, .queue_packets = 8}, nullptr); }

/// The outcomes of the packets from `begin` to `end`.
std::string run(AnalyticRadio& network, Time begin, Time end) {
  for (const Packet& packet : burst()) {
    if (packet.stamp < begin || packet.stamp >= end) continue;
    EXPECT_TRUE(network.inject(packet).ok());
  }
  EXPECT_TRUE(network.advance(end).ok());
  std::vector<Outcome> outcomes;
  EXPECT_TRUE(network.poll(outcomes).ok());
  Trace trace;
  for (const Outcome& outcome : outcomes) trace.outcome(outcome, outcome.time);
  return std::string(trace.text());
}

TEST(CosimRadioState, a_radio_saved_during_frames_continues_identically) {
  int reasons = 0;
  for (std::int64_t us = 0; us < 40'000; us += 777) {
    const Time middle{us * 1000};
    AnalyticRadio one = radio();
    ASSERT_TRUE(one.init(kNodes, 3).ok() && one.set_poses(places()).ok());
    (void)run(one, {}, middle);
    const auto state = one.save();
    ASSERT_TRUE(state.ok());
    EXPECT_EQ(*one.save(), *state) << "saving changes nothing";
    AnalyticRadio other = radio();
    ASSERT_TRUE(other.init(kNodes, 3).ok());
    const auto restored = other.restore(*state);
    ASSERT_TRUE(restored.ok()) << restored.error().to_string();
    EXPECT_EQ(other.next_event_time(), one.next_event_time());
    const std::string went_on = run(one, middle, kEnd);
    EXPECT_EQ(run(other, middle, kEnd), went_on) << us;
    for (const char* reason : {"collision", "queue_full", "out_of_range"}) {
      reasons += went_on.find(reason) != std::string::npos ? 1 : 0;
    }
  }
  EXPECT_GT(reasons, 100) << "the channel is crowded enough for this test";
}

TEST(CosimRadioState, a_state_of_another_run_or_a_changed_byte_is_refused) {
  AnalyticRadio one = radio();
  ASSERT_TRUE(one.init(kNodes, 3).ok() && one.set_poses(places()).ok());
  (void)run(one, {}, {20'000'000});
  const auto state = one.save().or_throw();
  const auto refused = [](std::uint32_t nodes, std::uint64_t seed,
                          const std::vector<std::byte>& bytes) {
    AnalyticRadio other = radio();
    EXPECT_TRUE(other.init(nodes, seed).ok());
    const auto restored = other.restore(bytes);
    return !restored && restored.error().code == Code::corrupt;
  };
  EXPECT_FALSE(refused(kNodes, 3, state));
  EXPECT_TRUE(refused(kNodes, 4, state)) << "another seed";
  EXPECT_TRUE(refused(kNodes - 1, 3, state));
  std::mt19937_64 random(9);
  for (int trial = 0; trial < 300; ++trial) {
    auto bytes = state;
    bytes[random() % bytes.size()] ^= std::byte{1};
    EXPECT_TRUE(refused(kNodes, 3, bytes));
    bytes.resize(random() % bytes.size());
    EXPECT_TRUE(refused(kNodes, 3, bytes));
  }
}

}  // namespace
}  // namespace hyphos::cosim
