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

}  // namespace
}  // namespace hyphos::graph::test
#endif
