#include "node/sync/matcher.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <limits>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "tests/node/sync/vectors.hpp"

namespace hyphos::test {
namespace {

using sync::Matcher;
using Sets = std::vector<std::vector<std::size_t>>;
constexpr std::int64_t kMs = 1'000'000;

/// A matcher whose messages are numbers, with its results so far.
class Numbered {
 public:
  Numbered(std::size_t channels, const SyncOptions& options)
      : matcher_(sync::make_matcher(channels, options)) {}

  /// Returns the sets that the message completes.
  Sets add(std::size_t channel, std::int64_t stamp_ns) {
    Matcher::Outcome out;
    matcher_->add(channel, stamp_ns, std::make_shared<const std::size_t>(next_++), out);
    Sets sets;
    for (const Matcher::Set& set : out.sets) {
      auto& numbers = sets.emplace_back();
      for (const auto& each : set) {
        numbers.push_back(*static_cast<const std::size_t*>(each.get()));
      }
    }
    for (const Matcher::Lost& lost : out.lost) note(lost);
    return sets;
  }
  void clear(Unmatched why) {
    Matcher::Outcome out;
    matcher_->clear(why, out);
    for (const Matcher::Lost& lost : out.lost) note(lost);
  }
  /// "channel:message reason" of each lost message.
  [[nodiscard]] const std::vector<std::string>& lost() const { return lost_; }
  [[nodiscard]] const Matcher& operator*() const { return *matcher_; }
  [[nodiscard]] const Matcher* operator->() const { return matcher_.get(); }

  void expect_that_nothing_is_forgotten(std::uint32_t queue) const {
    std::uint64_t lost = 0;
    for (std::size_t i = 0; i < matcher_->channels(); ++i) {
      const Matcher::Counts& counts = matcher_->counts(i);
      std::uint64_t unmatched = 0;
      for (const std::uint64_t each : counts.unmatched) unmatched += each;
      ASSERT_EQ(counts.received, counts.matched + unmatched + matcher_->waiting(i));
      ASSERT_LE(matcher_->waiting(i), queue);
      lost += unmatched;
    }
    ASSERT_EQ(lost, lost_.size());
  }

 private:
  void note(const Matcher::Lost& lost) {
    lost_.push_back(std::to_string(lost.channel) + ":" +
                    std::to_string(*static_cast<const std::size_t*>(lost.message.get())) + " " +
                    std::string(to_string(lost.why)));
  }
  std::unique_ptr<Matcher> matcher_;
  std::size_t next_ = 0;
  std::vector<std::string> lost_;
};

void expect_sets_of_ros(std::istream& vectors, std::size_t least_cases) {
  const std::vector<SyncCase> cases = read_sync_cases(vectors);
  ASSERT_GE(cases.size(), least_cases);
  std::size_t sets = 0;
  for (const SyncCase& one : cases) {
    SCOPED_TRACE("case " + one.title);
    ASSERT_EQ(sync::problem_of(one.channels, one.options), "");
    Numbered ours(one.channels, one.options);
    for (std::size_t at = 0; at < one.steps.size(); ++at) {
      const SyncStep& step = one.steps[at];
      ASSERT_EQ(ours.add(step.channel, step.stamp_ns), step.sets) << "message " << at;
      ours.expect_that_nothing_is_forgotten(one.options.queue);
      if (::testing::Test::HasFailure()) return;
      sets += step.sets.size();
    }
  }
  EXPECT_GE(sets, least_cases * 2);  // else the vectors test too little
}

TEST(SyncMatcher, sets_are_those_of_ros_message_filters) {
  std::ifstream vectors(SYNC_VECTORS);
  expect_sets_of_ros(vectors, 64);
}

std::string output_of(const std::string& command) {
  std::string text;
  std::array<char, 4096> part{};
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), &::pclose);
  while (const std::size_t size = std::fread(part.data(), 1, part.size(), pipe.get())) {
    text.append(part.data(), size);
  }
  return text;
}

TEST(SyncMatcher, ros_message_filters_still_forms_the_kept_sets) {
#ifndef ROS_SYNC_VECTORS
  GTEST_SKIP() << "ROS's message_filters is missing: apt-get install libmessage-filters-dev";
#else
  std::ostringstream kept;
  kept << std::ifstream(SYNC_VECTORS).rdbuf();
  EXPECT_TRUE(output_of(ROS_SYNC_VECTORS " 2>/dev/null") == kept.str())
      << "write the vectors again: " << ROS_SYNC_VECTORS << " > " << SYNC_VECTORS;
  std::istringstream more(output_of(ROS_SYNC_VECTORS " 640 2>/dev/null"));
  expect_sets_of_ros(more, 640);
#endif
}

