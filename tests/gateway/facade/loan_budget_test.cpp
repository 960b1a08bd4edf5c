#include "gateway/facade/loan_budget.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace hyphos::gateway {
namespace {

TEST(LoanBudget, the_sum_of_shares_stays_within_the_limit) {
  LoanBudget loan_budget(100);
  LoanBudget::Share first = loan_budget.take(60);
  EXPECT_TRUE(first);
  EXPECT_FALSE(loan_budget.take(41));
  LoanBudget::Share second = loan_budget.take(40);
  EXPECT_TRUE(second);
  EXPECT_FALSE(loan_budget.take(1));
}

TEST(LoanBudget, a_share_is_returned_once) {
  LoanBudget loan_budget(100);
  {
    LoanBudget::Share held = loan_budget.take(100);
    LoanBudget::Share moved = std::move(held);
    EXPECT_FALSE(loan_budget.take(1));
    held = {};
    EXPECT_FALSE(loan_budget.take(1)) << "the share belongs to the other object";
  }
  LoanBudget::Share all = loan_budget.take(100);
  ASSERT_TRUE(all);
  all = {};
  EXPECT_TRUE(loan_budget.take(100));
}

TEST(LoanBudget, a_share_of_zero_always_succeeds) {
  LoanBudget loan_budget(0);
  EXPECT_FALSE(loan_budget.take(1));
  EXPECT_TRUE(loan_budget.take(0));
}

}  // namespace
}  // namespace hyphos::gateway
