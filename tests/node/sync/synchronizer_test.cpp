#include "hyphos/synchronizer.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "hyphos/msgs/sensor.pb.h"
#include "tests/node/harness.hpp"

namespace hyphos::test {
namespace {

struct Stamped {
  static constexpr std::string_view hyphos_type = "test.Stamped";
  std::int64_t stamp_ns = 0;
  std::int64_t value = 0;
};

/// A type without the field `stamp_ns`.
struct Timed {
  static constexpr std::string_view hyphos_type = "test.Timed";
  double seconds = 0;
};
std::int64_t sync_stamp_ns(const Timed& timed) {
  return static_cast<std::int64_t>(timed.seconds * 1e9);
}

/// The sets of two channels of test.Stamped, as pairs of values.
class Pairs {
 public:
  explicit Pairs(const SyncOptions& options,
                 Runtime runtime = Runtime::open(offline_options()).or_throw())
      : node(runtime.node("fusion").or_throw()) {
    // The publishers first, so that the channels have their policy.
    left = node.publisher<Stamped>("left");
    right = node.publisher<Stamped>("right");
    sync =
        synchronize<Stamped, Stamped>(node, {"left", "right"}, options,
                                      [this](const Message<Stamped>& a, const Message<Stamped>& b) {
                                        if (then) then();
                                        const std::lock_guard lock(mutex_);
                                        sets_.emplace_back(a->value, b->value);
                                      });
  }
  ~Pairs() { node.close(); }
  Pairs(const Pairs&) = delete;
  Pairs& operator=(const Pairs&) = delete;

  using Sets = std::vector<std::pair<std::int64_t, std::int64_t>>;
  [[nodiscard]] Sets sets() const {
    const std::lock_guard lock(mutex_);
    return sets_;
  }
  [[nodiscard]] std::uint64_t counter(std::string_view channel, std::string_view name) const {
    for (const EndpointInfo& end : node.runtime().endpoints()) {
      if (!end.is_publisher && end.channel == channel) return end.counter(name);
    }
    return 0;
  }

  Node node;
  Publisher<Stamped> left;
  Publisher<Stamped> right;
  std::function<void()> then;
  Synchronizer sync;

