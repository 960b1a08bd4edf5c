// The end of the thread pool.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <thread>

#include "graph/executor.hpp"
#include "tests/graph/harness.hpp"

namespace hyphos::graph::test {
namespace {

/// The threads of pools that began after this object. A worker of oneTBB has the name of the thread
/// that made it, and never ends.
class PoolThreads {
 public:
  [[nodiscard]] std::size_t count() const {
    std::size_t found = 0;
    for (const std::string& one : all()) found += before_.contains(one) ? 0 : 1;
    return found;
  }

 private:
  static std::set<std::string> all() {
    std::set<std::string> found;
    std::error_code ended;  // a thread may end while its folder is read
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", ended)) {
      std::string name;
      std::ifstream file(thread.path() / "comm");
      if (std::getline(file, name) && name == "hyphos-pool") found.insert(thread.path());
    }
    return found;
  }

  const std::set<std::string> before_ = all();
};

/// The pool ends while work runs, and the idle threads have ended before that work queues more.
TEST(Pool, work_that_work_queues_after_the_idle_threads_have_ended_runs) {
  const PoolThreads threads;
  constexpr int kWork = 50;
  std::atomic<int> ran{0};
  Gate gate;
  auto executor = std::make_unique<Executor>(3);
  executor->enqueue(Priority::normal, [&, pool = executor.get()] {
    gate.pass();
    while (threads.count() > 1) std::this_thread::yield();
    for (int i = 0; i < kWork; ++i) pool->enqueue(Priority::normal, [&] { ++ran; });
  });
  gate.wait_for_waiting(1);
  while (threads.count() < 3) std::this_thread::yield();
  gate.open();
  executor.reset();
  EXPECT_EQ(ran, kWork);
}

/// The same without waiting, so that some threads are still falling asleep or ending.
TEST(Pool, work_that_work_queues_while_the_pool_ends_runs) {
  constexpr int kWork = 50;
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> ran{0};
    Gate gate;
    auto executor = std::make_unique<Executor>(3);
    executor->enqueue(Priority::normal, [&, pool = executor.get()] {
      gate.pass();
      for (int i = 0; i < kWork; ++i) {
        pool->enqueue(Priority::normal, [&] { ++ran; });
        std::this_thread::yield();
      }
    });
    gate.wait_for_waiting(1);
    gate.open();
    executor.reset();
    ASSERT_EQ(ran, kWork);
  }
}

/// The pool ends between the last poll and the work that this poll has found. The poll waits for
/// that end, as if its thread had been slow after it.
TEST(Pool, work_of_the_last_poll_runs_after_the_threads_have_ended) {
  const PoolThreads threads;
  std::atomic<int> ran{0};
  std::atomic<int> found{0};
  std::atomic<bool> first{true};
  Arrivals over;
  auto executor = std::make_unique<Executor>(2);
  executor->serve([&, pool = executor.get()](int, transport::ReadyList* ready) {
    if (!first.exchange(false)) return transport::Poll::over;
    while (ready->empty()) {  // at first no thread may be idle
      ++found;
      pool->enqueue(Priority::normal, [&] { ++ran; }, ready);
    }
    over.add();
    while (threads.count() > 0) std::this_thread::yield();
    return transport::Poll::over;
  });
  EXPECT_TRUE(over.wait_for(1));
  executor.reset();
  EXPECT_EQ(ran, found);
}

}  // namespace
}  // namespace hyphos::graph::test
