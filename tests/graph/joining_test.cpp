#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>

#include "tests/graph/harness.hpp"

namespace hyphos::graph::test {
namespace {

struct Number {
  std::int64_t value;
};

/// A publisher with `block` waits for an inline subscription that still runs the earlier values.
TEST(Latched, a_reliable_publisher_waits_for_an_inline_subscription_that_joins) {
  constexpr std::int64_t kValues = 50;
  OneGraph g;
  Policy p = reliable_policy(2);
  p.latched = true;
  auto pub = g.publisher<Number>("n", p);
  pub.publish({0});
  std::atomic<std::int64_t> begun{0};
  std::atomic<std::uint64_t> refused{0};
  std::thread talker;
  Arrivals got;
  const auto sub = g.subscribe<Number>("n", inline_, [&](const Message<Number>& m) {
    if (m->value == 0) {
      talker = std::thread([&] {
        for (std::int64_t value = 1; value <= kValues; ++value) {
          begun = value;
          refused += pub.publish({value}).dropped;
        }
      });
      while (begun <= 2) std::this_thread::yield();  // the third value finds the queue full
    }
    got.add(m->value);
  });
  talker.join();
  EXPECT_EQ(refused, 0U);
  std::vector<std::int64_t> all(kValues + 1);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(got.values(), all);
}

TEST(Latched, an_inline_callback_that_fills_its_own_queue_gets_an_error) {
  OneGraph g;
  Policy p = reliable_policy(2);
  p.latched = true;
  auto pub = g.publisher<Number>("n", p);
  pub.publish({0});
  std::uint64_t refused = 0;
  const auto sub = g.subscribe<Number>("n", inline_, [&](const Message<Number>& m) {
    if (m->value != 0) return;
    for (std::int64_t value = 1; value <= 5; ++value) refused += pub.publish({value}).dropped;
  });
  EXPECT_EQ(refused, 3U);
}

}  // namespace
}  // namespace hyphos::graph::test
