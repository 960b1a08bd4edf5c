#include "netem/wifi.hpp"

#include <cmath>

#include "harness.hpp"

namespace hyphos::lab {
namespace {

/// Keeps `stations` busy sending to station 0 (which sends to 1) until `end`.
void saturate(Wifi& wifi, Lab& lab, Station senders, Time end, std::uint32_t bytes = 1500) {
  const auto fill = [&] {
    for (Station i = 0; i < senders; ++i) {
      const Counters& mine = wifi.counters(i);
      while (mine.copies - mine.delivered - mine.dropped() < 3) {
        lab.send(wifi, i, i == 0 ? 1 : 0, bytes);
      }
    }
  };
  fill();
  while (wifi.next() <= end) {
    lab.now = wifi.next();
    wifi.advance(lab.now);
    fill();
  }
}

TEST(Airtime, of_a_frame_matches_the_standard) {
  const Airtime fast({});
  // 1500 + 36 bytes: 16 + 12288 + 6 bits need 57 symbols of 216 bits, so 20 + 57 × 4 µs.
  EXPECT_EQ(fast.data(1500, false).ns, 248'000);
  // At 6 Mbit/s symbols have 24 bits: 513 of them.
  EXPECT_EQ(fast.data(1500, true).ns, 2'072'000);
  // 14 bytes at 24 Mbit/s: 134 bits in symbols of 96.
  EXPECT_EQ(fast.ack().ns, 28'000);
  EXPECT_EQ(fast.difs().ns, 34'000);
  // SIFS + 14 bytes at 6 Mbit/s (134 bits in symbols of 24: 44 µs) + DIFS.
  EXPECT_EQ(fast.eifs().ns, 94'000);
}

TEST(Airtime, acknowledgements_use_a_mandatory_rate) {
  EXPECT_EQ(Airtime({.rate_mbit = 18}).ack().ns, 32'000);  // at 12: 134 bits in symbols of 48
  EXPECT_EQ(Airtime({.rate_mbit = 9}).ack().ns, 44'000);   // at 6
}

TEST(Wifi, a_lone_frame_in_an_idle_channel_takes_its_airtime) {
  Lab lab;
  Wifi wifi(2, {}, lab.buffers, lab);
  lab.now = {9'000'000};  // a slot boundary
  lab.send(wifi, 0, 1, 1500);
  lab.run(wifi);
  ASSERT_EQ(lab.arrivals.size(), 1U);
  EXPECT_EQ(lab.arrivals[0].at.ns, 9'248'000);
  EXPECT_EQ(wifi.counters(0).airtime.ns, 248'000);
  EXPECT_EQ(wifi.counters(0).attempts, 1U);
  expect_balanced(wifi, lab);
}

TEST(Wifi, one_station_reaches_the_throughput_of_its_mean_back_off) {
  Lab lab;
  Wifi wifi(2, {}, lab.buffers, lab);
  const Time end{10'000'000'000};
  saturate(wifi, lab, 1, end);
  // Frame, SIFS, ACK, DIFS and 7.5 slots of back-off on average.
  const double cycle_us = 248 + 16 + 28 + 34 + 7.5 * 9;
  const double expected = static_cast<double>(end.ns) / 1e3 / cycle_us;
  EXPECT_NEAR(static_cast<double>(lab.arrivals.size()), expected, expected * 0.005);
  EXPECT_EQ(wifi.counters(0).collisions, 0U);
}

TEST(Wifi, two_stations_share_the_medium_fairly) {
  Lab lab;
  Wifi wifi(2, {}, lab.buffers, lab);
  saturate(wifi, lab, 2, {20'000'000'000});
  const auto first = static_cast<double>(wifi.counters(0).delivered);
  const auto second = static_cast<double>(wifi.counters(1).delivered);
  EXPECT_GT(first, 20'000);
  EXPECT_NEAR(first / second, 1, 0.02);
}

TEST(Wifi, small_frames_give_a_station_no_more_turns) {
  Lab lab;
  Wifi wifi(3, {}, lab.buffers, lab);
  for (int i = 0; i < 900; ++i) {
    lab.send(wifi, 0, 2, 1500);
    lab.send(wifi, 1, 2, 60);
  }
  while (wifi.counters(1).delivered < 500) {
    lab.now = wifi.next();
    wifi.advance(lab.now);
  }
  EXPECT_NEAR(static_cast<double>(wifi.counters(0).delivered), 500, 60);
}

TEST(Wifi, a_collision_doubles_the_window_and_success_resets_it) {
  Lab lab;
  // A first back-off without slots, so that two queued frames must collide.
  Wifi wifi(3, {.window_min = 1, .window_max = 7, .retry_limit = 50}, lab.buffers, lab);
  for (int i = 0; i < 200; ++i) {
    lab.send(wifi, 0, 2, 1000);
    lab.send(wifi, 1, 2, 1000);
  }
  std::vector<std::int64_t> window{1, 1};
  int doubled = 0;
  int reset = 0;
  while (wifi.next() != kNever) {
    const std::uint64_t arrived = lab.arrivals.size();
    const std::uint64_t met = wifi.counters(0).collisions;
    lab.now = wifi.next();
    wifi.advance(lab.now);
    for (Station i = 0; i < 2; ++i) {
      const std::int64_t is = wifi.contention_window(i);
      if (is > window[i]) {
        EXPECT_EQ(is, 2 * window[i] + 1);
        EXPECT_EQ(lab.arrivals.size(), arrived);
        ++doubled;
      } else if (is < window[i]) {
        EXPECT_EQ(is, 1);
        ++reset;
      }
      EXPECT_LE(is, 7);
      window[i] = is;
    }
    EXPECT_EQ(wifi.counters(0).collisions, wifi.counters(1).collisions);
    EXPECT_LE(wifi.counters(0).collisions, met + 1);
  }
  EXPECT_GT(doubled, 20);
  EXPECT_GT(reset, 20);
  EXPECT_EQ(lab.arrivals.size(), 400U);
  expect_balanced(wifi, lab);
}

/// G. Bianchi, "Performance Analysis of the IEEE 802.11 Distributed Coordination Function", 2000,
/// equations 7 and 9: the probability that a frame of one of n saturated stations collides.
double bianchi(int stations, double window, int doublings) {
  double low = 0;
  double high = 0.49;
  const auto meets = [&](double p) {
    double sum = 0;
    for (int i = 0; i < doublings; ++i) sum += std::pow(2 * p, i);
    const double tau = 2 / (1 + window + p * window * sum);
    return 1 - std::pow(1 - tau, stations - 1);
  };
  for (int i = 0; i < 60; ++i) {
    const double p = (low + high) / 2;
    (meets(p) > p ? low : high) = p;
  }
  return low;
}

TEST(Wifi, the_collision_rate_matches_the_model_of_bianchi) {
  for (const Station stations : {Station{2}, Station{5}, Station{10}}) {
    Lab lab;
    Wifi wifi(stations, {}, lab.buffers, lab);
    saturate(wifi, lab, stations, {20'000'000'000});
    double attempts = 0;
    double collisions = 0;
    for (Station i = 0; i < stations; ++i) {
      attempts += static_cast<double>(wifi.counters(i).attempts);
      collisions += static_cast<double>(wifi.counters(i).collisions);
    }
    const double expected = bianchi(stations, 16, 6);
    EXPECT_NEAR(collisions / attempts, expected, expected * 0.15) << stations;
  }
}

TEST(Wifi, an_unreceived_frame_is_dropped_at_the_retry_limit) {
  Lab lab;
  Wifi wifi(2, {.loss = {.probability = 1}}, lab.buffers, lab);
  lab.send(wifi, 0, 1, 100);
  lab.run(wifi);
  EXPECT_EQ(wifi.counters(0).attempts, 7U);
  EXPECT_EQ(wifi.counters(0).dropped(Drop::retries), 1U);
  EXPECT_EQ(wifi.contention_window(0), 15);
  EXPECT_TRUE(lab.arrivals.empty());
  expect_balanced(wifi, lab);
}

TEST(Wifi, retries_hide_losses_of_unicast_frames) {
  Lab lab;
  Wifi wifi(2, {.loss = {.probability = 0.2}}, lab.buffers, lab);
  for (int i = 0; i < 2000; ++i) {
    lab.send(wifi, 0, 1, 500);
    lab.run(wifi);
  }
  // 0.2^7 of the frames are given up: hardly one of 2000.
  EXPECT_GE(lab.arrivals.size(), 1998U);
  EXPECT_NEAR(static_cast<double>(wifi.counters(0).attempts), 2500, 150);
  expect_balanced(wifi, lab);
}

TEST(Wifi, a_frame_to_everyone_is_slow_and_not_repeated) {
  Lab lab;
  Wifi wifi(4, {.loss = {.probability = 0.5}}, lab.buffers, lab);
  for (int i = 0; i < 1000; ++i) {
    lab.send(wifi, 0, kEveryone, 1500);
    lab.run(wifi);
  }
  EXPECT_EQ(wifi.counters(0).attempts, 1000U);
  EXPECT_EQ(wifi.counters(0).airtime.ns, 1000 * 2'072'000LL);
  EXPECT_NEAR(static_cast<double>(lab.arrivals.size()), 1500, 4 * 27.4);
  EXPECT_EQ(lab.arrivals.size() + wifi.counters(0).dropped(Drop::loss), 3000U);
  expect_balanced(wifi, lab);
}

TEST(Wifi, colliding_frames_to_everyone_are_lost_and_counted) {
  Lab lab;
  Wifi wifi(3, {.window_min = 1, .window_max = 1}, lab.buffers, lab);
  for (int i = 0; i < 100; ++i) {
    lab.send(wifi, 0, kEveryone, 1000);
    lab.send(wifi, 1, kEveryone, 1000);
  }
  lab.run(wifi);
  const std::uint64_t lost = wifi.counters(0).dropped(Drop::collision);
  EXPECT_GT(lost, 20U);
  EXPECT_EQ(lost, 2 * wifi.counters(0).collisions);  // two receivers each
  EXPECT_EQ(lab.arrivals.size(), 2 * (200 - 2 * wifi.counters(0).collisions));
  expect_balanced(wifi, lab);
}

TEST(Wifi, a_full_queue_drops_the_newest_and_counts_it) {
  Lab lab;
  Wifi wifi(2, {.queue = {.packets = 5}}, lab.buffers, lab);
  for (std::uint32_t i = 0; i < 10; ++i) lab.send(wifi, 0, 1, 100 + i);
  EXPECT_EQ(wifi.counters(0).dropped(Drop::queue), 4U);
  lab.run(wifi);
  ASSERT_EQ(lab.arrivals.size(), 6U);
  for (std::uint32_t i = 0; i < 6; ++i) EXPECT_EQ(lab.arrivals[i].packet.bytes, 100 + i);
  expect_balanced(wifi, lab);
}

/// The number of slots before station `second` sends. It gets a packet `later` after a frame of
/// station 0.
std::int64_t slots_until(std::uint64_t seed, Station second, Duration later) {
  Lab lab;
  Wifi wifi(2, {.seed = seed}, lab.buffers, lab);
  lab.send(wifi, 0, 1, 1500);
  lab.run(wifi, Time{} + later);
  lab.send(wifi, second, second == 0 ? 1 : 0, 1500);
  lab.run(wifi);
  EXPECT_EQ(lab.arrivals.size(), 2U);
  const std::int64_t idle_again = 248'000 + 16'000 + 28'000 + 34'000;
  const std::int64_t waited = lab.arrivals[1].at.ns - 248'000 - idle_again;
  EXPECT_EQ(waited % 9'000, 0);
  return waited / 9'000;
}

/// The mean over many seeds. It is 7.5 for a uniform draw from 0 to 15.
double mean_slots(Station second, Duration later) {
  constexpr int kSeeds = 400;
  std::int64_t sum = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const std::int64_t slots = slots_until(static_cast<std::uint64_t>(seed), second, later);
    EXPECT_GE(slots, 0);
    EXPECT_LE(slots, 15);
    sum += slots;
  }
  return static_cast<double>(sum) / kSeeds;
}

TEST(Wifi, a_packet_for_a_busy_channel_waits_for_a_back_off) {
  EXPECT_NEAR(mean_slots(1, Duration::from_us(100)), 7.5, 1);
}

TEST(Wifi, a_station_backs_off_after_sending_on_an_idle_channel) {
  // The packet arrives after one slot, so the minimum is one.
  EXPECT_NEAR(mean_slots(0, Duration::from_us(326 + 9)), 7.5, 1);
}

TEST(Wifi, a_packet_for_a_long_idle_channel_is_sent_at_once) {
  EXPECT_EQ(slots_until(3, 1, Duration::from_us(326 + 9 * 20)), 20);
  EXPECT_EQ(slots_until(3, 0, Duration::from_us(326 + 9 * 20)), 20);
}

TEST(Wifi, the_longer_eifs_pause_follows_a_corrupted_frame) {
  Lab lab;
  Wifi wifi(2, {.window_min = 0, .window_max = 0, .retry_limit = 2, .loss = {.probability = 1}},
            lab.buffers, lab);
  lab.send(wifi, 0, 1, 1500);
  lab.run(wifi);
  EXPECT_EQ(lab.now.ns, 248'000 + 94'000 + 248'000);
  EXPECT_EQ(wifi.counters(0).dropped(Drop::retries), 1U);
}

}  // namespace
}  // namespace hyphos::lab
