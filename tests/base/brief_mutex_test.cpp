#include "base/brief_mutex.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "hyphos/time.hpp"

namespace hyphos {
namespace {

TEST(BriefMutex, only_one_thread_holds_the_mutex) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 20'000;
  BriefMutex mutex;
  int count = 0;  // not atomic: the mutex protects it
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) {
        const std::lock_guard lock(mutex);
        ++count;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(count, kThreads * kRounds);
}

TEST(BriefMutex, try_lock_fails_until_the_mutex_is_unlocked) {
  BriefMutex mutex;
  mutex.lock();
  std::thread other([&] { EXPECT_FALSE(mutex.try_lock()); });
  other.join();
  mutex.unlock();
  const bool taken = mutex.try_lock();
  EXPECT_TRUE(taken);
  if (taken) mutex.unlock();
}

// Holds the mutex long enough for the other thread to stop polling and sleep.
TEST(BriefMutex, unlock_wakes_a_sleeping_thread) {
  BriefMutex mutex;
  for (int i = 0; i < 20; ++i) {
    mutex.lock();
    std::thread other([&] { const std::lock_guard lock(mutex); });
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    mutex.unlock();
    other.join();
  }
}

TEST(BriefCondition, two_threads_alternate_through_a_condition) {
  constexpr int kRounds = 5'000;
  BriefMutex mutex;
  BriefCondition changed;
  int ball = 0;
  const auto play = [&](int side) {
    for (int i = 0; i < kRounds; ++i) {
      BriefLock lock(mutex);
      changed.wait(lock, [&] { return ball % 2 == side; });
      ++ball;
      changed.notify_all();
    }
  };
  std::thread even(play, 0);
  std::thread odd(play, 1);
  even.join();
  odd.join();
  EXPECT_EQ(ball, 2 * kRounds);
}

TEST(BriefCondition, notifying_without_the_lock_wakes_all_waiters) {
  BriefMutex mutex;
  BriefCondition changed;
  bool go = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      BriefLock lock(mutex);
      changed.wait(lock, [&] { return go; });
    });
  }
  {
    const std::lock_guard lock(mutex);
    go = true;
  }
  changed.notify_all();
  for (auto& thread : threads) thread.join();
}

TEST(BriefCondition, wait_until_returns_false_at_the_deadline) {
  BriefMutex mutex;
  BriefCondition changed;
  BriefLock lock(mutex);
  const std::int64_t deadline = monotonic_now().ns + 2'000'000;
  while (changed.wait_until(lock, deadline)) {
  }
  EXPECT_GE(monotonic_now().ns, deadline);
  EXPECT_TRUE(lock.owns_lock());
}

}  // namespace
}  // namespace hyphos
