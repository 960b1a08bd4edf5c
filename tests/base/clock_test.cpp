// The clock by itself: a fake source of ticks, no channel, no transport.
#include "hyphos/clock.hpp"

#include <gtest/gtest.h>

#include <atomic>
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

TEST(RealClock, BaseIsTheStartAndElapsedRunsFromThere) {
  const std::int64_t before = wall_now().ns;
  const Clock clock(std::make_shared<ClockCore>(ClockMode::real));
  const std::int64_t after = wall_now().ns;
  // The offset is read around both clocks, so it may be off by what reading costs.
  EXPECT_GE(clock.base().ns, before - kMs);
  EXPECT_LE(clock.base().ns, after + kMs);
  const Duration first = clock.elapsed();
  EXPECT_GE(first.ns, 0);
  EXPECT_GE(clock.elapsed(), first);
  EXPECT_GE(clock.now(), clock.base());
  EXPECT_TRUE(clock.ready());
  EXPECT_EQ(clock.mode(), ClockMode::real);
}

TEST(RealClock, AGivenBaseIsSharedByAllWhoAreGivenIt) {
  const std::int64_t base = wall_now().ns - 5'000 * kMs;
  const Clock a(std::make_shared<ClockCore>(ClockMode::real, base));
  EXPECT_EQ(a.base().ns, base);
  EXPECT_GE(a.elapsed().ns, 5'000 * kMs - kMs);
}

TEST(RealClock, SettingTheWallClockMovesNowAndNotElapsed) {
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

TEST(RealClock, SleepUntilATimeThatTheWallClockIsSetPastEnds) {
  auto core = std::make_shared<ClockCore>(ClockMode::real);
  const Clock clock(core);
  const Time far = clock.now() + Duration{3'600'000 * kMs};
  std::atomic<int> result{-1};
  std::thread sleeper([&] { result = clock.sleep_until(far) ? 1 : 0; });
  core->set_wall_offset(far.ns + kMs - monotonic_now().ns);
  sleeper.join();
  EXPECT_EQ(result, 1);
}

TEST(RealClock, SleepForTakesAtLeastThatLong) {
  const Clock clock(std::make_shared<ClockCore>(ClockMode::real));
  const Time start = monotonic_now();
  EXPECT_TRUE(clock.sleep_for(Duration{2 * kMs}));
  EXPECT_GE((monotonic_now() - start).ns, 2 * kMs);
}

TEST(RealClock, TheWatchOfTheWallClockEndsAtOnce) {
  auto core = std::make_shared<ClockCore>(ClockMode::real);
  for (int i = 0; i < 50; ++i) {
    const WallWatch watch(core);
  }
  EXPECT_EQ(core->jumps(), 0U) << "nobody has set the clock";
}

TEST(SimClock, BeforeTheFirstTickThereIsNoTime) {
  const Clock clock(std::make_shared<ClockCore>(ClockMode::sim));
  EXPECT_FALSE(clock.ready());
  EXPECT_EQ(clock.now().ns, 0);
  EXPECT_EQ(clock.elapsed().ns, 0);
}

TEST(SimClock, TicksAreTheTimeAndTheFirstIsAJump) {
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

TEST(SimClock, BackwardsAndCountedJumpsAreTold) {
  auto core = std::make_shared<ClockCore>(ClockMode::sim);
  core->apply(tick(2'000 * kMs));
  Jumps jumps(*core);
  core->apply(tick(1'200 * kMs));
  core->apply(tick(9'000 * kMs, 1));  // forwards, but its maker says: set
  core->apply(tick(9'500 * kMs, 1));  // forwards, running
  ASSERT_EQ(jumps.all.size(), 2U);
  EXPECT_EQ(jumps.all[0].delta().ns, -800 * kMs);
  EXPECT_EQ(jumps.all[1].delta().ns, 7'800 * kMs);
  EXPECT_EQ(core->jumps(), 3U);
}

TEST(SimClock, OfTwoSimulatorsTheLaterOneIsFollowed) {
  auto core = std::make_shared<ClockCore>(ClockMode::sim);
  core->apply(tick(2'000 * kMs, 0, 5));
  EXPECT_TRUE(core->apply(tick(3'000 * kMs, 0, 6)));
  EXPECT_FALSE(core->apply(tick(2'001 * kMs, 0, 5)));
  EXPECT_EQ(core->now().ns, 3'000 * kMs);
  EXPECT_TRUE(core->apply(tick(3'001 * kMs, 0, 6)));
}

TEST(SimClock, AMessageWithNothingButTheTimeIsUnderstood) {
  ClockTick bare;
  bare.now_ns = 42 * kMs;
  const auto core = std::make_shared<ClockCore>(ClockMode::sim);
  core->apply(bare);
  bare.now_ns = 50 * kMs;
  core->apply(bare);
  EXPECT_EQ(core->base().ns, 42 * kMs) << "it began with its first message";
  EXPECT_EQ(core->elapsed().ns, 8 * kMs);
}

TEST(SimClock, SleepersWakeWhenTheirTimeHasComeAndNotBefore) {
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

TEST(SimClock, SleepForBeginsWithTheFirstTick) {
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

TEST(SimClock, AJumpBackEndsASleepAndSaysSo) {
  auto core = std::make_shared<ClockCore>(ClockMode::sim);
  core->apply(tick(2'000 * kMs));
  const Clock clock(core);
  std::atomic<bool> ended{false};
  std::atomic<bool> reached{true};
  std::thread sleeper([&] {
    reached = clock.sleep_until(Time{5'000 * kMs});
    ended = true;
  });
  // Nothing tells when the thread has begun to sleep, so jump back until it has noticed.
  std::uint64_t jumps = 0;
  for (std::int64_t now = 2'000 * kMs; !ended; now -= 10) {
    core->apply(tick(now, ++jumps));
    std::this_thread::yield();
  }
  sleeper.join();
  EXPECT_FALSE(reached);
}

TEST(Clock, StopEndsEverySleepNowAndLater) {
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

TEST(Clock, WhoeverIsAskedToGiveUpEndsTheSleep) {
  for (const ClockMode mode : {ClockMode::real, ClockMode::sim}) {
    const Clock clock(std::make_shared<ClockCore>(mode));
    int asked = 0;
    EXPECT_FALSE(clock.sleep_for(Duration{3'600'000 * kMs}, [&] { return ++asked == 3; }));
    EXPECT_EQ(asked, 3);
  }
}

TEST(Rate, InSimulatedTimeNoInstantIsLeftOut) {
  auto core = std::make_shared<ClockCore>(ClockMode::sim);
  core->apply(tick(1'000 * kMs));
  Rate rate(Clock(core), Duration{10 * kMs});
  core->apply(tick(1'105 * kMs));
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(rate.sleep());
  EXPECT_EQ(rate.skipped(), 0U);
  core->stop();
  EXPECT_FALSE(rate.sleep());
}

TEST(Rate, ALagBeyondTheBoundIsLeftOutAndCounted) {
  auto core = std::make_shared<ClockCore>(ClockMode::sim);
  core->apply(tick(1'000 * kMs));
  Rate rate(Clock(core), Duration{kMs});
  core->apply(tick(6'000 * kMs));  // 5000 instants
  EXPECT_TRUE(rate.sleep());
  EXPECT_EQ(rate.skipped(), 5000U - 1 - detail::kMaxBehind);
}

TEST(Rate, AJumpBeginsANewGrid) {
  auto core = std::make_shared<ClockCore>(ClockMode::sim);
  constexpr std::int64_t kBefore = 100'000'000 * kMs;  // further than the loop below ever comes
  core->apply(tick(kBefore));
  Rate rate(Clock(core), Duration{10 * kMs});
  core->apply(tick(100 * kMs));
  std::atomic<bool> woke{false};
  std::thread loop([&] {
    EXPECT_TRUE(rate.sleep());
    woke = true;
  });
  // The new grid begins when the loop looks, so it is past one period of the slowest look.
  for (std::int64_t now = 100 * kMs; !woke; now += kMs) {
    core->apply(tick(now));
    std::this_thread::yield();
  }
  loop.join();
  EXPECT_LT(core->now().ns, kBefore) << "the old grid would have gone on 10 ms after that";
}

TEST(Rate, NeedsAPeriod) {
  const Clock clock(std::make_shared<ClockCore>(ClockMode::sim));
  EXPECT_THROW(Rate(clock, Duration{0}), Exception);
}

}  // namespace
}  // namespace hyphos
