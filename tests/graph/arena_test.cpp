// Workers of oneTBB in the arena of one thread. Of the thread sanitizer see parallel_test.cpp.
#ifndef HYPHOS_THREAD_SANITIZER
#include "graph/arena.hpp"

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <atomic>
#include <future>
#include <memory>
#include <thread>

namespace hyphos::graph::test {
namespace {

/// One place. Work is queued after the first worker has taken it, and before recall() finds the
/// worker.
class NeededAtOnce final : public GuestPlaces {
 public:
  void* take_place() override {
    if (taken_++ == 0) {
      found_ = arena->recall();
      needed_ = true;
    }
    return this;
  }
  void return_place(void* /*place*/) override {
    needed_ = false;
    ++returned_;
  }
  bool place_needed() override { return needed_; }

  [[nodiscard]] bool found() const { return found_; }
  [[nodiscard]] int returned() const { return returned_; }

  std::unique_ptr<Arena> arena;

 private:
  std::atomic<int> taken_{0};
  std::atomic<int> returned_{0};
  std::atomic<bool> found_{false};
  std::atomic<bool> needed_{false};
};

TEST(Arena, a_guest_returns_a_place_that_was_needed_before_it_could_be_recalled) {
  const oneapi::tbb::global_control two_workers(
      oneapi::tbb::global_control::max_allowed_parallelism, 3);
  const auto places = std::make_shared<NeededAtOnce>();
  places->arena = std::make_unique<Arena>(2, *places);
  std::promise<int> returned;  // when a worker executes its first task
  std::thread caller([&] {
    places->arena->execute([&] {
      oneapi::tbb::this_task_arena::enqueue([&] { returned.set_value(places->returned()); });
      EXPECT_EQ(returned.get_future().get(), 1);
    });
  });
  caller.join();
  EXPECT_FALSE(places->found());
  places->arena.reset();
}

/// Stays inside the answer to a recall until the pool ends.
class EndsMeanwhile final : public GuestPlaces {
 public:
  void* take_place() override { return this; }
  void return_place(void* /*place*/) override {}
  bool place_needed() override {
    if (!recalled) return false;
    answering.set_value();
    while (!recalls->closed()) std::this_thread::yield();
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    answered = true;
    return false;
  }

  std::atomic<bool> recalled{false};
  std::atomic<bool> answered{false};
  std::promise<void> answering;
  std::unique_ptr<Arena> arena;
};

TEST(Arena, the_end_of_a_pool_waits_for_the_answer_to_a_recall) {
  const oneapi::tbb::global_control two_workers(
      oneapi::tbb::global_control::max_allowed_parallelism, 3);
  const auto places = std::make_shared<EndsMeanwhile>();
  places->arena = std::make_unique<Arena>(2, *places);
  std::thread caller([&] {
    places->arena->execute([&] {
      std::promise<void> inside;
      std::promise<void> recalled;
      oneapi::tbb::this_task_arena::enqueue([&] {
        inside.set_value();
        recalled.get_future().wait();
      });
      inside.get_future().wait();
      EXPECT_TRUE(places->arena->recall());
      places->recalled = true;
      recalled.set_value();
      places->answering.get_future().wait();
    });
  });
  caller.join();
  EXPECT_FALSE(places->answered);
  (void)places->recalls->close();
  EXPECT_TRUE(places->answered);
  places->arena.reset();
}

}  // namespace
}  // namespace hyphos::graph::test
#endif
