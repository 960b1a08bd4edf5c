#include "view/core/pyramid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace hyphos::view {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// What query() promises, without a pyramid.
Pyramid::Column plain(const std::vector<Pyramid::Point>& points, std::int64_t begin,
                      std::int64_t end) {
  Pyramid::Column out;
  for (const Pyramid::Point& point : points) {
    if (point.time_ns < begin || point.time_ns >= end) continue;
    ++out.count;
    if (!std::isfinite(point.value)) continue;
    if (out.empty()) {
      out.first = out.min = out.max = point.value;
    }
    out.min = std::min(out.min, point.value);
    out.max = std::max(out.max, point.value);
    out.last = point.value;
  }
  return out;
}

void expect_equal(const Pyramid::Column& a, const Pyramid::Column& b) {
  EXPECT_EQ(a.count, b.count);
  ASSERT_EQ(a.empty(), b.empty());
  if (a.empty()) return;
  EXPECT_EQ(a.min, b.min);
  EXPECT_EQ(a.max, b.max);
  EXPECT_EQ(a.first, b.first);
  EXPECT_EQ(a.last, b.last);
}

TEST(Pyramid, every_range_has_the_extremes_of_its_samples) {
  std::minstd_rand random(1);
  std::uniform_real_distribution<double> value(-100, 100);
  Pyramid pyramid;
  std::vector<Pyramid::Point> points;
  std::int64_t time = 1'000;
  for (int i = 0; i < 20'000; ++i) {
    time += static_cast<std::int64_t>(random() % 5);  // equal times, too
    points.push_back({time, i % 997 == 0 ? kNan : value(random)});
    pyramid.append(points.back().time_ns, points.back().value);
  }
  ASSERT_EQ(pyramid.size(), points.size());
  for (int i = 0; i < 200; ++i) {
    std::int64_t begin = 900 + static_cast<std::int64_t>(random() % 40'000);
    std::int64_t end = begin + static_cast<std::int64_t>(random() % 20'000);
    expect_equal(pyramid.summary(begin, end), plain(points, begin, end));
  }
}

TEST(Pyramid, columns_cover_the_interval_once) {
  Pyramid pyramid;
  for (int i = 0; i < 10'000; ++i) pyramid.append(i, i);
  for (const std::size_t width : {1U, 7U, 640U, 9'999U, 20'000U}) {
    std::vector<Pyramid::Column> columns(width);
    pyramid.query(-50, 12'000, columns);
    std::uint64_t count = 0;
    double before = -1;
    for (const Pyramid::Column& column : columns) {
      count += column.count;
      if (column.empty()) continue;
      EXPECT_EQ(column.min, before + 1);
      EXPECT_EQ(column.first, column.min);
      EXPECT_EQ(column.last, column.max);
      before = column.max;
    }
    EXPECT_EQ(count, 10'000U);
  }
  std::vector<Pyramid::Column> columns(3);
  pyramid.query(5, 5, columns);
  EXPECT_EQ(columns[0].count, 0U) << "an empty interval";
  pyramid.query(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
                columns);
  EXPECT_EQ(columns[0].count + columns[1].count + columns[2].count, 10'000U);
}

TEST(Pyramid, the_oldest_samples_are_dropped_and_counted) {
  Pyramid pyramid(10'000);  // 12,288 in blocks
  for (int i = 0; i < 100'000; ++i) pyramid.append(i, i);
  EXPECT_LE(pyramid.size(), 12'288U);
  EXPECT_GE(pyramid.size(), 8'192U);
  EXPECT_EQ(pyramid.size() + pyramid.dropped(), 100'000U);
  EXPECT_EQ(pyramid.at(pyramid.size() - 1).value, 99'999);
  EXPECT_EQ(pyramid.at(0).value, static_cast<double>(pyramid.dropped()));
  EXPECT_EQ(pyramid.summary(0, 100'000).min, static_cast<double>(pyramid.dropped()));
  EXPECT_LE(pyramid.bytes(), 12'288U * 18U);
}

TEST(Pyramid, gaps_and_earlier_times_are_no_values) {
  Pyramid pyramid;
  pyramid.append(10, 1);
  pyramid.append(20, kNan);
  pyramid.append(30, std::numeric_limits<double>::infinity());
  pyramid.append(5, 7);
  EXPECT_EQ(pyramid.size(), 3U);
  EXPECT_EQ(pyramid.out_of_order(), 1U);
  EXPECT_TRUE(pyramid.summary(15, 40).empty());
  EXPECT_EQ(pyramid.summary(15, 40).count, 2U);
  EXPECT_EQ(pyramid.summary(0, 40).max, 1);
  pyramid.clear();
  EXPECT_TRUE(pyramid.empty());
  pyramid.append(1, 2);
  EXPECT_EQ(pyramid.at(0).value, 2);
}

TEST(Pyramid, samples_leave_for_a_budget_and_are_counted) {
  Pyramid pyramid;
  pyramid.drop_oldest();
  for (int i = 0; i < 10'000; ++i) pyramid.append(i, i);
  const std::size_t bytes = pyramid.bytes();
  pyramid.drop_oldest();
  EXPECT_EQ(pyramid.size(), 10'000U - 4'096);
  EXPECT_EQ(pyramid.at(0).time_ns, 4'096);
  EXPECT_EQ(pyramid.dropped(), 4'096U);
  EXPECT_LT(pyramid.bytes(), bytes);
  EXPECT_EQ(pyramid.summary(0, 10'000).min, 4'096);
  pyramid.drop_oldest();
  pyramid.drop_oldest();
  EXPECT_TRUE(pyramid.empty());
  EXPECT_EQ(pyramid.dropped(), 10'000U);
  pyramid.append(20'000, 1);
  EXPECT_EQ(pyramid.at(0).value, 1);
}

TEST(Pyramid, the_nearest_sample_is_found) {
  Pyramid pyramid;
  EXPECT_FALSE(pyramid.nearest(1));
  for (const std::int64_t time : {10, 20, 40}) pyramid.append(time, static_cast<double>(time));
  EXPECT_EQ(pyramid.nearest(-5)->time_ns, 10);
  EXPECT_EQ(pyramid.nearest(14)->time_ns, 10);
  EXPECT_EQ(pyramid.nearest(16)->time_ns, 20);
  EXPECT_EQ(pyramid.nearest(31)->time_ns, 40);
  EXPECT_EQ(pyramid.nearest(99)->time_ns, 40);
  EXPECT_EQ(pyramid.lower_bound(20), 1U);
  EXPECT_EQ(pyramid.lower_bound(41), 3U);
}

}  // namespace
}  // namespace hyphos::view
