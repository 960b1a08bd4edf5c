#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cosim/core/simulator.hpp"
#include "cosim/core/trace.hpp"

/// The contract of every simulator. An adapter is a struct with
///
///     static std::unique_ptr<Network> make();    // of kNodes nodes within range of each other
///     INSTANTIATE_TYPED_TEST_SUITE_P(Mine, NetworkConformance, MyAdapter);
///
/// and the same with Physics and PhysicsConformance.
namespace hyphos::cosim {

inline constexpr std::uint32_t kNodes = 4;

template <typename Adapter>
class NetworkConformance : public testing::Test {
 protected:
  void SetUp() override { network_ = fresh(7); }

  std::unique_ptr<Network> fresh(std::uint64_t seed) {
    auto network = Adapter::make();
    EXPECT_TRUE(network->init(kNodes, seed).ok());
    EXPECT_TRUE(network->set_poses(poses()).ok());
    return network;
  }
  static std::vector<Pose> poses() {
    return {{{0, 0, 1}, {}}, {{10, 0, 1}, {}}, {{0, 10, 1}, {}}, {{10, 10, 1}, {}}};
  }
  static Packet packet(PacketId id, NodeId from, NodeId to, Time stamp, std::size_t size = 100) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 13 + id);
    return {id, from, to, stamp, Buffer::adopt(std::move(bytes))};
  }
  /// Packets of all nodes to one node and to everyone, at whole milliseconds and in between.
  static std::vector<Packet> traffic() {
    std::vector<Packet> packets;
    for (PacketId id = 1; id <= 40; ++id) {
      const auto from = static_cast<NodeId>(id % kNodes);
      const NodeId to = id % 3 == 0 ? kEveryone : (from + 1) % kNodes;
      const auto at = static_cast<std::int64_t>(id) * 500'000;
      packets.push_back(packet(id, from, to, {at}, 20 * id));
    }
    return packets;
  }
  static std::vector<Outcome> run(Network& network, Time begin, Time end, Duration window,
                                  const std::vector<Packet>& packets) {
    std::vector<Outcome> outcomes;
    for (Time at = begin; at < end; at = at + window) {
      const Time to = std::min(at + window, end);
      for (const Packet& item : packets) {
        if (item.stamp < at || item.stamp >= to) continue;
        EXPECT_TRUE(network.inject(item).ok());
      }
      const auto ran = network.advance(to);
      EXPECT_TRUE(ran.ok()) << ran.error().to_string();
      EXPECT_GE(network.next_event_time(), to) << "an event in the past";
      EXPECT_TRUE(network.poll(outcomes).ok());
    }
    std::ranges::sort(outcomes, [](const Outcome& a, const Outcome& b) {
      return std::tie(a.time, a.id, a.to) < std::tie(b.time, b.id, b.to);
    });
    return outcomes;
  }
  static std::string told(const std::vector<Outcome>& outcomes) {
    Trace trace;
    for (const Outcome& outcome : outcomes) trace.outcome(outcome, outcome.time);
    return std::string(trace.text());
  }

  static constexpr Time kEnd{200'000'000};
  std::unique_ptr<Network> network_;
};
TYPED_TEST_SUITE_P(NetworkConformance);

TYPED_TEST_P(NetworkConformance, every_copy_of_a_packet_has_one_outcome) {
  const auto outcomes =
      this->run(*this->network_, {}, this->kEnd, Duration::from_ms(1), this->traffic());
  std::map<PacketId, std::uint32_t> copies;
  std::map<std::pair<PacketId, NodeId>, int> told;
  for (const Outcome& outcome : outcomes) {
    copies[outcome.id] += outcome.copies;
    if (outcome.to != kEveryone) ++told[{outcome.id, outcome.to}];
  }
  for (const Packet& packet : this->traffic()) {
    EXPECT_EQ(copies[packet.id], packet.to == kEveryone ? kNodes - 1 : 1) << packet.id;
  }
  for (const auto& [copy, times] : told) EXPECT_EQ(times, 1) << copy.first << " " << copy.second;
}

