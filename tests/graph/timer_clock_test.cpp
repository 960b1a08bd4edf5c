// Timers on a simulated clock: the number of calls, and the effect of a jump.
#include <gtest/gtest.h>

#include "base/clock_core.hpp"
#include "tests/graph/harness.hpp"

namespace hyphos::graph::test {
namespace {

constexpr std::int64_t kMs = 1'000'000;

/// A pool and its timers, with manual ticks.
struct SimTimers {
  SimTimers() { set(1'000); }
  ~SimTimers() { timers.stop(); }

  void set(std::int64_t ms, std::uint64_t jumps = 0) {
    ClockTick tick;
    tick.now_ns = ms * kMs;
    tick.jumps = jumps;
    clock->apply(tick);
  }

  /// Waits until all due calls were made, then stops the timers. No call can follow, so superfluous
  /// calls are detected.
  void settle() {
    Arrivals idle;
    executor.enqueue(Priority::low, [&idle] { idle.add(); });  // runs after all waiting work
    ASSERT_TRUE(idle.wait_for(1));
    timers.stop();
  }

  std::shared_ptr<detail::ClockCore> clock = std::make_shared<detail::ClockCore>(ClockMode::sim);
  Executor executor{2};
  Timers timers{executor, clock};
  Timers::Skipped skipped = std::make_shared<std::atomic<std::uint64_t>>(0);
};

TEST(SimTimer, a_large_tick_calls_for_every_instant) {
  Arrivals fine;
  Arrivals coarse;
  SimTimers s;
  s.timers.every(10 * kMs, [&] { fine.add(); }, s.skipped);
  s.timers.every(250 * kMs, [&] { coarse.add(); });
  for (std::int64_t ms = 1'001; ms <= 1'300; ++ms) s.set(ms);
  ASSERT_TRUE(fine.wait_for(30));
  s.set(2'000);  // one step of 700 ms
  ASSERT_TRUE(fine.wait_for(100));
  ASSERT_TRUE(coarse.wait_for(4));
  s.settle();
  EXPECT_EQ(fine.count(), 100U);
  EXPECT_EQ(coarse.count(), 4U);
  EXPECT_EQ(*s.skipped, 0U);
}

TEST(SimTimer, no_call_is_made_between_ticks) {
  Arrivals calls;
  SimTimers s;
  s.timers.every(10 * kMs, [&] { calls.add(); });
  s.set(1'009);
  s.set(1'009);
  s.settle();
  EXPECT_EQ(calls.count(), 0U);
}

TEST(SimTimer, calls_never_overlap_and_late_ones_follow_afterwards) {
  Gate gate;
  Arrivals calls;
  SimTimers s;
  std::atomic<int> inside{0};
  std::atomic<bool> overlapped{false};
  s.timers.every(10 * kMs, [&] {
    if (++inside > 1) overlapped = true;
    gate.pass();
    --inside;
    calls.add();
  });
  s.set(1'010);
  gate.wait_for_waiting(1);
  s.set(1'050);
  gate.open();
  ASSERT_TRUE(calls.wait_for(5));
  s.settle();
  EXPECT_EQ(calls.count(), 5U);
  EXPECT_FALSE(overlapped);
}

TEST(SimTimer, calls_beyond_the_maximum_lag_are_skipped_and_counted) {
  Arrivals calls;
  SimTimers s;
  s.timers.every(kMs, [&] { calls.add(); }, s.skipped);
  s.set(4'000);  // 3000 instants
  ASSERT_TRUE(calls.wait_for(detail::kMaxBehind));
  s.settle();
  EXPECT_EQ(calls.count(), static_cast<std::size_t>(detail::kMaxBehind));
  EXPECT_EQ(*s.skipped, 3000U - static_cast<unsigned>(detail::kMaxBehind));
}

TEST(SimTimer, a_jump_makes_no_call_and_restarts_the_series) {
  Arrivals calls;
  SimTimers s;
  s.timers.every(10 * kMs, [&] { calls.add(s.clock->now().ns / kMs); }, s.skipped);
  s.set(100'000, 1);  // forwards
  s.set(100'009, 1);
  s.set(100'010, 1);
  ASSERT_TRUE(calls.wait_for(1));
  s.set(500, 2);  // back
  s.set(509, 2);
  s.set(510, 2);
  ASSERT_TRUE(calls.wait_for(2));
  s.settle();
  EXPECT_EQ(calls.values(), (std::vector<std::int64_t>{100'010, 510}));
  EXPECT_EQ(*s.skipped, 0U);
}

TEST(SimTimer, a_timer_made_before_the_first_tick_starts_with_it) {
  Arrivals calls;
  auto clock = std::make_shared<detail::ClockCore>(ClockMode::sim);
  Executor executor(1);
  Timers timers(executor, clock);
  timers.every(10 * kMs, [&] { calls.add(); });
  ClockTick tick;
  for (const std::int64_t ms : {50'000, 50'010, 50'020}) {
    tick.now_ns = ms * kMs;
    clock->apply(tick);
  }
  ASSERT_TRUE(calls.wait_for(2));
  timers.stop();
  EXPECT_EQ(calls.count(), 2U);
}

TEST(SimTimer, jumps_are_reported_in_order_and_merged_beyond_64) {
  Gate gate;
  Arrivals told;
  SimTimers s;
  std::vector<ClockJump> seen;
  s.timers.on_jump(
      [&](const ClockJump& jump) {
        gate.pass();
        seen.push_back(jump);
        told.add();
      },
      s.skipped);
  s.set(2'000, 1);
  gate.wait_for_waiting(1);
  for (std::uint64_t i = 0; i < 70; ++i) s.set(3'000 + static_cast<std::int64_t>(i), 2 + i);
  gate.open();
  ASSERT_TRUE(told.wait_for(65));  // the waiting one, and 64
  s.settle();
  ASSERT_EQ(seen.size(), 65U);
  EXPECT_EQ(*s.skipped, 6U);
  for (std::size_t i = 1; i < seen.size(); ++i) EXPECT_EQ(seen[i].before, seen[i - 1].after);
  EXPECT_EQ(seen.back().after.ns, 3'069 * kMs);
}

TEST(SimTimer, a_timer_may_cancel_itself_with_calls_pending) {
  Arrivals calls;
  SimTimers s;
  std::atomic<Timers::Id> id{0};
  id = s.timers.every(kMs, [&] {
    s.timers.cancel(id);
    calls.add();
  });
  s.set(1'500);
  ASSERT_TRUE(calls.wait_for(1));
  s.settle();
  EXPECT_EQ(calls.count(), 1U);
}

TEST(SimTimer, ticks_timers_and_cancels_may_come_from_many_threads) {
  SimTimers s;
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> calls{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (!stop) {
        const auto id = s.timers.every(kMs, [&] { ++calls; });
        const auto jump = s.timers.on_jump([&](const ClockJump&) { ++calls; });
        std::this_thread::yield();
        s.timers.cancel(id);
        s.timers.cancel(jump);
      }
    });
  }
  std::uint64_t jumps = 0;
  for (int i = 0; i < 2'000 || calls < 100; ++i) {
    s.set(1'000 + i, i % 50 == 0 ? ++jumps : jumps);
    if (i % 10 == 0) std::this_thread::yield();
  }
  stop = true;
  for (auto& thread : threads) thread.join();
  EXPECT_GE(calls, 100U);
}

TEST(SimDeadline, the_deadline_is_measured_on_the_simulated_clock) {
  auto clock = std::make_shared<detail::ClockCore>(ClockMode::sim);
  auto registry = std::make_shared<trace::Registry>(std::span<std::byte>{}, nullptr, "test", 1);
  Graph graph(
      2, registry,
      [](const std::string&, const Policy& wish) { return ChannelRules{wish, Where::both, {}}; },
      false, clock);
  Policy p;
  p.deadline_ms = 10;
  auto sub = graph
                 .subscribe("n", type_support<Buffer>(), p, Scope::local, inline_, false, "node",
                            [](const detail::Delivery&, const void*) {})
                 .or_throw();
  const Publisher<Buffer> pub(
      graph.publisher("n", type_support<Buffer>(), p, Scope::local, "node").or_throw());
  ClockTick tick;
  tick.now_ns = 1'000 * kMs;
  clock->apply(tick);
  pub.publish(Buffer::copy_of(std::as_bytes(std::span("x"))));
  EXPECT_EQ(counter(*sub, "deadline_missed"), 0U) << "real time passes, simulated time does not";
  for (int i = 0; i < 5; ++i) {
    tick.now_ns += 10 * kMs;
    clock->apply(tick);
  }
  while (counter(*sub, "deadline_missed") < 4) std::this_thread::yield();
  sub->close();
  graph.stop(0);
}

}  // namespace
}  // namespace hyphos::graph::test
