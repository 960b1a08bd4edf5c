#include "base/percentile.hpp"

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

namespace hyphos {
namespace {

TEST(Percentile, the_rank_is_from_one_to_the_count) {
  EXPECT_EQ(nearest_rank(0, 10), 1U);
  EXPECT_EQ(nearest_rank(0.5, 10), 5U);
  EXPECT_EQ(nearest_rank(0.5, 11), 6U);
  EXPECT_EQ(nearest_rank(0.99, 100), 99U);
  EXPECT_EQ(nearest_rank(0.999, 100), 100U);
  EXPECT_EQ(nearest_rank(1, 10), 10U);
  EXPECT_EQ(nearest_rank(-1, 10), 1U);
  EXPECT_EQ(nearest_rank(2, 10), 10U);
}

TEST(Percentile, a_percentile_is_one_of_the_samples) {
  const std::vector<int> sorted = {15, 20, 35, 40, 50};
  EXPECT_EQ(percentile(sorted, 0.05), 15);
  EXPECT_EQ(percentile(sorted, 0.3), 20);
  EXPECT_EQ(percentile(sorted, 0.4), 20);
  EXPECT_EQ(percentile(sorted, 0.5), 35);
  EXPECT_EQ(percentile(sorted, 1), 50);
}

TEST(Percentile, a_histogram_gives_the_same_as_its_samples) {
  const std::map<int, std::uint64_t> histogram = {{1, 3}, {5, 1}, {9, 6}};
  const std::vector<int> sorted = {1, 1, 1, 5, 9, 9, 9, 9, 9, 9};
  for (int percent = 0; percent <= 100; ++percent) {
    const double fraction = percent / 100.0;
    EXPECT_EQ(histogram_percentile(histogram, sorted.size(), fraction),
              percentile(sorted, fraction))
        << percent;
  }
}

TEST(Percentile, a_histogram_with_missing_counts_gives_its_last_value) {
  const std::vector<std::pair<int, std::uint64_t>> histogram = {{1, 1}, {5, 1}};
  EXPECT_EQ(histogram_percentile(histogram, 10, 1), 5);
}

}  // namespace
}  // namespace hyphos
