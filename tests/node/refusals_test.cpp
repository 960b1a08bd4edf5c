#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "hyphos/hyphos.hpp"

namespace hyphos {
namespace {

Node alone() {
  static int count = 0;
  RuntimeOptions options;
  options.domain = "refusals" + std::to_string(::getpid()) + "_" + std::to_string(++count);
  return Node::open("tester", options).or_throw();
}

std::int64_t shown(const Node& node) { return node.params().values().get<std::int64_t>("refused"); }

TEST(Refusals, a_reason_refuses_and_counts_in_the_parameter) {
  const Node node = alone();
  const Refusals refusals(node);
  EXPECT_FALSE(refusals.refuse("scan", ""));
  EXPECT_EQ(shown(node), 0);
  EXPECT_TRUE(refusals.refuse("scan", "it has no ranges"));
  const Refusals copy = refusals;
  EXPECT_TRUE(copy.refuse("odom", "the stamp is 0"));
  EXPECT_EQ(refusals.count(), 2);
  EXPECT_EQ(shown(node), 2);
}

TEST(Refusals, threads_lose_no_count) {
  const Node node = alone();
  const Refusals refusals(node);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 500; ++k) (void)refusals.refuse("scan", "it has no ranges");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(refusals.count(), 2000);
  EXPECT_EQ(shown(node), 2000);
}

TEST(Refusals, a_node_has_one_count) {
  const Node node = alone();
  const Refusals refusals(node);
  EXPECT_THROW(Refusals{node}, Exception);
}

}  // namespace
}  // namespace hyphos
