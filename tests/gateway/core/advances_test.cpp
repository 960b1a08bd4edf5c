#include "gateway/core/advances.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace hyphos::gateway {
namespace {

TEST(Advances, AreNoMoreTogetherThanTheMost) {
  Advances advances(100);
  Advances::Share first = advances.take(60);
  EXPECT_TRUE(first);
  EXPECT_FALSE(advances.take(41));
  Advances::Share second = advances.take(40);
  EXPECT_TRUE(second);
  EXPECT_FALSE(advances.take(1));
}

TEST(Advances, AreGivenBackOnce) {
  Advances advances(100);
  {
    Advances::Share held = advances.take(100);
    Advances::Share moved = std::move(held);
    EXPECT_FALSE(advances.take(1));
    held = {};
    EXPECT_FALSE(advances.take(1)) << "it is the other's";
  }
  Advances::Share all = advances.take(100);
  ASSERT_TRUE(all);
  all = {};
  EXPECT_TRUE(advances.take(100));
}

TEST(Advances, OfNothingAreAlwaysThere) {
  Advances advances(0);
  EXPECT_FALSE(advances.take(1));
  EXPECT_TRUE(advances.take(0));
}

}  // namespace
}  // namespace hyphos::gateway
