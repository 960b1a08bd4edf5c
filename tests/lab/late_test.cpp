#include "lab/common/late.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace hyphos::lab {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(Late, a_part_is_an_eighth_of_the_schedule) {
  EXPECT_EQ(late_part(0, 8 * kSecond), 0U);
  EXPECT_EQ(late_part(kSecond - 1, 8 * kSecond), 0U);
  EXPECT_EQ(late_part(kSecond, 8 * kSecond), 1U);
  EXPECT_EQ(late_part(8 * kSecond - 1, 8 * kSecond), 7U);
}

TEST(Late, times_outside_the_schedule_count_at_its_ends) {
  EXPECT_EQ(late_part(-5, kSecond), 0U);
  EXPECT_EQ(late_part(9 * kSecond, kSecond), 7U);
  EXPECT_EQ(late_part(1, 0), 7U);
}

TEST(Late, lateness_grows_from_part_to_part_with_the_queue) {
  LateParts late(8 * kSecond);
  for (std::int64_t i = 0; i < 800; ++i) late.add(i * kSecond / 100, 1'000'000 + i * 10'000);
  const auto medians = late.medians_us();
  for (std::size_t part = 1; part < medians.size(); ++part) {
    EXPECT_NEAR(medians[part] - medians[part - 1], 1000, 1);
  }
  EXPECT_NEAR(late.least_us(), 1070, 1);
}

TEST(Late, a_part_without_messages_has_no_median) {
  LateParts late(8 * kSecond);
  late.add(0, 5000);
  const auto medians = late.medians_us();
  EXPECT_EQ(medians[0], 5);
  EXPECT_TRUE(std::isnan(medians[7]));
  EXPECT_EQ(list_of(std::span(medians).last(2)), "[null, null]");
}

TEST(Late, no_messages_have_no_minimum) { EXPECT_TRUE(std::isnan(LateParts(kSecond).least_us())); }

}  // namespace
}  // namespace hyphos::lab
