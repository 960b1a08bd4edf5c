// The clock alone: a fake source of ticks, no channel, no transport.
#include "hyphos/clock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <thread>
#include <vector>

#include "base/clock_core.hpp"
#include "base/wall_watch.hpp"
#include "hyphos/result.hpp"

namespace hyphos {
namespace {

using detail::ClockCore;

constexpr std::int64_t kMs = 1'000'000;

ClockTick tick(std::int64_t now_ns, std::uint64_t jumps = 0, std::uint64_t source = 7) {
  ClockTick t;
  t.now_ns = now_ns;
  t.base_ns = 1'000 * kMs;
  t.speed = 1;
  t.source = source;
  t.jumps = jumps;
  return t;
}

struct Jumps {
  explicit Jumps(ClockCore& core) {
    core.follow([this](const std::optional<ClockJump>& jump) {
      ++told;
      if (jump) all.push_back(*jump);
    });
  }
  int told = 0;
  std::vector<ClockJump> all;
};

TEST(RealClock, base_is_the_start_and_elapsed_counts_from_it) {
  const std::int64_t before = wall_now().ns;
  const Clock clock(std::make_shared<ClockCore>(ClockMode::real));
  const std::int64_t after = wall_now().ns;
  // The offset is measured between two clock readings, so its error is at most the time of a
  // reading.
  EXPECT_GE(clock.base().ns, before - kMs);
  EXPECT_LE(clock.base().ns, after + kMs);
  const Duration first = clock.elapsed();
  EXPECT_GE(first.ns, 0);
  EXPECT_GE(clock.elapsed(), first);
  EXPECT_GE(clock.now(), clock.base());
  EXPECT_TRUE(clock.ready());
  EXPECT_EQ(clock.mode(), ClockMode::real);
}

TEST(RealClock, clocks_with_the_same_given_base_share_it) {
  const std::int64_t base = wall_now().ns - 5'000 * kMs;
  const Clock a(std::make_shared<ClockCore>(ClockMode::real, base));
  EXPECT_EQ(a.base().ns, base);
  EXPECT_GE(a.elapsed().ns, 5'000 * kMs - kMs);
}

TEST(RealClock, setting_the_wall_clock_changes_now_but_not_elapsed) {
  auto core = std::make_shared<ClockCore>(ClockMode::real);
  Jumps jumps(*core);
  const Clock clock(core);
  const Time before = clock.now();
  const Duration elapsed = clock.elapsed();
  const std::int64_t offset = detail::measure_wall_offset();
  core->set_wall_offset(offset + 3'600'000 * kMs);
  EXPECT_GE(clock.now().ns - before.ns, 3'600'000 * kMs - kMs);
  EXPECT_LT((clock.elapsed() - elapsed).ns, 1'800'000 * kMs) << "an hour would show";
  ASSERT_EQ(jumps.all.size(), 1U);
  EXPECT_NEAR(static_cast<double>(jumps.all[0].delta().ns), 3.6e12, 1e9);
  core->set_wall_offset(offset);
  ASSERT_EQ(jumps.all.size(), 2U);
  EXPECT_LT(jumps.all[1].delta().ns, 0);
  EXPECT_EQ(clock.jumps(), 2U);
  core->follow(nullptr);
}

TEST(RealClock, sleep_until_ends_if_the_wall_clock_is_set_past_the_time) {
  auto core = std::make_shared<ClockCore>(ClockMode::real);
  const Clock clock(core);
  const Time far = clock.now() + Duration{3'600'000 * kMs};
  std::atomic<int> result{-1};
  std::thread sleeper([&] { result = clock.sleep_until(far) ? 1 : 0; });
  core->set_wall_offset(far.ns + kMs - monotonic_now().ns);
  sleeper.join();
  EXPECT_EQ(result, 1);
}

TEST(RealClock, sleep_for_takes_at_least_its_span) {
  const Clock clock(std::make_shared<ClockCore>(ClockMode::real));
  const Time start = monotonic_now();
  EXPECT_TRUE(clock.sleep_for(Duration{2 * kMs}));
  EXPECT_GE((monotonic_now() - start).ns, 2 * kMs);
}

TEST(RealClock, the_wall_clock_watch_ends_immediately) {
  auto core = std::make_shared<ClockCore>(ClockMode::real);
  for (int i = 0; i < 50; ++i) {
    const WallWatch watch(core);
  }
  EXPECT_EQ(core->jumps(), 0U) << "nobody has set the clock";
}

TEST(SimClock, the_clock_is_not_ready_before_the_first_tick) {
  const Clock clock(std::make_shared<ClockCore>(ClockMode::sim));
  EXPECT_FALSE(clock.ready());
  EXPECT_EQ(clock.now().ns, 0);
  EXPECT_EQ(clock.elapsed().ns, 0);
}

TEST(SimClock, ticks_set_the_time_and_the_first_one_is_a_jump) {
  auto core = std::make_shared<ClockCore>(ClockMode::sim);
  Jumps jumps(*core);
  const Clock clock(core);
  EXPECT_TRUE(core->apply(tick(1'500 * kMs)));
  EXPECT_EQ(clock.now().ns, 1'500 * kMs);
  EXPECT_EQ(clock.base().ns, 1'000 * kMs);
  EXPECT_EQ(clock.elapsed().ns, 500 * kMs);
  EXPECT_TRUE(core->apply(tick(1'600 * kMs)));
  EXPECT_EQ(clock.elapsed().ns, 600 * kMs);
  EXPECT_EQ(jumps.told, 2);
  ASSERT_EQ(jumps.all.size(), 1U);
  EXPECT_EQ(jumps.all[0].before.ns, 0);
}

TEST(SimClock, backward_and_counted_jumps_are_reported) {
  auto core = std::make_shared<ClockCore>(ClockMode::sim);
  core->apply(tick(2'000 * kMs));
  Jumps jumps(*core);
  core->apply(tick(1'200 * kMs));
  core->apply(tick(9'000 * kMs, 1));  // forwards, but the source counts a jump
  core->apply(tick(9'500 * kMs, 1));  // forwards, without a jump
  ASSERT_EQ(jumps.all.size(), 2U);
  EXPECT_EQ(jumps.all[0].delta().ns, -800 * kMs);
  EXPECT_EQ(jumps.all[1].delta().ns, 7'800 * kMs);
  EXPECT_EQ(core->jumps(), 3U);
}

TEST(SimClock, of_two_simulators_the_later_one_is_followed) {
  auto core = std::make_shared<ClockCore>(ClockMode::sim);
  core->apply(tick(2'000 * kMs, 0, 5));
  EXPECT_TRUE(core->apply(tick(3'000 * kMs, 0, 6)));
  EXPECT_FALSE(core->apply(tick(2'001 * kMs, 0, 5)));
  EXPECT_EQ(core->now().ns, 3'000 * kMs);
  EXPECT_TRUE(core->apply(tick(3'001 * kMs, 0, 6)));
}

TEST(SimClock, a_message_with_only_the_time_is_accepted) {
  ClockTick bare;
  bare.now_ns = 42 * kMs;
  const auto core = std::make_shared<ClockCore>(ClockMode::sim);
  core->apply(bare);
  bare.now_ns = 50 * kMs;
  core->apply(bare);
  EXPECT_EQ(core->base().ns, 42 * kMs) << "it began with its first message";
  EXPECT_EQ(core->elapsed().ns, 8 * kMs);
}

TEST(SimClock, sleepers_wake_at_their_time_and_not_earlier) {
  auto core = std::make_shared<ClockCore>(ClockMode::sim);
  core->apply(tick(1'000 * kMs));
  const Clock clock(core);
  constexpr int kSleepers = 8;
  std::atomic<int> early{0};
  std::vector<std::thread> threads;
  threads.reserve(kSleepers);
  for (int i = 1; i <= kSleepers; ++i) {
    threads.emplace_back([&, i] {
      const Time until{(1'000 + 10 * i) * kMs};
      if (!clock.sleep_until(until) || clock.now() < until) ++early;
    });
  }
  for (int i = 1; i <= 10 * kSleepers; ++i) core->apply(tick((1'000 + i) * kMs));
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(early, 0);
}

TEST(SimClock, sleep_for_starts_at_the_first_tick) {
  auto core = std::make_shared<ClockCore>(ClockMode::sim);
  const Clock clock(core);
  std::atomic<std::int64_t> woke{0};
  std::atomic<bool> done{false};
  std::thread sleeper([&] {
    EXPECT_TRUE(clock.sleep_for(Duration{100 * kMs}));
    woke = clock.now().ns;
    done = true;
  });
  for (std::int64_t now = 5'000 * kMs; !done; now += kMs) {
    core->apply(tick(now));
    std::this_thread::yield();
  }
  sleeper.join();
  EXPECT_GE(woke, 5'100 * kMs);
}

TEST(SimClock, a_jump_back_ends_a_sleep_with_false) {
  auto core = std::make_shared<ClockCore>(ClockMode::sim);
  core->apply(tick(2'000 * kMs));
  const Clock clock(core);
  std::atomic<bool> ended{false};
  std::atomic<bool> reached{true};
  std::thread sleeper([&] {
    reached = clock.sleep_until(Time{5'000 * kMs});
    ended = true;
  });
  // The start of the thread's sleep is not observable, so jump back until the sleep has ended.
  std::uint64_t jumps = 0;
  for (std::int64_t now = 2'000 * kMs; !ended; now -= 10) {
    core->apply(tick(now, ++jumps));
    std::this_thread::yield();
  }
  sleeper.join();
  EXPECT_FALSE(reached);
}

TEST(Clock, stop_ends_present_and_future_sleeps) {
  for (const ClockMode mode : {ClockMode::real, ClockMode::sim}) {
    auto core = std::make_shared<ClockCore>(mode);
    const Clock clock(core);
    std::thread a([&] { EXPECT_FALSE(clock.sleep_for(Duration{3'600'000 * kMs})); });
    std::thread b([&] { EXPECT_FALSE(clock.sleep_until(Time{INT64_MAX})); });
    Rate rate(clock, Duration{3'600'000 * kMs});
    std::thread c([&] { EXPECT_FALSE(rate.sleep()); });
    core->stop();
    a.join();
    b.join();
    c.join();
    EXPECT_FALSE(clock.sleep_for(Duration{1}));
  }
}

TEST(Clock, give_up_ends_the_sleep) {
  for (const ClockMode mode : {ClockMode::real, ClockMode::sim}) {
    const Clock clock(std::make_shared<ClockCore>(mode));
    int asked = 0;
    EXPECT_FALSE(clock.sleep_for(Duration{3'600'000 * kMs}, [&] { return ++asked == 3; }));
    EXPECT_EQ(asked, 3);
  }
}

TEST(RealClock, a_sleep_of_any_length_has_the_right_end) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  const Clock clock(std::make_shared<ClockCore>(ClockMode::real));
  for (const std::int64_t ns : {kMax, kMax - 1, kMax / 2}) {
    int asked = 0;
    EXPECT_FALSE(clock.sleep_for(Duration{ns}, [&] { return ++asked == 2; })) << ns;
  }
  for (const std::int64_t ns : {std::int64_t{0}, std::int64_t{-1}, -kMax}) {
    EXPECT_TRUE(clock.sleep_for(Duration{ns})) << ns;
  }
}

TEST(Rate, no_instant_is_skipped_in_simulated_time) {
  auto core = std::make_shared<ClockCore>(ClockMode::sim);
  core->apply(tick(1'000 * kMs));
  Rate rate(Clock(core), Duration{10 * kMs});
  core->apply(tick(1'105 * kMs));
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(rate.sleep());
  EXPECT_EQ(rate.skipped(), 0U);
  core->stop();
  EXPECT_FALSE(rate.sleep());
}

TEST(Rate, instants_beyond_the_maximum_lag_are_skipped_and_counted) {
  auto core = std::make_shared<ClockCore>(ClockMode::sim);
  core->apply(tick(1'000 * kMs));
  Rate rate(Clock(core), Duration{kMs});
  core->apply(tick(6'000 * kMs));  // 5000 instants
  EXPECT_TRUE(rate.sleep());
  EXPECT_EQ(rate.skipped(), 5000U - 1 - detail::kMaxBehind);
}

TEST(Rate, a_jump_starts_a_new_series_of_instants) {
  auto core = std::make_shared<ClockCore>(ClockMode::sim);
  constexpr std::int64_t kBefore = 100'000'000 * kMs;  // more than the loop below can reach
  core->apply(tick(kBefore));
  Rate rate(Clock(core), Duration{10 * kMs});
  core->apply(tick(100 * kMs));
  std::atomic<bool> woke{false};
  std::thread loop([&] {
    EXPECT_TRUE(rate.sleep());
    woke = true;
  });
  // The new series starts when the loop reads the clock, so it is later than one period of the
  // slowest read.
  for (std::int64_t now = 100 * kMs; !woke; now += kMs) {
    core->apply(tick(now));
    std::this_thread::yield();
  }
  loop.join();
  EXPECT_LT(core->now().ns, kBefore) << "the old grid would have gone on 10 ms after that";
}

TEST(Rate, a_period_must_be_positive) {
  const Clock clock(std::make_shared<ClockCore>(ClockMode::sim));
  EXPECT_THROW(Rate(clock, Duration{0}), Exception);
}

}  // namespace
}  // namespace hyphos
