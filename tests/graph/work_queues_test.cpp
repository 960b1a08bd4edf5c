// The queues of a thread pool, and the set of its idle places.
#include "graph/work_queues.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <latch>
#include <thread>
#include <vector>

#include "graph/idle_places.hpp"

namespace hyphos::graph {
namespace {

constexpr int kCores = 64;

/// Runs `body(i)` on `kCores` threads that begin together.
template <typename F>
void on_all_cores(const F& body) {
  std::latch all(kCores);
  std::vector<std::thread> threads;
  for (int i = 0; i < kCores; ++i) {
    threads.emplace_back([&, i] {
      all.arrive_and_wait();
      body(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(WorkQueues, the_work_of_one_queue_starts_in_order) {
  WorkQueues queues(3);
  std::vector<int> ran;
  for (int i = 0; i < 200; ++i) {
    queues.push(1, Priority::normal, [&ran, i] { ran.push_back(i); }, Fresh::yes);
  }
  for (unsigned turn = 0; auto work = queues.take(turn % 3, turn); ++turn) work();
  ASSERT_EQ(ran.size(), 200U);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(ran[static_cast<std::size_t>(i)], i);
  EXPECT_FALSE(queues.any());
  EXPECT_EQ(queues.pushed(), 200U);
}

TEST(WorkQueues, a_higher_priority_in_any_queue_comes_first) {
  WorkQueues queues(4);
  std::vector<Priority> ran;
  const Priority all[] = {Priority::low, Priority::normal, Priority::high};
  for (const Priority priority : all) {
    for (std::size_t to = 0; to < 4; ++to) {
      queues.push(to, priority, [&ran, priority] { ran.push_back(priority); }, Fresh::yes);
    }
  }
  for (unsigned turn = 1; auto work = queues.take(2, turn); ++turn) work();
  ASSERT_EQ(ran.size(), 12U);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(ran[i], all[2 - i / 4]);
}

/// The own queue never gets empty, as that of a busy chain of nodes.
TEST(WorkQueues, a_busy_queue_delays_no_other_one_for_ever) {
  constexpr unsigned kQueues = 8;
  WorkQueues queues(kQueues);
  int others = 0;
  for (std::size_t to = 1; to < kQueues; ++to) {
    queues.push(to, Priority::normal, [&] { ++others; }, Fresh::yes);
  }
  for (unsigned turn = 0; turn < kQueues * WorkQueues::kOthersFirst; ++turn) {
    queues.push(0, Priority::normal, [] {}, Fresh::yes);
    queues.take(0, turn)();
  }
  EXPECT_EQ(others, kQueues - 1);
}

/// Counts acquisitions: with one mutex, each would be one of that mutex.
TEST(WorkQueues, the_threads_of_64_cores_meet_at_no_mutex) {
  constexpr std::uint64_t kWork = 2000;
  WorkQueues queues(kCores);
  std::atomic<std::uint64_t> ran{0};
  on_all_cores([&](int core) {
    const auto own = static_cast<std::size_t>(core);
    const auto push = [&] {
      queues.push(own, Priority::normal, [&] { ran.fetch_add(1); }, Fresh::yes);
    };
    for (int i = 0; i < 64; ++i) push();
    for (unsigned turn = 1; turn <= kWork; ++turn) {
      push();
      if (auto work = queues.take(own, turn)) work();
    }
  });
  std::uint64_t sum = 0;
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < kCores; ++i) {
    sum += queues.locked(i);
    most = std::max(most, queues.locked(i));
  }
  EXPECT_EQ(ran, kWork * kCores);
  // A push and a take each, and some looks at a queue that another thread has just emptied.
  EXPECT_LE(sum, (2 * kWork + 64) * kCores * 11 / 10);
  EXPECT_LE(most, 2 * sum / kCores);
  std::printf("%.3f acquisitions a piece of work, %.4f of them at the busiest of %d mutexes\n",
              static_cast<double>(sum) / static_cast<double>(ran),
              static_cast<double>(most) / static_cast<double>(sum), kCores);
}

TEST(IdlePlaces, each_place_has_one_owner) {
  constexpr int kPlaces = 100;  // two words
  IdlePlaces idle(kPlaces);
  std::vector<std::atomic<int>> owners(kPlaces);
  EXPECT_FALSE(idle.any());
  for (int place = 0; place < kPlaces; ++place) idle.put(place);
  on_all_cores([&](int core) {
    for (int i = 0; i < 500; ++i) {
      const int place = i % 2 == 0 ? idle.take_any() : (core * 7 + i) % kPlaces;
      if (place < 0 || (i % 2 == 1 && !idle.take(place))) continue;
      EXPECT_EQ(++owners[static_cast<std::size_t>(place)], 1);
      --owners[static_cast<std::size_t>(place)];
      idle.put(place);
    }
  });
  for (int place = 0; place < kPlaces; ++place) EXPECT_EQ(idle.take_any(), place);
  EXPECT_EQ(idle.take_any(), -1);
}

}  // namespace
}  // namespace hyphos::graph
