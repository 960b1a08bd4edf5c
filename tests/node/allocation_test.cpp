// Counts every heap allocation of the test program: operator new and malloc are redirected here.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/node/harness.hpp"

namespace {

// Only allocations of threads with this flag are counted.
thread_local bool watched = false;
std::atomic<std::uint64_t> allocations{0};

void* counted(std::size_t size, std::size_t align) {
  if (watched) allocations.fetch_add(1);
  return align > alignof(std::max_align_t)
             ? std::aligned_alloc(align, (size + align - 1) / align * align)
             : std::malloc(size);
}

void* or_throw(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

// Not inline: if only one of the two is inlined, GCC reports a mismatch.
[[gnu::noinline]] void release(void* memory) { std::free(memory); }

}  // namespace

// All overloads: a sanitizer would provide the missing ones.
void* operator new(std::size_t size) { return or_throw(counted(size, 1)); }
void* operator new(std::size_t size, std::align_val_t align) {
  return or_throw(counted(size, static_cast<std::size_t>(align)));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return counted(size, 1); }
void* operator new(std::size_t size, std::align_val_t align, const std::nothrow_t&) noexcept {
  return counted(size, static_cast<std::size_t>(align));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }

namespace hyphos::test {
namespace {

/// Allocations of 1000 calls, once pools and rings have grown to the capacity of the queues. The
/// time until then depends on the lag of the subscriber, so the best of several rounds is used.
template <typename F>
std::uint64_t allocations_of(F publish) {
  std::uint64_t least = 0;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 1000; ++i) publish();
    const std::uint64_t before = allocations;
    watched = true;
    for (int i = 0; i < 1000; ++i) publish();
    watched = false;
    const std::uint64_t now = allocations - before;
    least = round == 0 ? now : std::min(least, now);
    if (least == 0) break;
  }
  return least;
}

TEST(Allocation, the_counter_counts_allocations) {
  const std::uint64_t before = allocations;
  watched = true;
  ::operator delete(::operator new(64));  // the compiler may remove a new-expression
  watched = false;
  EXPECT_GT(allocations - before, 0U);
}

TEST(Allocation, publishing_structs_inside_the_process_allocates_nothing) {
  Runtime runtime = Runtime::open(offline_options()).or_throw();
  const Node node = runtime.node("one").or_throw();
  std::atomic<int> got{0};
  node.subscribe<Number>("i", inline_, [&](const Message<Number>&) { ++got; });
  SubscriptionOptions wish;
  wish.policy = reliable_policy(8);
  PublisherOptions same;
  same.policy = wish.policy;
  node.subscribe<Number>("s", wish, [&](const Message<Number>&) { ++got; });
  const auto inline_pub = node.publisher<Number>("i");
  const auto serial_pub = node.publisher<Number>("s", same);
  EXPECT_EQ(allocations_of([&] { inline_pub.publish({1}); }), 0U);
  EXPECT_EQ(allocations_of([&] { serial_pub.publish({1}); }), 0U);
}

TEST(Allocation, publishing_to_another_process_allocates_nothing) {
  const std::string domain = fresh_domain();
  Runtime a = open_runtime(domain, "a");
  Runtime b = open_runtime(domain, "b");
  const Node talker = a.node("talker").or_throw();
  const Node listener = b.node("listener").or_throw();
  SubscriptionOptions wish;
  wish.mode = Mode::inline_;
  wish.policy = reliable_policy(8);
  PublisherOptions same;
  same.policy = wish.policy;
  listener.subscribe<Number>("n", wish, [](const Message<Number>&) {});
  listener.subscribe<Buffer>("b", wish, [](const Message<Buffer>&) {});
  const auto numbers = talker.publisher<Number>("n", same);
  const auto bytes = talker.publisher<Buffer>("b", same);
  ASSERT_TRUE(eventually([&] { return numbers.listeners() == 1 && bytes.listeners() == 1; }));
  EXPECT_EQ(allocations_of([&] { numbers.publish({1}); }), 0U);
  EXPECT_EQ(allocations_of([&] {
              WritableBuffer memory = bytes.loan_bytes(10'000);
              memory.bytes()[0] = std::byte{1};
              bytes.publish(std::move(memory).freeze());
            }),
            0U);
}

TEST(Allocation, looking_up_and_setting_transforms_allocates_nothing) {
  TransformTreeOptions options;
  options.history = Duration::from_ms(100);
  TransformTree tree(options);
  Transform odom{"a_map_with_a_long_name", "odometry_with_a_long_name", Time{1}, {}, {}};
  const Transform base{"odometry_with_a_long_name", "base_with_a_long_name", {}, {}, {}};
  tree.set_static(base).or_throw();
  TransformLookup lookup = tree.lookup(odom.parent, base.child);
  EXPECT_EQ(allocations_of([&] {
              odom.stamp = odom.stamp + Duration::from_ms(1);
              tree.set(odom).or_throw();
            }),
            0U);
  EXPECT_EQ(allocations_of([&] { EXPECT_TRUE(lookup.get()); }), 0U);
  EXPECT_EQ(allocations_of([&] { EXPECT_TRUE(lookup.get(odom.stamp)); }), 0U);
}

}  // namespace
}  // namespace hyphos::test