TEST(SyncMatcher, exact_sets_have_equal_stamps) {
  Numbered sync(2, {.rule = SyncRule::exact, .queue = 2});
  EXPECT_EQ(sync.add(0, 10), Sets());
  EXPECT_EQ(sync.add(1, 11), Sets());
  EXPECT_EQ(sync.add(1, 10), (Sets{{0, 2}}));
  EXPECT_EQ(sync.add(0, 11), (Sets{{3, 1}}));
  EXPECT_TRUE(sync.lost().empty());
}

TEST(SyncMatcher, exact_names_the_reason_of_each_lost_message) {
  Numbered sync(2, {.rule = SyncRule::exact, .queue = 2});
  sync.add(0, 10);  // 0
  sync.add(0, 10);  // 1 replaces it
  sync.add(0, 20);  // 2
  sync.add(1, 20);  // 3 completes 20, so that 10 can be complete no more
  sync.add(0, 30);  // 4
  sync.add(0, 40);  // 5
  sync.add(0, 50);  // 6 exceeds the queue
  sync.clear(Unmatched::clock_jump);
  EXPECT_EQ(sync.lost(),
            (std::vector<std::string>{"0:0 repeated", "0:1 incomplete", "0:4 queue_full",
                                      "0:5 clock_jump", "0:6 clock_jump"}));
  EXPECT_EQ(sync->waiting(0), 0U);
}

TEST(SyncMatcher, approximate_names_the_reason_of_each_lost_message) {
  Numbered sync(2, {.queue = 2, .max_interval = Duration::from_ms(10)});
  sync.add(0, 0);         // 0
  sync.add(1, 50 * kMs);  // 1 is too far from 0
  EXPECT_EQ(sync.lost(), (std::vector<std::string>{"0:0 too_far_apart"}));
  sync.add(0, 42 * kMs);                             // 2 could belong to 1
  sync.add(0, 49 * kMs);                             // 3 is closer
  EXPECT_EQ(sync.add(0, 58 * kMs), (Sets{{3, 1}}));  // 4 proves that 3 is the best
  sync.add(0, 70 * kMs);                             // 5
  sync.add(0, 80 * kMs);                             // 6 exceeds the queue
  EXPECT_EQ(sync.lost(),
            (std::vector<std::string>{"0:0 too_far_apart", "0:2 superseded", "0:4 queue_full"}));
  sync.expect_that_nothing_is_forgotten(2);
}

TEST(SyncMatcher, any_stamps_are_accepted_and_counted) {
  using Limits = std::numeric_limits<std::int64_t>;
  const std::array<std::int64_t, 6> stamps = {Limits::min(),     -1,           0, 1,
                                              Limits::max() - 1, Limits::max()};
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const std::size_t channels = 2 + random() % 8;
    SyncOptions options;
    options.rule = seed % 4 == 0 ? SyncRule::exact : SyncRule::approximate;
    options.queue = 1 + random() % 5;
    if (seed % 4 == 1) options.min_spacing.assign(channels, Duration{Limits::max()});
    if (seed % 4 == 2) options.max_interval = Duration{0}, options.age_penalty = 1e6;
    Numbered sync(channels, options);
    for (int i = 0; i < 300; ++i) sync.add(random() % channels, stamps[random() % stamps.size()]);
    sync.expect_that_nothing_is_forgotten(options.queue);
  }
}

TEST(SyncMatcher, options_out_of_range_are_refused) {
  const auto refused = [](std::size_t channels, const SyncOptions& options) {
    return sync::problem_of(channels, options);
  };
  EXPECT_EQ(refused(2, {}), "");
  EXPECT_EQ(refused(9, {}), "");
  EXPECT_EQ(refused(1, {}), "it has 1 channels. Give 2 to 9");
  EXPECT_EQ(refused(10, {}), "it has 10 channels. Give 2 to 9");
  EXPECT_EQ(refused(2, {.queue = 0}), "queue is 0. Give 1 to 1000");
  EXPECT_EQ(refused(2, {.queue = 1001}), "queue is 1001. Give 1 to 1000");
  EXPECT_NE(refused(2, {.max_interval = {-1}}), "");
  EXPECT_NE(refused(2, {.age_penalty = -0.1}), "");
  EXPECT_NE(refused(2, {.age_penalty = std::numeric_limits<double>::quiet_NaN()}), "");
  EXPECT_NE(refused(2, {.min_spacing = {{1}}}), "");
  EXPECT_NE(refused(2, {.min_spacing = {{1}, {-1}}}), "");
  EXPECT_NE(refused(2, {.rule = SyncRule::exact, .max_interval = {1}}), "");
  EXPECT_NE(refused(2, {.rule = SyncRule::exact, .min_spacing = {{1}, {1}}}), "");
}

}  // namespace
}  // namespace hyphos::test
