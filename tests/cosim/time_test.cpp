#include "cosim/core/time.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace hyphos::cosim {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kBillion = 1'000'000'000;

TEST(CosimTime, a_sum_that_does_not_fit_is_an_error) {
  EXPECT_EQ(checked_add({1}, {2}).value().ns, 3);
  const auto sum = checked_add({kMost}, {1});
  ASSERT_FALSE(sum.ok());
  EXPECT_EQ(sum.error().code, Code::out_of_range);
  EXPECT_NE(sum.error().message.find("time overflow"), std::string::npos);
  EXPECT_FALSE(checked_mul({kMost / 2}, 3).ok());
  EXPECT_EQ(checked_mul({-5}, 3).value().ns, -15);
}

TEST(CosimTime, an_invalid_step_is_refused) {
  EXPECT_FALSE(Step::make(0).ok());
  EXPECT_FALSE(Step::make(-1).ok());
  EXPECT_FALSE(Step::make(1, 2).ok()) << "shorter than a nanosecond";
  EXPECT_FALSE(Step::make(1, 0).ok());
  EXPECT_FALSE(Step::from_rate(0).ok());
  EXPECT_TRUE(Step::make(1).ok());
}

TEST(CosimTime, each_instant_of_a_fractional_step_is_rounded_down) {
  const Step step = Step::make(1'000'000, 3).value();
  EXPECT_EQ(step.at(1).value().ns, 333'333);
  EXPECT_EQ(step.at(2).value().ns, 666'666);
  EXPECT_EQ(step.at(3).value().ns, 1'000'000);
  EXPECT_EQ(step.at(3 * kBillion).value().ns, 1'000'000 * kBillion);
  EXPECT_EQ(step.longest().ns, 333'334);
}

TEST(CosimTime, an_instant_beyond_int64_is_an_error) {
  const Step step = Step::make(1'000'000, 3).value();
  const std::int64_t last = step.index_at_or_before({kMost - 1});
  EXPECT_TRUE(step.at(last).ok());
  const auto beyond = step.at(last + 2);
  ASSERT_FALSE(beyond.ok());
  EXPECT_EQ(beyond.error().code, Code::out_of_range);
  EXPECT_FALSE(step.at(-1).ok());
}

TEST(CosimTime, indices_are_the_inverse_of_instants) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 100'000; ++i) {
    const auto denominator = static_cast<std::int64_t>(1 + random() % 1000);
    const auto numerator = static_cast<std::int64_t>(denominator + random() % 1'000'000'000);
    const Step step = Step::make(numerator, denominator).value();
    const auto k = static_cast<std::int64_t>(random() % 1'000'000);
    const Time at = step.at(k).value();
    ASSERT_EQ(step.index_at_or_before(at), k);
    ASSERT_EQ(step.index_at_or_after(at), k);
    ASSERT_EQ(step.index_at_or_after(at + Duration{1}), k + 1);
    if (k > 0) {
      ASSERT_EQ(step.index_at_or_before(at - Duration{1}), k - 1);
    }
  }
}

/// Compares all of the first 10⁹ instants of a Ticker with a division by a constant. Returns the
/// instant after the last.
template <std::int64_t kNumerator, std::int64_t kDenominator>
std::int64_t walk_a_billion_steps() {
  const Step step = Step::make(kNumerator, kDenominator).value();
  Ticker ticker(step);
  std::int64_t wrong = 0;
  for (std::int64_t k = 1; k <= kBillion; ++k) {
    wrong += ticker.advance() ? 0 : 1;
    wrong += ticker.now().ns == k * kNumerator / kDenominator ? 0 : 1;
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(ticker.index(), kBillion);
  EXPECT_EQ(step.at(kBillion).value().ns, ticker.now().ns);
  return ticker.now().ns;
}

TEST(CosimTime, a_billion_steps_of_a_third_of_a_millisecond_do_not_drift) {
  // 10⁹ / 3 ms, rounded down once.
  EXPECT_EQ((walk_a_billion_steps<1'000'000, 3>()), 333'333'333'333'333);
}

TEST(CosimTime, a_billion_steps_of_600_hz_do_not_drift) {
  const Step step = Step::from_rate(600).value();
  EXPECT_EQ(step.numerator(), 5'000'000);
  EXPECT_EQ(step.denominator(), 3);
  EXPECT_EQ((walk_a_billion_steps<5'000'000, 3>()), 1'666'666'666'666'666);
}

TEST(CosimTime, a_ticker_reports_the_end_of_time) {
  Ticker ticker(Step::make(kMost / 2 + 1).value());
  EXPECT_TRUE(ticker.advance());
  EXPECT_FALSE(ticker.advance());
}

}  // namespace
}  // namespace hyphos::cosim
