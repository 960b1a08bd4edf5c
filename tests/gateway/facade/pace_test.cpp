#include "gateway/facade/pace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

namespace hyphos::gateway {
namespace {

constexpr std::int64_t kMs = 1'000'000;

/// Passes messages as a gateway does: retries a message that does not pass.
class Line {
 public:
  explicit Line(std::uint32_t depth) : pace_(depth) {}

  /// Returns the wait of a message that arrived at `at_ns`, in ns. `room`: whether the queue has
  /// room at all times.
  std::int64_t pass(std::int64_t at_ns, bool room = true) {
    now_ns_ = std::max(now_ns_, at_ns);
    const std::int64_t since_ns = now_ns_;
    if (pace_.lets(now_ns_, at_ns, room)) return 0;
    do {
      now_ns_ += kMs / 4;
    } while (!pace_.lets_waiting(now_ns_, room));
    return now_ns_ - since_ns;
  }
  [[nodiscard]] std::int64_t now_ns() const { return now_ns_; }

 private:
  Pace pace_;
  std::int64_t now_ns_ = 1;
};

TEST(Pace, half_a_queue_passes_at_once_and_again_each_ms) {
  Line line(10);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(line.pass(kMs), 0);
  for (int i = 0; i < 15; ++i) line.pass(kMs);
  EXPECT_GE(line.now_ns(), 3 * kMs);
  EXPECT_LE(line.now_ns(), 6 * kMs);
}

TEST(Pace, an_even_stream_never_waits) {
  Line line(10);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(line.pass(kMs * i / 4), 0) << i;
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(line.pass(10'000 * kMs + kMs * i, false), 0) << i;
}

TEST(Pace, bursts_pass_without_limit_and_never_run_out_of_credit) {
  Line line(10);
  for (int burst = 0; burst < 1000; ++burst) {
    const std::int64_t began_ns = std::max(line.now_ns(), burst * 40 * kMs);
    for (int i = 0; i < 20; ++i) line.pass(burst * 40 * kMs);
    EXPECT_GE(line.now_ns() - began_ns, 2 * kMs) << burst;
  }
}

TEST(Pace, no_client_waits_longer_than_the_bound) {
  std::mt19937 random(7);
  for (const std::uint32_t depth : {1U, 2U, 3U, 10U, 64U, 65536U}) {
    Line line(depth);
    std::int64_t held_ns = 0;
    for (int i = 0; i < 20'000; ++i) {
      // The queue never has room, as with a stopped subscriber. The client sends at full speed,
      // with pauses.
      const std::int64_t pause_ns = random() % 50 == 0 ? random() % (20 * kMs) : 0;
      held_ns += line.pass(line.now_ns() + pause_ns, false);
    }
    constexpr std::int64_t kAtOnce = Pace::kToSpread.most_ns + Pace::kForRoom.most_ns;
    const std::int64_t part_ns =
        line.now_ns() / Pace::kToSpread.part + line.now_ns() / Pace::kForRoom.part;
    EXPECT_LE(held_ns, kAtOnce + part_ns + 2 * kMs) << depth;
  }
}

TEST(Pace, a_stall_of_the_gateway_costs_no_credit) {
  Pace pace(10);
  std::int64_t now_ns = 1;
  while (pace.lets(now_ns, now_ns, false)) now_ns += kMs / 100;
  // Only time in which the subscriber could run ends the wait for room.
  for (int stall = 0; stall < 40; ++stall) {
    now_ns += 2000 * kMs;
    ASSERT_FALSE(pace.lets_waiting(now_ns, false)) << stall;
  }
  EXPECT_TRUE(pace.lets_waiting(now_ns + kMs, true));
}

/// Passes `count` messages that arrived together. The gateway stalls for 10 ms before each.
void pass_slowly(Pace& pace, std::int64_t& now_ns, std::int64_t arrived_ns, int count) {
  for (int i = 0; i < count; ++i) {
    now_ns += 10 * kMs;
    bool passes = pace.lets(now_ns, arrived_ns, true);
    while (!passes) passes = pace.lets_waiting(now_ns += kMs, true);
  }
}

TEST(Pace, a_stall_inside_a_burst_does_not_end_the_burst) {
  for (int before = 3; before <= 20; ++before) {
    Pace pace(10);
    std::int64_t now_ns = kMs;
    pass_slowly(pace, now_ns, kMs, before);
    now_ns += 10 * kMs;
    EXPECT_FALSE(pace.lets(now_ns, kMs, false)) << "the queue is full after " << before;
  }
}

TEST(Pace, a_queue_stays_crowded_until_a_later_message_finds_room) {
  Pace pace(10);
  std::int64_t now_ns = kMs;
  pass_slowly(pace, now_ns, kMs, 10);
  ASSERT_FALSE(pace.lets(now_ns += kMs, kMs, false));
  ASSERT_TRUE(pace.lets_waiting(now_ns += kMs, true));
  now_ns += 200 * kMs;
  ASSERT_FALSE(pace.lets(now_ns, now_ns, false)) << "the first message of the next burst";
  ASSERT_TRUE(pace.lets_waiting(now_ns += kMs, true));
  now_ns += 200 * kMs;
  EXPECT_TRUE(pace.lets(now_ns, now_ns, true));
  now_ns += 200 * kMs;
  EXPECT_TRUE(pace.lets(now_ns, now_ns, false)) << "a single message to a slow subscriber";
}

TEST(Pace, a_stopped_subscriber_delays_no_single_message_after_the_credit) {
  Line line(10);
  for (int i = 0; i < 20; ++i) line.pass(kMs, false);
  for (int i = 0; i < 100; ++i) {
    const std::int64_t at_ns = line.now_ns() + 200 * kMs;
    EXPECT_EQ(line.pass(at_ns, false), 0) << i;
  }
}

}  // namespace
}  // namespace hyphos::gateway
