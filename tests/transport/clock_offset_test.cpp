#include "transport/clock_offset.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace hyphos::transport {
namespace {

constexpr std::int64_t kUs = 1'000;
constexpr std::int64_t kSecond = 1'000'000'000;

/// Two clocks and the network between them.
struct World {
  std::int64_t ahead = 123'456'789'012'345;
  double drift_ppm = 0;
  std::int64_t now = 1'000 * kSecond;  // ours

  [[nodiscard]] std::int64_t theirs(std::int64_t ours) const {
    return ours + ahead + static_cast<std::int64_t>(drift_ppm * 1e-6 * static_cast<double>(ours));
  }
  /// A request that takes `there`, and a reply that takes `back`.
  ClockOffset::Exchange ask(std::int64_t there, std::int64_t back, std::int64_t thinking = kUs) {
    ClockOffset::Exchange e;
    e.asked = now;
    e.heard = theirs(now + there);
    e.answered = theirs(now + there + thinking);
    e.got = now + there + thinking + back;
    now = e.got;
    return e;
  }
  [[nodiscard]] std::int64_t offset() const { return theirs(now) - now; }
};

TEST(ClockOffset, equal_delays_give_the_exact_offset) {
  World world;
  ClockOffset offset;
  EXPECT_FALSE(offset.known());
  ASSERT_TRUE(offset.add(world.ask(100 * kUs, 100 * kUs)));
  EXPECT_EQ(offset.offset(world.now), world.ahead);
  EXPECT_EQ(offset.round_trip(), 200 * kUs);
  EXPECT_GE(offset.uncertainty(world.now), 100 * kUs);
  EXPECT_LE(offset.uncertainty(world.now), 101 * kUs);
}

TEST(ClockOffset, the_true_offset_is_always_within_the_uncertainty) {
  std::mt19937 random(5);
  std::exponential_distribution<double> queueing(1.0 / 300.0);  // us
  for (const double drift : {-14.0, 0.0, 14.0}) {               // within the tolerance of RFC 5905
    World world;
    world.drift_ppm = drift;
    ClockOffset offset;
    for (int i = 0; i < 500; ++i) {
      const auto there = (20 + static_cast<std::int64_t>(queueing(random))) * kUs;
      const auto back = (20 + static_cast<std::int64_t>(2 * queueing(random))) * kUs;
      ASSERT_TRUE(offset.add(world.ask(there, back)));
      const std::int64_t error = std::abs(offset.offset(world.now) - world.offset());
      // A drift line through few points adds its own error, so the bound is doubled.
      EXPECT_LE(error, offset.uncertainty(world.now) * (i < 20 ? 2 : 1)) << i << " drift " << drift;
      world.now += kSecond;
    }
    EXPECT_EQ(offset.restarts(), 0U);
  }
}

TEST(ClockOffset, the_fastest_exchange_outweighs_asymmetric_ones) {
  World world;
  ClockOffset offset;
  offset.add(world.ask(50 * kUs, 50 * kUs));
  for (int i = 0; i < 20; ++i) offset.add(world.ask(50 * kUs, 20'000 * kUs));
  EXPECT_NEAR(static_cast<double>(offset.offset(world.now) - world.ahead), 0, 1'000);
  EXPECT_LT(offset.uncertainty(world.now), 100 * kUs);
}

TEST(ClockOffset, drift_is_estimated_and_extrapolated) {
  World world;
  world.drift_ppm = 40;
  std::mt19937 random(11);
  std::uniform_int_distribution<std::int64_t> jitter(0, 20 * kUs);
  ClockOffset offset;
  for (int i = 0; i < 60; ++i) {
    offset.add(world.ask(100 * kUs + jitter(random), 100 * kUs + jitter(random)));
    world.now += kSecond;
  }
  EXPECT_NEAR(offset.drift_ppm(), 40, 1);
  world.now += 10 * kSecond;  // without a reply
  EXPECT_NEAR(static_cast<double>(offset.offset(world.now) - world.offset()), 0, 50'000);
}

TEST(ClockOffset, a_short_time_span_gives_no_drift_estimate) {
  World world;
  ClockOffset offset;
  std::mt19937 random(2);
  std::uniform_int_distribution<std::int64_t> jitter(0, 500 * kUs);
  for (int i = 0; i < 40; ++i) offset.add(world.ask(jitter(random), jitter(random)));
  EXPECT_EQ(offset.drift_ppm(), 0);
}

TEST(ClockOffset, a_clock_that_was_stopped_restarts_the_estimate) {
  World world;
  ClockOffset offset;
  for (int i = 0; i < 10; ++i) {
    offset.add(world.ask(100 * kUs, 100 * kUs));
    world.now += kSecond;
  }
  world.ahead -= 3'600 * kSecond;
  offset.add(world.ask(100 * kUs, 100 * kUs));
  EXPECT_EQ(offset.restarts(), 0U) << "a single one may be a mistake";
  offset.add(world.ask(100 * kUs, 100 * kUs));
  EXPECT_EQ(offset.restarts(), 1U);
  EXPECT_EQ(offset.offset(world.now), world.ahead);
}

TEST(ClockOffset, impossible_stamps_change_nothing) {
  World world;
  ClockOffset offset;
  offset.add(world.ask(100 * kUs, 100 * kUs));
  const std::int64_t before = offset.offset(world.now);
  const std::int64_t lo = INT64_MIN;
  const std::int64_t hi = INT64_MAX;
  for (const ClockOffset::Exchange& e : {ClockOffset::Exchange{10, 100, 90, 20},
                                         {20, 100, 100, 10},
                                         {10, 100, 200, 20},
                                         {0, lo, hi, 10},
                                         {lo, 0, 0, hi},
                                         {hi, lo, hi, lo},
                                         {0, hi, hi, 10},
                                         {0, lo, lo, 10},
                                         {0, 5, 5, 60 * kSecond}}) {
    EXPECT_FALSE(offset.add(e));
  }
  EXPECT_EQ(offset.offset(world.now), before);
  EXPECT_EQ(offset.samples(), 1U);
}

}  // namespace
}  // namespace hyphos::transport