TYPED_TEST_P(NetworkConformance, bytes_arrive_as_they_were_sent) {
  const auto packets = this->traffic();
  const auto outcomes = this->run(*this->network_, {}, this->kEnd, Duration::from_ms(1), packets);
  std::size_t delivered = 0;
  for (const Outcome& outcome : outcomes) {
    if (outcome.fate != Fate::delivered) continue;
    ++delivered;
    EXPECT_EQ(outcome.bytes.text(), packets[outcome.id - 1].bytes.text()) << outcome.id;
  }
  EXPECT_GT(delivered, 0U) << "near nodes must receive each other";
}

TYPED_TEST_P(NetworkConformance, nothing_arrives_before_it_was_sent) {
  const auto packets = this->traffic();
  for (const Outcome& outcome :
       this->run(*this->network_, {}, this->kEnd, Duration::from_ms(1), packets)) {
    EXPECT_GE(outcome.time, packets[outcome.id - 1].stamp);
  }
}

TYPED_TEST_P(NetworkConformance, outcomes_are_within_their_window) {
  const auto packets = this->traffic();
  std::vector<Outcome> outcomes;
  for (Time at; at < this->kEnd; at = at + Duration::from_ms(10)) {
    const Time to = at + Duration::from_ms(10);
    for (const Packet& item : packets) {
      if (item.stamp < at || item.stamp >= to) continue;
      ASSERT_TRUE(this->network_->inject(item).ok());
    }
    ASSERT_TRUE(this->network_->advance(to).ok());
    outcomes.clear();
    ASSERT_TRUE(this->network_->poll(outcomes).ok());
    for (const Outcome& outcome : outcomes) {
      EXPECT_GE(outcome.time, at);
      EXPECT_LT(outcome.time, to);
    }
  }
}

