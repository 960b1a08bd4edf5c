#include "lab/common/paper.hpp"

#include <gtest/gtest.h>

namespace hyphos::lab {
namespace {

TEST(Paper, delays_are_averaged_over_ten_in_the_order_of_sending) {
  std::vector<std::int64_t> heard;
  for (std::int64_t i = 0; i < 25; ++i) heard.push_back(i * 1000);
  std::vector<std::int64_t> means = {7};  // of an earlier flow
  append_means(means, heard);
  EXPECT_EQ(means, (std::vector<std::int64_t>{7, 4500, 14'500}));
}

TEST(Paper, fewer_than_ten_delays_have_no_mean) {
  const std::vector<std::int64_t> heard(9, 1000);
  std::vector<std::int64_t> means;
  append_means(means, heard);
  EXPECT_TRUE(means.empty());
}

TEST(Paper, rates_use_windows_of_ten_seconds_or_one_shorter_window) {
  EXPECT_EQ(Windows(10).count, 1);
  EXPECT_EQ(Windows(39.9).count, 3);
  EXPECT_EQ(Windows(30).count, 3);
  EXPECT_EQ(Windows(30).length_s, 10);
  EXPECT_EQ(Windows(0.3).count, 1);
  EXPECT_EQ(Windows(0.3).length_s, 0.3);
}

TEST(Paper, a_list_is_json) {
  EXPECT_EQ(list_of({}), "[]");
  EXPECT_EQ(list_of(std::vector{1.5, 2.0}), "[1.5, 2]");
}

}  // namespace
}  // namespace hyphos::lab
