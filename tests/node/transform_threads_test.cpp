// Concurrent readers and writers. A reader must get one of the states that were set, never a
// mixture. Also intended for the thread sanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "hyphos/transforms.hpp"

namespace hyphos {
namespace {

constexpr std::int64_t kBegin = 1'000'000'000'000;

/// A pose whose parts all encode the same number, so that a torn read is visible.
Transform whole(const std::string& parent, const std::string& child, std::int64_t stamp) {
  const auto x = static_cast<double>((stamp - kBegin) / 1'000'000);
  return {parent, child, Time{stamp}, {x, 2 * x, -x}, to_quaternion({0, 0, std::fmod(x, 3.0)})};
}

bool is_whole(const StampedIsometry& found) {
  const double x = found.translation.x;
  return std::abs(found.translation.y - 2 * x) < 1e-6 && std::abs(found.translation.z + x) < 1e-6;
}

TEST(TransformThreads, readers_see_whole_samples_while_writers_write) {
  TransformTreeOptions options;
  options.history = Duration::from_ms(200);
  options.max_samples = 64;
  TransformTree tree(options);
  tree.set(whole("map", "base", kBegin)).or_throw();
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> newest{kBegin};
  std::atomic<std::uint64_t> wrong{0};
  std::atomic<std::uint64_t> read{0};
  std::vector<std::jthread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&, i] {
      TransformLookup lookup = tree.lookup("map", "base");
      while (!stop) {
        const std::int64_t now = newest;
        const auto found = i == 0 ? lookup.get() : lookup.get(Time{now - i * 10'500'000});
        if (found && !is_whole(*found)) ++wrong;
        if (i == 0 && (!found || found->stamp.ns < now)) ++wrong;
        ++read;
      }
    });
  }
  // In order, late, replaced. The ring grows, wraps and drops samples.
  for (std::int64_t i = 1; i <= 20'000 || read < 1000; ++i) {
    const std::int64_t stamp = kBegin + i * 1'000'000;
    tree.set(whole("map", "base", stamp)).or_throw();
    newest = stamp;
    if (i % 7 == 0) tree.set(whole("map", "base", stamp - 5'500'000)).or_throw();
    if (i % 11 == 0) tree.set(whole("map", "base", stamp)).or_throw();
  }
  stop = true;
  readers.clear();
  EXPECT_EQ(wrong, 0U);
}

TEST(TransformThreads, a_change_of_the_tree_is_seen_whole_or_not_at_all) {
  // Half an old path and half a new one would add up to 12 or 21. A frame without a parent throws.
  TransformTree tree;
  tree.set_static({"root", "left", {}, {1, 0, 0}, {}}).or_throw();
  tree.set_static({"root", "right", {}, {2, 0, 0}, {}}).or_throw();
  tree.set_static({"left", "tip", {}, {10, 0, 0}, {}}).or_throw();
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> wrong{0};
  std::atomic<std::uint64_t> read{0};
  std::vector<std::jthread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&, i] {
      TransformLookup lookup = tree.lookup("root", "tip");
      while (!stop) {
        const double x = i == 2 ? tree.get("root", "tip").or_throw().translation.x
                                : lookup.get().or_throw().translation.x;
        if (x != 11 && x != 22) ++wrong;
        ++read;
      }
    });
  }
  for (int i = 0; i < 5'000 || read < 1000; ++i) {
    tree.set_static({"right", "tip", {}, {20, 0, 0}, {}}).or_throw();
    tree.set_static({"left", "tip", {}, {10, 0, 0}, {}}).or_throw();
    tree.set_static({"root", "other" + std::to_string(i % 50), {}, {}, {}}).or_throw();
  }
  stop = true;
  readers.clear();
  EXPECT_EQ(wrong, 0U);
}

TEST(TransformThreads, many_writers_lose_nothing) {
  TransformTree tree;
  {
    std::vector<std::jthread> writers;
    for (int w = 0; w < 4; ++w) {
      writers.emplace_back([&tree, w] {
        for (int i = 0; i < 1000; ++i) {
          tree.set(whole("map", "f" + std::to_string(w % 2),
                         kBegin + std::int64_t{i * 4 + w} * 1'000'000))
              .or_throw();
        }
      });
    }
  }
  EXPECT_EQ(tree.counters().accepted, 4000U);
  EXPECT_EQ(tree.edges().size(), 2U);
  EXPECT_EQ(tree.edges()[0].samples + tree.edges()[1].samples, 4000U);
}

}  // namespace
}  // namespace hyphos
