// Parallel algorithms of oneTBB in callbacks: they share the threads of the pool. The library of
// oneTBB is not instrumented, so the thread sanitizer takes each task that it hands to another
// thread for a race.
#ifndef HYPHOS_THREAD_SANITIZER
#include <gtest/gtest.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <thread>

#include "graph/executor.hpp"
#include "tests/graph/harness.hpp"

namespace hyphos::graph::test {
namespace {

namespace flow = oneapi::tbb::flow;

/// Counts the threads that are at work: in a callback or in a task of oneTBB. A thread that
/// executes a task inside its callback counts once.
class AtWork {
 public:
  class Here {
   public:
    explicit Here(AtWork& all) : all_(all) {
      if (depth++ > 0) return;
      const int now = ++all_.now_;
      for (int seen = all_.most_; now > seen && !all_.most_.compare_exchange_weak(seen, now);) {
      }
    }
    ~Here() {
      if (--depth == 0) --all_.now_;
    }
    Here(const Here&) = delete;
    Here& operator=(const Here&) = delete;

   private:
    AtWork& all_;
    static thread_local int depth;
  };
  [[nodiscard]] int now() const { return now_; }
  [[nodiscard]] int most() const { return most_; }

 private:
  std::atomic<int> now_{0};
  std::atomic<int> most_{0};
};
thread_local int AtWork::Here::depth = 0;

void spend(std::chrono::microseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < until) {
  }
}

void for_all(int count, const std::function<void()>& body) {
  oneapi::tbb::parallel_for(
      oneapi::tbb::blocked_range<int>(0, count, 1), [&](const auto&) { body(); },
      oneapi::tbb::simple_partitioner());
}

/// Some callbacks are short and some wait, so that threads become idle and are replaced while
/// oneTBB has work.
void let_work(Executor& executor, AtWork& at_work, int callbacks) {
  for (int i = 0; i < callbacks; ++i) {
    executor.enqueue(Priority::normal, [&, i] {
      const AtWork::Here here(at_work);
      if (i % 3 == 0) spend(std::chrono::microseconds(50));
      if (i % 3 == 1) {
        for_all(16, [&] {
          const AtWork::Here task(at_work);
          spend(std::chrono::microseconds(20));
        });
      }
      if (i % 3 == 2) {
        for_all(4, [&] {
          const AtWork::Here task(at_work);
          for_all(4, [&] {
            const AtWork::Here inner(at_work);
            spend(std::chrono::microseconds(10));
          });
        });
      }
    });
    if (i % 20 == 19) executor.wait_idle();
  }
}

class Parallel : public ::testing::TestWithParam<int> {};

TEST_P(Parallel, callbacks_and_tasks_never_exceed_the_threads) {
  AtWork at_work;
  Executor executor(GetParam());
  let_work(executor, at_work, 600);
  executor.wait_idle();
  EXPECT_LE(at_work.most(), GetParam());
  EXPECT_GE(at_work.most(), 1);
}

TEST_P(Parallel, one_callback_at_a_time_and_tasks_share_the_threads) {
  AtWork at_work;
  Executor executor(GetParam(), true);
  let_work(executor, at_work, 300);
  executor.wait_idle();
  EXPECT_LE(at_work.most(), GetParam());
}

/// The pool ends while its callbacks still have algorithms.
TEST_P(Parallel, the_limit_holds_while_the_pool_ends) {
  for (int round = 0; round < 10; ++round) {
    AtWork at_work;
    {
      Executor executor(GetParam());
      let_work(executor, at_work, 19);
    }
    ASSERT_LE(at_work.most(), GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, Parallel, ::testing::Values(1, 2, 3, 4, 8),
                         [](const auto& instance) { return std::to_string(instance.param); });

/// Each of two tasks waits for the other one, so both must run at once. oneTBB promises a worker to
/// an enqueued task, but none to a parallel_for: its spawn loses the wake-up if the last worker
/// leaves the arena at that moment (advertise_new_work() in src/tbb/arena.h of oneTBB). So one task
/// enqueues another one, after the algorithm has spawned its tasks.
void meet() {
  std::atomic<int> here{0};
  for_all(2, [&] {
    if (++here == 1) oneapi::tbb::this_task_arena::enqueue([] {});
    while (here < 2) std::this_thread::yield();
  });
}

TEST(ParallelShare, an_idle_thread_leaves_its_place_to_an_algorithm) {
  Executor executor(2);
  for (int i = 0; i < 20; ++i) {
    executor.enqueue(Priority::normal, meet);
    executor.wait_idle();
  }
}

TEST(ParallelShare, an_algorithm_uses_the_threads_that_may_run_no_callback) {
  Executor executor(2, true);
  executor.enqueue(Priority::normal, meet);
  executor.wait_idle();
}

/// The algorithm never ends before the callback has run.
TEST(ParallelShare, a_callback_gets_its_place_back_from_an_algorithm) {
  Executor executor(2);
  for (int i = 0; i < 20; ++i) {
    std::atomic<bool> shared{false};
    std::atomic<bool> ran{false};
    std::promise<void> both;
    executor.enqueue(Priority::normal, [&] {
      meet();  // a worker of oneTBB has the other place now
      both.set_value();
      while (!ran) for_all(8, [] { spend(std::chrono::microseconds(5)); });
    });
    both.get_future().wait();
    executor.enqueue(Priority::normal, [&] { ran = true; });
    executor.wait_idle();
    ASSERT_TRUE(ran);
  }
}

/// The thread that stands in for a waiting one has an arena, too.
TEST(ParallelShare, a_stand_in_thread_shares_as_well) {
  Executor executor(2);
  std::promise<void> go;
  const std::shared_future<void> gone = go.get_future().share();
  std::promise<void> waits;
  executor.enqueue(Priority::normal, [&] {
    const Executor::Waiting waiting(executor);
    waits.set_value();
    gone.wait();
  });
  waits.get_future().wait();
  AtWork at_work;
  std::atomic<int> left{40};
  for (int i = 0; i < 40; ++i) {
    executor.enqueue(Priority::normal, [&] {
      {
        const AtWork::Here here(at_work);
        for_all(8, [&] {
          const AtWork::Here task(at_work);
          spend(std::chrono::microseconds(20));
        });
      }
      if (--left == 0) go.set_value();
    });
  }
  executor.wait_idle();
  EXPECT_LE(at_work.most(), 2);
}

#ifndef __SANITIZE_ADDRESS__  // oneTBB destroys a task of a graph before its last downcast
/// One callback constructs the graph, and another thread waits for it meanwhile.
TEST(ParallelShare, a_flow_graph_runs_in_the_callbacks_of_any_thread) {
  std::atomic<int> passed{0};
  Gate gate;
  struct Made {
    flow::graph* graph;
    flow::function_node<int, int>* node;
  };
  std::promise<Made> made;
  Executor executor(2);
  executor.enqueue(Priority::normal, [&] {
    flow::graph graph;
    flow::function_node<int, int> node(graph, flow::unlimited, [&](int i) {
      ++passed;
      return i;
    });
    made.set_value({&graph, &node});
    gate.pass();
    graph.wait_for_all();
  });
  const Made other = made.get_future().get();
  executor.enqueue(Priority::normal, [&] {
    for (int i = 0; i < 100; ++i) {
      other.node->try_put(i);
      other.graph->wait_for_all();
    }
    EXPECT_EQ(passed, 100);
    gate.open();
  });
  executor.wait_idle();
  EXPECT_EQ(passed, 100);
}
#endif

/// A task that is enqueued without a wait runs, and finds the place of an idle thread.
TEST(ParallelShare, an_enqueued_task_runs) {
  Executor executor(2);
  std::promise<void> ran;
  executor.enqueue(Priority::normal,
                   [&] { oneapi::tbb::this_task_arena::enqueue([&] { ran.set_value(); }); });
  ran.get_future().wait();
}

}  // namespace
}  // namespace hyphos::graph::test
#endif
