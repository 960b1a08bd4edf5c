#pragma once

#include <gtest/gtest.h>

#include "wire/clock_tick.hpp"

namespace hyphos::wire {

inline void expect_equal(const ClockTick& read, const ClockTick& written) {
  EXPECT_EQ(read.now_ns, written.now_ns);
  EXPECT_EQ(read.base_ns, written.base_ns);
  EXPECT_EQ(read.speed, written.speed);
  EXPECT_EQ(read.paused, written.paused);
  EXPECT_EQ(read.source, written.source);
  EXPECT_EQ(read.jumps, written.jumps);
  EXPECT_EQ(read.origin, written.origin);
  EXPECT_EQ(read.last_command, written.last_command);
  EXPECT_EQ(read.refusal, written.refusal);
}

inline void expect_equal(const ClockCommand& read, const ClockCommand& written) {
  EXPECT_EQ(read.id, written.id);
  EXPECT_EQ(read.action, written.action);
  EXPECT_EQ(read.value_ns, written.value_ns);
  EXPECT_EQ(read.speed, written.speed);
}

}  // namespace hyphos::wire
