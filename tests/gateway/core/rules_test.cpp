#include "gateway/core/rules.hpp"

#include <gtest/gtest.h>

namespace hyphos::gateway {
namespace {

TEST(Rules, PatternsMatchAsShellsDo) {
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("camera/*", "camera/left/image"));
  EXPECT_TRUE(matches("*/image", "camera/left/image"));
  EXPECT_TRUE(matches("a?c*d", "abcxd"));
  EXPECT_FALSE(matches("camera/*", "camera"));
  EXPECT_FALSE(matches("a*b", "abc"));
}

TEST(Patterns, TakeAndLeaveOut) {
  const Patterns all("*");
  EXPECT_TRUE(all.match("/anything/at/all"));
  const Patterns some("/camera/*, /odom,!/camera/*/compressed");
  EXPECT_TRUE(some.match("/camera/image"));
  EXPECT_TRUE(some.match("/odom"));
  EXPECT_FALSE(some.match("/camera/image/compressed"));
  EXPECT_FALSE(some.match("/odom2"));
  EXPECT_FALSE(some.match("/tf"));
  EXPECT_TRUE(Patterns("/a?c").match("/abc"));
  EXPECT_FALSE(Patterns("/a?c").match("/ac"));
  EXPECT_TRUE(Patterns("*a*b").match("/xaxbxab"));
  EXPECT_FALSE(Patterns("").match("/a"));
}

TEST(Patterns, MayIgnoreASlashInFront) {
  const Patterns patterns("*, !/camera/* /camera/left/*", Patterns::Slash::ignored);
  EXPECT_TRUE(patterns.match("/scan"));
  EXPECT_FALSE(patterns.match("/camera/right/image"));
  EXPECT_TRUE(patterns.match("/camera/left/image"));
  EXPECT_TRUE(patterns.match("camera/left/image"));
  EXPECT_FALSE(Patterns("", Patterns::Slash::ignored).match("/scan"));
}

}  // namespace
}  // namespace hyphos::gateway
