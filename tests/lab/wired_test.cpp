#include "netem/wired.hpp"

#include <algorithm>

#include "harness.hpp"

namespace hyphos::lab {
namespace {

TEST(Wired, a_cable_without_limits_delivers_at_once) {
  Lab lab;
  Wired cable(2, {}, lab.buffers, lab);
  lab.send(cable, 0, 1, 100);
  EXPECT_EQ(cable.next(), lab.now);
  lab.run(cable);
  ASSERT_EQ(lab.arrivals.size(), 1U);
  EXPECT_EQ(lab.arrivals[0].at, Time{});
  EXPECT_EQ(lab.arrivals[0].to, 1);
  expect_balanced(cable, lab);
}

TEST(Wired, a_packet_takes_its_transmission_time_plus_the_delay) {
  Lab lab;
  Wired cable(2, {.rate_mbit = 10, .delay = Duration::from_ms(5)}, lab.buffers, lab);
  lab.send(cable, 0, 1, 1250);  // 10,000 bits: 1 ms
  lab.run(cable);
  ASSERT_EQ(lab.arrivals.size(), 1U);
  EXPECT_EQ(lab.arrivals[0].at.ns, 6'000'000);
}

TEST(Wired, the_rate_is_exact_over_many_packets_of_odd_sizes) {
  Lab lab;
  Wired cable(2, {.rate_mbit = 7}, lab.buffers, lab);
  std::int64_t bits = 0;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const std::uint32_t bytes = 60 + i % 997;
    bits += std::int64_t{bytes} * 8;
    ASSERT_TRUE(lab.send(cable, 0, 1, bytes));
  }
  lab.run(cable);
  ASSERT_EQ(lab.arrivals.size(), 1000U);
  // Exact to the nanosecond, although no single packet ends on a whole nanosecond.
  EXPECT_EQ(lab.arrivals.back().at.ns, bits * 1000 / 7);
}

TEST(Wired, a_late_caller_does_not_lower_the_rate) {
  Lab lab;
  Wired cable(2, {.rate_mbit = 8}, lab.buffers, lab);
  for (int i = 0; i < 100; ++i) lab.send(cable, 0, 1, 1000);  // 1 ms each
  for (int ms = 0; ms <= 100; ms += 20) {
    lab.now = {std::int64_t{ms} * 1'000'000};
    cable.advance(lab.now);
    EXPECT_EQ(lab.arrivals.size(), static_cast<std::size_t>(ms));
  }
}

TEST(Wired, the_two_directions_do_not_wait_for_each_other) {
  Lab lab;
  Wired cable(2, {.rate_mbit = 8}, lab.buffers, lab);
  for (int i = 0; i < 10; ++i) {
    lab.send(cable, 0, 1, 1000);
    lab.send(cable, 1, 0, 1000);
  }
  lab.run(cable);
  EXPECT_EQ(lab.arrivals.size(), 20U);
  EXPECT_EQ(lab.now.ns, 10'000'000);
}

TEST(Wired, a_full_queue_drops_the_newest_and_counts_it) {
  Lab lab;
  Wired cable(2, {.rate_mbit = 8, .queue = {.packets = 3}}, lab.buffers, lab);
  for (std::uint32_t i = 0; i < 10; ++i) lab.send(cable, 0, 1, 100 + i);
  EXPECT_EQ(cable.counters(0).dropped(Drop::queue), 6U);  // one is on the wire, three wait
  lab.run(cable);
  ASSERT_EQ(lab.arrivals.size(), 4U);
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(lab.arrivals[i].packet.bytes, 100 + i);
  expect_balanced(cable, lab);
}

TEST(Wired, a_queue_may_be_limited_in_bytes) {
  Lab lab;
  Wired cable(2, {.rate_mbit = 8, .queue = {.bytes = 2500}}, lab.buffers, lab);
  for (int i = 0; i < 5; ++i) lab.send(cable, 0, 1, 1000);
  lab.send(cable, 0, 1, 500);  // still fits
  lab.run(cable);
  EXPECT_EQ(lab.arrivals.size(), 4U);
  EXPECT_EQ(cable.counters(0).dropped(Drop::queue), 2U);
}

TEST(Wired, an_emptied_queue_has_its_full_capacity_again) {
  Lab lab;
  Wired cable(2, {.rate_mbit = 8, .queue = {.bytes = 2000}}, lab.buffers, lab);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 3; ++i) lab.send(cable, 0, 1, 1000);
    lab.run(cable);
  }
  EXPECT_EQ(lab.arrivals.size(), 9U);
  EXPECT_EQ(cable.counters(0).dropped(), 0U);
}

TEST(Wired, a_full_queue_drops_a_broadcast_for_all_receivers) {
  Lab lab;
  Wired network(4, {.rate_mbit = 8, .queue = {.packets = 1}}, lab.buffers, lab);
  for (int i = 0; i < 3; ++i) lab.send(network, 0, kEveryone, 1000);
  EXPECT_EQ(network.counters(0).dropped(Drop::queue), 3U);
  lab.run(network);
  EXPECT_EQ(lab.arrivals.size(), 6U);
  expect_balanced(network, lab);
}

