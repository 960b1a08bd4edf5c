#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "graph/executor.hpp"
#include "graph/timers.hpp"
#include "hyphos/time.hpp"
#include "tests/graph/harness.hpp"

namespace hyphos::graph::test {
namespace {

TEST(Waiting, another_thread_replaces_a_waiting_one) {
  Executor executor(1);
  // Each waits for the next one: without stand-in threads the second would never start.
  std::promise<void> ends[4];
  for (int i = 0; i < 3; ++i) {
    executor.enqueue(Priority::normal, [&executor, &ends, i] {
      const Executor::Waiting waiting(executor);
      EXPECT_TRUE(static_cast<bool>(waiting));
      ends[i + 1].get_future().wait();
      ends[i].set_value();
    });
  }
  executor.enqueue(Priority::normal, [&] { ends[3].set_value(); });
  ends[0].get_future().wait();
}

/// Stand-in threads do not enlarge the pool: after the waits, as many callbacks run at once as
/// before.
TEST(Waiting, the_pool_has_its_old_size_after_a_wait) {
  Arrivals done;
  constexpr int kThreads = 2;
  Executor executor(kThreads);
  for (int round = 0; round < 20; ++round) {
    std::promise<void> go;
    const std::shared_future<void> gone = go.get_future().share();
    Arrivals waited;
    for (int i = 0; i < 5; ++i) {
      executor.enqueue(Priority::normal, [&] {
        {
          const Executor::Waiting waiting(executor);
          gone.wait();
        }
        waited.add();
      });
    }
    executor.enqueue(Priority::normal, [&] { go.set_value(); });
    ASSERT_TRUE(waited.wait_for(5));
  }
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  for (int i = 0; i < 200; ++i) {
    executor.enqueue(Priority::normal, [&] {
      const int now = ++inside;
      for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
      }
      std::this_thread::yield();
      --inside;
      done.add();
    });
  }
  ASSERT_TRUE(done.wait_for(200));
  EXPECT_LE(most, kThreads);
}

/// A thread that parked after a wait gets a place while it sleeps on, and then work.
TEST(Waiting, a_parked_thread_runs_the_work_that_it_gets) {
  for (int round = 0; round < 20; ++round) {
    Gate gate;
    std::promise<void> go;
    std::promise<void> waits;
    std::promise<void> ran;
    auto done = ran.get_future();
    Executor executor(1);
    executor.enqueue(Priority::normal, [&] {
      const Executor::Waiting waiting(executor);
      go.get_future().wait();
    });
    executor.enqueue(Priority::normal, [&] { gate.pass(); });
    gate.wait_for_waiting(1);
    go.set_value();  // two threads run now, and the first one that ends parks
    gate.open();
    executor.wait_idle();
    executor.enqueue(Priority::normal, [&] {
      const Executor::Waiting waiting(executor);
      waits.set_value();
      EXPECT_EQ(done.wait_for(std::chrono::seconds(20)), std::future_status::ready);
    });
    waits.get_future().wait();
    executor.enqueue(Priority::normal, [&] { ran.set_value(); });
    executor.wait_idle();
  }
}

TEST(Waiting, too_many_waiting_threads_are_refused) {
  Arrivals waits;
  std::promise<void> go;
  const std::shared_future<void> gone = go.get_future().share();
  std::promise<bool> refused;
  Executor executor(1);  // its destructor waits for all users of the objects above
  for (int i = 0; i < Executor::kMaxWaiting; ++i) {
    executor.enqueue(Priority::normal, [&] {
      const Executor::Waiting waiting(executor);
      EXPECT_TRUE(static_cast<bool>(waiting));
      waits.add();
      gone.wait();
    });
  }
  ASSERT_TRUE(waits.wait_for(Executor::kMaxWaiting));
  executor.enqueue(Priority::normal, [&] {
    const Executor::Waiting waiting(executor);
    refused.set_value(!waiting);
  });
  EXPECT_TRUE(refused.get_future().get());
  const Executor::Waiting outside(executor);  // not a thread of the pool, so no thread replaces it
  EXPECT_TRUE(static_cast<bool>(outside));
  go.set_value();
}

TEST(Timers, one_shot_timers_fire_once_and_in_order) {
  Arrivals got;
  Executor executor(1);
  Timers timers(executor, std::make_shared<detail::ClockCore>(ClockMode::real));
  const std::int64_t now = monotonic_now().ns;
  // Late enough that all of them wait at once, even if this thread is delayed in between.
  timers.at(now + 4'100'000'000, [&] { got.add(2); });
  timers.at(now + 4'000'000'000, [&] { got.add(1); });
  timers.at(now - 1, [&] { got.add(0); });
  const auto never = timers.at(now + 3'600'000'000'000, [&] { got.add(9); });
  ASSERT_TRUE(got.wait_for(3));
  timers.cancel(never);
  EXPECT_EQ(got.values(), (std::vector<std::int64_t>{0, 1, 2}));
  timers.stop();
}

}  // namespace
}  // namespace hyphos::graph::test
