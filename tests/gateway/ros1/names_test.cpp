#include "gateway/ros1/names.hpp"

#include <gtest/gtest.h>

using namespace hyphos::gateway::ros1;

TEST(Names, ros_names_are_recognised) {
  for (const char* good : {"/a", "/a/b_2", "/_x", "/camera/image_raw"}) {
    EXPECT_TRUE(is_global_name(good)) << good;
  }
  for (const char* bad : {"", "/", "a", "/a/", "/a//b", "/2", "/a/2b", "/a b", "/a-b", "~a"}) {
    EXPECT_FALSE(is_global_name(bad)) << bad;
  }
}

TEST(Names, names_are_resolved_as_in_ros) {
  EXPECT_EQ(resolve_name("/x", "/a/n"), "/x");
  EXPECT_EQ(resolve_name("x", "/a/n"), "/a/x");
  EXPECT_EQ(resolve_name("~x", "/a/n"), "/a/n/x");
  EXPECT_EQ(resolve_name("x/y/", "/n"), "/x/y");
  EXPECT_EQ(resolve_name("//x//y", "/n"), "/x/y");
  EXPECT_EQ(resolve_name("/", "/n"), "/");
  EXPECT_EQ(resolve_name("", "/n"), "/");
}

TEST(Uri, a_uri_is_parsed) {
  const auto uri = Uri::parse("http://robot.local:11311/");
  ASSERT_TRUE(uri.ok());
  EXPECT_EQ(uri->scheme, "http");
  EXPECT_EQ(uri->host, "robot.local");
  EXPECT_EQ(uri->port, 11311);
  EXPECT_EQ(Uri::parse("rosrpc://[::1]:40")->host, "::1");
  EXPECT_EQ(make_uri("rosrpc", "::1", 40), "rosrpc://[::1]:40");
  for (const char* bad : {"", "host:1", "http://:1", "http://h", "http://h:0", "http://h:70000",
                          "http://h:1x/", "http://[::1:5"}) {
    EXPECT_FALSE(Uri::parse(bad).ok()) << bad;
  }
}