TEST(Wired, jitter_stays_within_its_bounds_and_keeps_the_order) {
  Lab lab;
  Wired cable(2, {.delay = Duration::from_ms(5), .jitter = Duration::from_ms(2)}, lab.buffers, lab);
  std::vector<std::int64_t> sent;
  for (std::uint32_t i = 0; i < 2000; ++i) {
    lab.run(cable, {std::int64_t{i} * 500'000});
    lab.send(cable, 0, 1, 100 + i);
    sent.push_back(lab.now.ns);
  }
  lab.run(cable);
  ASSERT_EQ(lab.arrivals.size(), sent.size());
  bool early = false;
  bool late = false;
  for (std::uint32_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(lab.arrivals[i].packet.bytes, 100 + i);
    const std::int64_t took = lab.arrivals[i].at.ns - sent[i];
    EXPECT_GE(took, 3'000'000);
    EXPECT_LE(took, 7'000'000);
    early = early || took < 4'000'000;
    late = late || took > 6'500'000;
  }
  EXPECT_TRUE(early && late);
}

TEST(Wired, a_switch_sends_again_at_the_port_of_the_receiver) {
  Lab lab;
  Wired network(3, {.rate_mbit = 8}, lab.buffers, lab);
  lab.send(network, 0, 2, 1000);
  lab.send(network, 1, 2, 1000);
  lab.run(network);
  ASSERT_EQ(lab.arrivals.size(), 2U);
  EXPECT_EQ(lab.arrivals[0].at.ns, 2'000'000);
  EXPECT_EQ(lab.arrivals[1].at.ns, 3'000'000);  // both reached the port at once
}

TEST(Wired, many_senders_overflow_the_port_of_one_receiver) {
  Lab lab;
  Wired network(5, {.rate_mbit = 8, .queue = {.packets = 10}}, lab.buffers, lab);
  for (Station from = 0; from < 4; ++from) {
    for (int i = 0; i < 11; ++i) lab.send(network, from, 4, 1000);
  }
  lab.run(network);
  std::uint64_t dropped = 0;
  for (Station from = 0; from < 4; ++from) {
    dropped += network.counters(from).dropped(Drop::queue);
    EXPECT_EQ(network.counters(from).copies, 11U);
  }
  EXPECT_GT(dropped, 10U);
  EXPECT_EQ(lab.arrivals.size() + dropped, 44U);
  expect_balanced(network, lab);
}

TEST(Wired, a_packet_to_everyone_reaches_all_but_its_sender) {
  Lab lab;
  Wired network(4, {.rate_mbit = 8}, lab.buffers, lab);
  lab.send(network, 2, kEveryone, 1000);
  lab.run(network);
  std::vector<Station> reached(lab.arrivals.size());
  std::transform(lab.arrivals.begin(), lab.arrivals.end(), reached.begin(),
                 [](const Arrival& arrival) { return arrival.to; });
  EXPECT_EQ(reached, (std::vector<Station>{0, 1, 3}));
  EXPECT_EQ(network.counters(2).packets, 1U);
  EXPECT_EQ(network.counters(2).delivered, 3U);
  expect_balanced(network, lab);
}

TEST(Wired, a_refusal_by_a_device_is_counted) {
  Lab lab;
  lab.accepts = false;
  Wired cable(2, {}, lab.buffers, lab);
  lab.send(cable, 0, 1, 100);
  lab.run(cable);
  EXPECT_EQ(cable.counters(0).dropped(Drop::device_refused), 1U);
  EXPECT_EQ(cable.counters(1).received, 0U);
  expect_balanced(cable, lab);
}

TEST(Wired, the_buffers_bound_the_packets_in_flight) {
  Lab lab(100);
  Wired cable(2, {.delay = Duration::from_seconds(1)}, lab.buffers, lab);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(lab.send(cable, 0, 1, 100));
  EXPECT_FALSE(lab.send(cable, 0, 1, 100));
  EXPECT_EQ(cable.inside(), 100U);
  lab.run(cable);
  expect_balanced(cable, lab);
}

TEST(Wired, the_same_seed_gives_the_same_network) {
  const auto arrivals = [](std::uint64_t seed) {
    Lab lab;
    Wired cable(2,
                {.delay = Duration::from_ms(3),
                 .jitter = Duration::from_ms(3),
                 .loss = {.probability = 0.2, .burst_packets = 4},
                 .seed = seed},
                lab.buffers, lab);
    for (int i = 0; i < 300; ++i) {
      lab.send(cable, 0, 1, 100);
      lab.run(cable, lab.now + Duration::from_us(777));
    }
    lab.run(cable);
    std::vector<std::int64_t> times(lab.arrivals.size());
    std::transform(lab.arrivals.begin(), lab.arrivals.end(), times.begin(),
                   [](const Arrival& arrival) { return arrival.at.ns; });
    return times;
  };
  EXPECT_EQ(arrivals(7), arrivals(7));
  EXPECT_NE(arrivals(7), arrivals(8));
}

}  // namespace
}  // namespace hyphos::lab