 private:
  mutable std::mutex mutex_;
  Sets sets_;
};

TEST(Synchronizer, the_callback_gets_one_message_of_each_channel) {
  Pairs pairs({.rule = SyncRule::exact});
  pairs.node.runtime().settle([&] {
    pairs.left.publish({10, 1});
    pairs.right.publish({20, 4});
    pairs.left.publish({20, 2});
    pairs.right.publish({30, 5});
    pairs.left.publish({30, 3});
  });
  EXPECT_EQ(pairs.sets(), (Pairs::Sets{{2, 4}, {3, 5}}));
}

TEST(Synchronizer, every_unmatched_message_is_counted_by_channel_and_reason) {
  Pairs pairs({.rule = SyncRule::exact, .queue = 3});
  // The channels take turns. So the second one begins when all messages of the first were seen.
  pairs.node.runtime().settle([&] {
    for (std::int64_t i = 1; i <= 5; ++i) pairs.left.publish({i, i});
  });
  pairs.node.runtime().settle([&] {
    pairs.right.publish({5, 50});
    pairs.right.publish({6, 60});
  });
  EXPECT_EQ(pairs.sets(), (Pairs::Sets{{5, 50}}));
  const std::vector<SyncCounts> counts = pairs.sync.counts();
  ASSERT_EQ(counts.size(), 2U);
  EXPECT_EQ(counts[0].channel, "left");
  EXPECT_EQ(counts[0].received, 5U);
  EXPECT_EQ(counts[0].matched, 1U);
  EXPECT_EQ(counts[0].waiting, 0U);
  EXPECT_EQ(counts[0].unmatched(Unmatched::queue_full), 2U);
  EXPECT_EQ(counts[0].unmatched(Unmatched::incomplete), 2U);
  EXPECT_EQ(counts[0].unmatched(), 4U);
  EXPECT_EQ(counts[1].waiting, 1U);
  EXPECT_EQ(counts[1].unmatched(), 0U);
  // The counters that tools show.
  EXPECT_EQ(pairs.counter("left", "unmatched.queue_full"), 2U);
  EXPECT_EQ(pairs.counter("left", "unmatched.incomplete"), 2U);
  EXPECT_EQ(pairs.counter("right", "unmatched.queue_full"), 0U);
}

TEST(Synchronizer, nine_channels_of_three_kinds_of_types_form_a_set) {
  using hyphos::msgs::LaserScan;
  using Camera = Attached<hyphos::msgs::Image>;
  const Node node = Node::open("fusion", offline_options()).or_throw();
  const auto scans = node.publisher<LaserScan>("scan");
  const auto images = node.publisher<Camera>("camera");
  const auto times = node.publisher<Timed>("time");
  const auto others = node.publisher<Stamped>("other");
  std::atomic<int> sets{0};
  std::int64_t sum = 0;
  synchronize<LaserScan, Camera, Timed, Stamped, Stamped, Stamped, Stamped, Stamped, Stamped>(
      node, {"scan", "camera", "time", "other", "other", "other", "other", "other", "other"},
      {.rule = SyncRule::exact},
      [&](const Message<LaserScan>& scan, const Message<Camera>& image, const Message<Timed>& time,
          const Message<Stamped>& a, const auto& b, const auto& c, const auto& d, const auto& e,
          const auto& f) {
        EXPECT_EQ(image->head.header().stamp_ns(), scan->header().stamp_ns());
        EXPECT_EQ(time->seconds, 2.0);
        sum += a->value + b->value + c->value + d->value + e->value + f->value;
        ++sets;
      });
  node.runtime().settle([&] {
    LaserScan scan;
    scan.mutable_header()->set_stamp_ns(2'000'000'000);
    Camera image;
    image.head.mutable_header()->set_stamp_ns(2'000'000'000);
    times.publish({2.0});
    others.publish({2'000'000'000, 7});
    images.publish(image);
    scans.publish(scan);
  });
  EXPECT_EQ(sets, 1);
  EXPECT_EQ(sum, 42);
}

TEST(Synchronizer, callbacks_run_one_at_a_time_and_no_message_is_lost) {
  RuntimeOptions options = offline_options();
  options.threads = 4;
  SyncOptions how{.rule = SyncRule::exact, .queue = 1000};
  how.policy = reliable_policy(1000);
  Pairs pairs(how, Runtime::open(options).or_throw());
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  pairs.then = [&] {
    most = std::max<int>(most, ++inside);
    --inside;
  };
  constexpr std::int64_t kCount = 500;
  const auto publish = [](const Publisher<Stamped>& to) {
    for (std::int64_t i = 1; i <= kCount; ++i) to.publish({i, i});
  };
  const auto left = pairs.node.publisher<Stamped>("left");
  std::thread first([&] { publish(left); });
  publish(pairs.right);
  first.join();
  const auto all_counted = [&] {
    std::uint64_t known = 0;
    for (const SyncCounts& each : pairs.sync.counts()) {
      known += each.received;
    }
    return known + pairs.counter("left", "drop.queue.overflow") +
               pairs.counter("right", "drop.queue.overflow") ==
           2 * kCount;
  };
  ASSERT_TRUE(eventually(all_counted));
  EXPECT_EQ(most, 1);
  for (const auto& [a, b] : pairs.sets()) EXPECT_EQ(a, b);
  EXPECT_GT(pairs.sets().size(), 0U);
}

TEST(Synchronizer, an_exception_of_one_set_keeps_no_other_set_from_the_callback) {
  Pairs pairs({});
  int calls = 0;
  pairs.then = [&] {
    if (++calls == 1) throw std::runtime_error("broken");
  };
  pairs.node.runtime().settle([&] {
    for (std::int64_t i = 1; i <= 4; ++i) pairs.left.publish({i * 1000, i});
    for (std::int64_t i = 1; i <= 4; ++i) pairs.right.publish({i * 1000, i});
  });
  EXPECT_GE(calls, 3);
  EXPECT_EQ(pairs.sets().size() + 1, static_cast<std::size_t>(calls));
  EXPECT_EQ(pairs.counter("left", "callback_error") + pairs.counter("right", "callback_error"), 1U);
}

TEST(Synchronizer, a_clock_that_is_set_back_drops_the_waiting_messages) {
  RuntimeOptions options = offline_options();
  options.clock = ClockMode::sim;
  Runtime runtime = Runtime::open(options).or_throw();
  Pairs pairs({.rule = SyncRule::exact}, runtime);
  SimTimeOptions manual;
  manual.manual = true;
  SimTime time = SimTime::open(pairs.node, manual).or_throw();
  ASSERT_TRUE(time.jump(Time{1'000'000'000}).ok());
  ASSERT_TRUE(eventually([&] {  // the news of the first jump may come after a message
    runtime.settle([&] { pairs.left.publish({1'000'000'000, 1}); });
    return pairs.sync.counts()[0].waiting == 1;
  }));
  const std::uint64_t before = pairs.sync.counts()[0].unmatched(Unmatched::clock_jump);
  ASSERT_TRUE(time.jump(Time{500'000'000}).ok());
  EXPECT_TRUE(eventually([&] { return pairs.sync.counts()[0].waiting == 0; }));
  EXPECT_EQ(pairs.sync.counts()[0].unmatched(Unmatched::clock_jump), before + 1);
  EXPECT_TRUE(
      eventually([&] { return pairs.counter("left", "unmatched.clock_jump") == before + 1; }));
}

TEST(Synchronizer, close_in_the_callback_ends_it) {
  Pairs pairs({.rule = SyncRule::exact});
  pairs.then = [&] { pairs.sync.close(); };
  pairs.node.runtime().settle([&] {
    for (std::int64_t i = 1; i <= 3; ++i) {
      pairs.left.publish({i, i});
      pairs.right.publish({i, i});
    }
  });
  EXPECT_EQ(pairs.sets().size(), 1U);
  EXPECT_EQ(pairs.sync.counts()[0].waiting + pairs.sync.counts()[1].waiting, 0U);
  pairs.sync.close();
}

TEST(Synchronizer, a_failed_start_leaves_no_subscription_open) {
  const Node node = Node::open("fusion", offline_options()).or_throw();
  const auto numbers = node.publisher<Number>("right");
  const auto open = [&] {
    return synchronize<Stamped, Stamped>(node, {"left", "right"}, {},
                                         [](const auto&, const auto&) {});
  };
  EXPECT_THROW((void)open(), Exception);
  EXPECT_THROW((synchronize<Stamped, Stamped>(node, {"left", "other"}, {.queue = 0},
                                              [](const auto&, const auto&) {})),
               Exception);
  for (const EndpointInfo& end : node.runtime().endpoints()) EXPECT_TRUE(end.is_publisher);
}

}  // namespace
}  // namespace hyphos::test
