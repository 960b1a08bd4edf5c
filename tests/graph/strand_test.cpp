#include "graph/strand.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace hyphos::graph {
namespace {

TEST(Strand, a_serial_queue_needs_one_task) {
  Strand strand(Mode::serial);
  EXPECT_FALSE(strand.needs_task(0));
  EXPECT_TRUE(strand.needs_task(2));
  EXPECT_FALSE(strand.needs_task(3));
  EXPECT_FALSE(strand.idle());
}

TEST(Strand, a_concurrent_queue_has_one_task_that_has_not_begun) {
  Strand strand(Mode::concurrent, 1);
  std::size_t waiting = 3;
  int enqueued = strand.needs_task(waiting) ? 1 : 0;
  EXPECT_EQ(enqueued, 1);
  EXPECT_FALSE(strand.needs_task(waiting));
  // Each task begins before an earlier one ends, and makes the next task.
  for (int begun = 1; begun <= 3; ++begun) {
    strand.drain([&] {
      --waiting;
      strand.begin();
      if (strand.needs_task(waiting)) ++enqueued;
      return true;
    });
    EXPECT_EQ(enqueued, std::min(begun + 1, 3));
  }
  EXPECT_FALSE(strand.idle());
  for (int i = 0; i < 3; ++i) strand.end();
  EXPECT_TRUE(strand.idle());
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

TEST(Strand, a_task_runs_at_most_its_share) {
  for (const int share : {1, Strand::kFairShare}) {
    Strand strand(Mode::concurrent, share);
    int ran = 0;
    ASSERT_TRUE(strand.needs_task(100));
    strand.drain([&] { return ++ran > 0; });
    EXPECT_EQ(ran, share);
  }
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
