#include "graph/strand.hpp"

#include <gtest/gtest.h>

namespace hyphos::graph {
namespace {

TEST(Strand, a_serial_queue_needs_one_task) {
  Strand strand(Mode::serial);
  EXPECT_FALSE(strand.needs_task(0));
  EXPECT_TRUE(strand.needs_task(2));
  EXPECT_FALSE(strand.needs_task(3));
  EXPECT_FALSE(strand.idle());
}

TEST(Strand, a_concurrent_queue_needs_one_task_per_item) {
  Strand strand(Mode::concurrent);
  EXPECT_TRUE(strand.needs_task(2));
  EXPECT_TRUE(strand.needs_task(2));
  EXPECT_FALSE(strand.needs_task(2));
  EXPECT_TRUE(strand.needs_task(3));
}

TEST(Strand, a_serial_task_yields_after_its_share) {
  Strand strand(Mode::serial);
  std::size_t waiting = 100;
  int tasks = 0;
  while (strand.needs_task(waiting)) {
    ++tasks;
    strand.drain([&] {
      if (waiting == 0) return false;
      --waiting;
      strand.begin();
      EXPECT_FALSE(strand.may_run());
      EXPECT_FALSE(strand.needs_task(waiting));
      strand.end();
      return true;
    });
  }
  EXPECT_EQ(waiting, 0U);
  EXPECT_EQ(tasks, 4);  // of 32 items each
  EXPECT_TRUE(strand.idle());
}

TEST(Strand, a_concurrent_task_runs_one_item) {
  Strand strand(Mode::concurrent);
  int ran = 0;
  ASSERT_TRUE(strand.needs_task(2));
  strand.drain([&] { return ++ran > 0; });
  EXPECT_EQ(ran, 1);
}

TEST(Strand, a_serial_task_leaves_the_queue_to_a_running_thread) {
  Strand strand(Mode::serial);
  ASSERT_TRUE(strand.needs_task(2));
  strand.begin();  // a publisher that waits for room helps
  EXPECT_TRUE(strand.running());
  strand.drain([] {
    ADD_FAILURE() << "two items would run at once";
    return false;
  });
  EXPECT_FALSE(strand.needs_task(1));
  strand.end();
  EXPECT_TRUE(strand.needs_task(1));  // the thread that ended looks again
}

}  // namespace
}  // namespace hyphos::graph