TYPED_TEST_P(NetworkConformance, the_division_of_time_into_calls_changes_nothing) {
  const auto packets = this->traffic();
  const auto whole = this->run(*this->network_, {}, this->kEnd, Duration::from_ms(200), packets);
  for (const Duration window : {Duration::from_us(100), Duration::from_ms(1), Duration{777'777}}) {
    const auto network = this->fresh(7);
    EXPECT_EQ(this->told(this->run(*network, {}, this->kEnd, window, packets)), this->told(whole));
  }
}

TYPED_TEST_P(NetworkConformance, the_same_seed_gives_the_same_outcomes) {
  const auto packets = this->traffic();
  const auto once = this->run(*this->network_, {}, this->kEnd, Duration::from_ms(1), packets);
  const auto network = this->fresh(7);
  const auto again = this->run(*network, {}, this->kEnd, Duration::from_ms(1), packets);
  EXPECT_EQ(this->told(once), this->told(again));
}

TYPED_TEST_P(NetworkConformance, nothing_happens_before_the_next_event) {
  Network& network = *this->network_;
  ASSERT_TRUE(network.inject(this->packet(1, 0, 1, {1'000'000})).ok());
  std::vector<Outcome> outcomes;
  while (outcomes.empty()) {
    const Time next = network.next_event_time();
    ASSERT_LT(next, this->kEnd);
    ASSERT_TRUE(network.advance(next).ok()) << "half-open: the event at the end remains";
    ASSERT_TRUE(network.poll(outcomes).ok());
    ASSERT_TRUE(outcomes.empty());
    EXPECT_GE(network.next_event_time(), next);
    ASSERT_TRUE(network.advance(next + Duration{1}).ok());
    EXPECT_GT(network.next_event_time(), next);
    ASSERT_TRUE(network.poll(outcomes).ok());
    for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.time, next);
  }
  EXPECT_EQ(outcomes.size(), 1U);
}

TYPED_TEST_P(NetworkConformance, an_event_at_the_end_belongs_to_the_next_window) {
  Network& network = *this->network_;
  ASSERT_TRUE(network.advance({1'000'000}).ok());
  EXPECT_TRUE(network.inject(this->packet(1, 0, 1, {1'000'000})).ok());
  EXPECT_GE(network.next_event_time(), Time{1'000'000});
  EXPECT_LT(network.next_event_time(), this->kEnd);
  std::vector<Outcome> outcomes;
  ASSERT_TRUE(network.poll(outcomes).ok());
  EXPECT_TRUE(outcomes.empty());
}

TYPED_TEST_P(NetworkConformance, the_past_is_refused) {
  Network& network = *this->network_;
  ASSERT_TRUE(network.advance({1'000'000}).ok());
  const auto packet = network.inject(this->packet(1, 0, 1, {999'999}));
  ASSERT_FALSE(packet.ok());
  EXPECT_EQ(packet.error().code, Code::out_of_range);
  const auto back = network.advance({999'999});
  ASSERT_FALSE(back.ok());
  EXPECT_EQ(back.error().code, Code::out_of_range);
}

TYPED_TEST_P(NetworkConformance, nodes_that_do_not_exist_are_refused) {
  for (const auto& [from, to] : {std::pair(NodeId{0}, kNodes), std::pair(kNodes, NodeId{0})}) {
    const auto taken = this->network_->inject(this->packet(1, from, to, {}));
    ASSERT_FALSE(taken.ok());
    EXPECT_EQ(taken.error().code, Code::not_found);
  }
}

TYPED_TEST_P(NetworkConformance, a_restored_state_continues_identically) {
  const auto packets = this->traffic();
  constexpr Time kMiddle{10'000'000};
  (void)this->run(*this->network_, {}, kMiddle, Duration::from_ms(1), packets);
  const auto state = this->network_->save();
  if (!state.ok()) {
    EXPECT_EQ(state.error().code, Code::unsupported);
    EXPECT_FALSE(this->network_->restore({}).ok());
    return;
  }
  const auto went_on =
      this->run(*this->network_, kMiddle, this->kEnd, Duration::from_ms(1), packets);
  const auto other = this->fresh(7);
  ASSERT_TRUE(other->restore(state.value()).ok());
  const auto again = this->run(*other, kMiddle, this->kEnd, Duration::from_ms(1), packets);
  EXPECT_EQ(this->told(again), this->told(went_on));
  const std::vector<std::byte> nonsense(3);
  EXPECT_FALSE(other->restore(nonsense).ok());
}

REGISTER_TYPED_TEST_SUITE_P(NetworkConformance, every_copy_of_a_packet_has_one_outcome,
                            bytes_arrive_as_they_were_sent, nothing_arrives_before_it_was_sent,
                            outcomes_are_within_their_window,
                            the_division_of_time_into_calls_changes_nothing,
                            the_same_seed_gives_the_same_outcomes,
                            nothing_happens_before_the_next_event,
                            an_event_at_the_end_belongs_to_the_next_window, the_past_is_refused,
                            nodes_that_do_not_exist_are_refused,
                            a_restored_state_continues_identically);

template <typename Adapter>
class PhysicsConformance : public testing::Test {
 protected:
  static std::unique_ptr<Physics> fresh() {
    auto physics = Adapter::make();
    const auto ready = physics->init(kNodes, 7);
    EXPECT_TRUE(ready.ok()) << ready.error().to_string();
    return physics;
  }
  /// The positions after every 10 ms of a second, in steps of 1 ms or of `steps` ms.
  static std::vector<Vec3> run(Physics& physics, std::int64_t from_ms, std::int64_t steps) {
    std::vector<Vec3> places;
    for (std::int64_t ms = from_ms + steps; ms <= 1000; ms += steps) {
      EXPECT_TRUE(physics.advance({ms * 1'000'000}).ok());
      if (ms % 10 != 0) continue;
      for (const Pose& pose : physics.poses()) places.push_back(pose.position);
    }
    return places;
  }
  /// The same, with motion commands to all robots at 200, 400 and 600 ms.
  static std::vector<Vec3> run_steered(Physics& physics, std::int64_t steps) {
    std::vector<Vec3> places;
    for (std::int64_t ms = 0; ms < 1000; ms += steps) {
      const auto round = static_cast<double>(ms) / 200;
      for (NodeId robot = 0; ms > 0 && ms < 800 && ms % 200 == 0 && robot < kNodes; ++robot) {
        const auto told = physics.steer(robot, {{1, 0, 0}, 0.5 * round - robot});
        EXPECT_TRUE(told.ok()) << told.error().to_string();
      }
      EXPECT_TRUE(physics.advance({(ms + steps) * 1'000'000}).ok());
      if ((ms + steps) % 10 != 0) continue;
      for (const Pose& pose : physics.poses()) places.push_back(pose.position);
    }
    return places;
  }
  /// True if robots can be steered. If not, every robot must give the error.
  static bool can_be_steered() {
    const auto physics = fresh();
    const auto told = physics->steer(kNodes - 1, {{1, 0, 0}, 0});
    if (told.ok()) return true;
    EXPECT_EQ(told.error().code, Code::unsupported) << told.error().to_string();
    EXPECT_NE(told.error().message.find("robot " + std::to_string(kNodes - 1)), std::string::npos)
        << told.error().to_string();
    EXPECT_TRUE(physics->advance({1'000'000}).ok()) << "the simulator continues as before";
    return false;
  }
};
TYPED_TEST_SUITE_P(PhysicsConformance);

TYPED_TEST_P(PhysicsConformance, every_robot_has_a_pose_from_the_start) {
  EXPECT_EQ(this->fresh()->poses().size(), kNodes);
}

TYPED_TEST_P(PhysicsConformance, the_division_of_time_into_calls_changes_nothing) {
  const auto one = this->fresh();
  const auto ten = this->fresh();
  EXPECT_EQ(this->run(*one, 0, 1), this->run(*ten, 0, 10));
}

TYPED_TEST_P(PhysicsConformance, velocities_match_the_change_of_position) {
  const auto physics = this->fresh();
  for (std::int64_t ms = 1; ms < 100; ++ms) {
    const std::vector<Pose> before(physics->poses().begin(), physics->poses().end());
    ASSERT_TRUE(physics->advance({ms * 1'000'000}).ok());
    for (std::uint32_t robot = 0; robot < kNodes; ++robot) {
      const Pose& after = physics->poses()[robot];
      const double way = length(after.position - before[robot].position);
      const double speed = std::max(length(after.velocity), length(before[robot].velocity));
      EXPECT_LE(way, speed * 0.001 * 1.01 + 1e-9) << "robot " << robot << " at " << ms << " ms";
    }
  }
}

TYPED_TEST_P(PhysicsConformance, orientations_are_rotations) {
  const auto physics = this->fresh();
  for (std::int64_t ms = 0; ms <= 200; ms += 10) {
    if (ms > 0) {
      ASSERT_TRUE(physics->advance({ms * 1'000'000}).ok());
    }
    for (const Pose& pose : physics->poses()) {
      const Quaternion& q = pose.orientation;
      EXPECT_NEAR(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w, 1, 1e-6);
    }
  }
}

TYPED_TEST_P(PhysicsConformance, turns_match_the_change_of_orientation) {
  const auto physics = this->fresh();
  constexpr double kSeconds = 0.001;
  for (std::int64_t ms = 1; ms < 100; ++ms) {
    const std::vector<Pose> before(physics->poses().begin(), physics->poses().end());
    ASSERT_TRUE(physics->advance({ms * 1'000'000}).ok());
    for (std::uint32_t robot = 0; robot < kNodes; ++robot) {
      const Pose& after = physics->poses()[robot];
      const Vec3 way = turn_between(before[robot].orientation, after.orientation);
      if (length(way) > 0.5) continue;  // an abrupt corner
      const double off = std::min(length(way - after.turn * kSeconds),
                                  length(way - before[robot].turn * kSeconds));
      EXPECT_LE(off, 0.1 * length(way) + 1e-6) << "robot " << robot << " at " << ms << " ms";
    }
  }
}

TYPED_TEST_P(PhysicsConformance, poses_of_steered_robots_do_not_depend_on_the_calls) {
  if (!this->can_be_steered()) return;
  const auto once = this->fresh();
  const auto again = this->fresh();
  const auto ten = this->fresh();
  const auto places = this->run_steered(*once, 1);
  EXPECT_EQ(this->run_steered(*again, 1), places);
  EXPECT_EQ(this->run_steered(*ten, 10), places);
}

TYPED_TEST_P(PhysicsConformance, a_motion_applies_from_its_instant_to_its_robot) {
  if (!this->can_be_steered()) return;
  constexpr Time kNow{500'000'000};
  constexpr NodeId kDriven = kNodes - 1;
  const auto driven = this->fresh();
  const auto other = this->fresh();
  ASSERT_TRUE(driven->advance(kNow).ok() && other->advance(kNow).ok());
  for (const Pose& pose : driven->poses()) {
    EXPECT_EQ(pose.position, other->poses()[&pose - driven->poses().data()].position);
  }
  const Pose from = driven->poses()[kDriven];
  const auto told = driven->steer(kDriven, {{1, 0, 0}, 0});
  ASSERT_TRUE(told.ok()) << told.error().to_string();
  EXPECT_EQ(*told, "") << "it can move forward";
  EXPECT_EQ(driven->poses()[kDriven].position, from.position);
  EXPECT_EQ(driven->poses()[kDriven].orientation, from.orientation);
  constexpr Time kThen{2'500'000'000};
  ASSERT_TRUE(driven->advance(kThen).ok() && other->advance(kThen).ok());
  const Vec3 way = driven->poses()[kDriven].position - from.position;
  EXPECT_GT(dot(way, turned(from.orientation, {1, 0, 0})), 0.5) << "1 m/s forward for 2 s";
  for (NodeId robot = 0; robot < kDriven; ++robot) {
    EXPECT_EQ(driven->poses()[robot].position, other->poses()[robot].position) << robot;
  }
}

TYPED_TEST_P(PhysicsConformance, unknown_robots_and_invalid_motions_are_refused) {
  if (!this->can_be_steered()) return;
  const auto physics = this->fresh();
  EXPECT_EQ(physics->steer(kNodes, {}).error().code, Code::not_found);
  const double no_number = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(physics->steer(0, {{no_number, 0, 0}, 0}).error().code, Code::out_of_range);
  EXPECT_EQ(physics->steer(0, {{}, no_number}).error().code, Code::out_of_range);
}

TYPED_TEST_P(PhysicsConformance, the_past_is_refused) {
  const auto physics = this->fresh();
  ASSERT_TRUE(physics->advance({1'000'000}).ok());
  const auto back = physics->advance({999'999});
  ASSERT_FALSE(back.ok());
  EXPECT_EQ(back.error().code, Code::out_of_range);
}

TYPED_TEST_P(PhysicsConformance, a_restored_state_continues_identically) {
  const auto physics = this->fresh();
  (void)this->run(*physics, 0, 500);
  ASSERT_TRUE(physics->advance({1'000'000'000}).ok());
  // A steerable robot continues with this motion.
  (void)physics->steer(kNodes - 1, {{0.5, 0, 0}, 0.3});
  ASSERT_TRUE(physics->advance({1'200'000'000}).ok());
  const auto state = physics->save();
  if (!state.ok()) {
    EXPECT_EQ(state.error().code, Code::unsupported);
    return;
  }
  const auto other = this->fresh();
  ASSERT_TRUE(other->restore(state.value()).ok());
  ASSERT_TRUE(physics->advance({1'500'000'000}).ok());
  ASSERT_TRUE(other->advance({1'500'000'000}).ok());
  for (std::uint32_t robot = 0; robot < kNodes; ++robot) {
    EXPECT_EQ(other->poses()[robot].position, physics->poses()[robot].position);
  }
}

REGISTER_TYPED_TEST_SUITE_P(PhysicsConformance, every_robot_has_a_pose_from_the_start,
                            the_division_of_time_into_calls_changes_nothing,
                            velocities_match_the_change_of_position, orientations_are_rotations,
                            turns_match_the_change_of_orientation,
                            poses_of_steered_robots_do_not_depend_on_the_calls,
                            a_motion_applies_from_its_instant_to_its_robot,
                            unknown_robots_and_invalid_motions_are_refused, the_past_is_refused,
                            a_restored_state_continues_identically);

}  // namespace hyphos::cosim
