#include "gateway/types/rules.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gateway/facade/rules_file.hpp"
#include "gateway/types/client.hpp"

namespace hyphos::gateway {
namespace {

TEST(Rules, patterns_match_as_in_a_shell) {
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("camera/*", "camera/left/image"));
  EXPECT_TRUE(matches("*/image", "camera/left/image"));
  EXPECT_TRUE(matches("a?c*d", "abcxd"));
  EXPECT_FALSE(matches("camera/*", "camera"));
  EXPECT_FALSE(matches("a*b", "abc"));
}

class RulesFile : public testing::Test {
 protected:
  ~RulesFile() override { std::filesystem::remove(file_); }
  Result<std::vector<ClientRules>> read(const std::string& text, const Rules& others = {}) {
    std::ofstream(file_) << text;
    std::vector<Token> tokens;
    return read_rules(file_, others, tokens);
  }
  const std::string file_ =
      std::filesystem::temp_directory_path() / ("hyphos-rules-" + std::to_string(::getpid()));
};

TEST_F(RulesFile, the_first_line_that_matches_a_client_applies) {
  Rules others;
  others.rate_hz = 7;
  others.publish.deny = {"cmd_vel"};
  auto read = this->read(
      "# who may drive\n\n"
      "ros_tcp*10.0.0.5:*  no-publish= rate=0.5\n"
      "ros_tcp*            publish=  subscribe=map,camera/* no-subscribe=camera/raw\n",
      others);
  ASSERT_TRUE(read) << read.error().to_string();
  others.clients = *read;
  const Rules& driver = others.of({"ros_tcp 10.0.0.5:4000"});
  EXPECT_TRUE(driver.publish.let("cmd_vel"));
  EXPECT_TRUE(driver.subscribe.let("camera/raw"));
  EXPECT_EQ(driver.rate_hz, 0.5);
  const Rules& viewer = others.of({"ros_tcp 10.0.0.6:4000"});
  EXPECT_FALSE(viewer.publish.let("odom"));
  EXPECT_TRUE(viewer.subscribe.let("camera/left"));
  EXPECT_FALSE(viewer.subscribe.let("camera/raw"));
  EXPECT_FALSE(viewer.subscribe.let("odom"));
  EXPECT_TRUE(viewer.call.let("anything"));
  EXPECT_EQ(viewer.rate_hz, 7);
  EXPECT_EQ(&others.of({"rosbridge 10.0.0.5:4000"}), &others);
}

TEST_F(RulesFile, errors_name_file_and_line) {
  const auto error_of = [&](const std::string& line) {
    const auto made = read("# one\n" + line + "\n");
    EXPECT_FALSE(made) << line;
    return made ? Error{} : made.error();
  };
  EXPECT_EQ(error_of("a blue=1").where, file_ + ":2");
  EXPECT_NE(error_of("a blue=1").message.find("'blue' is no rule. Rules are publish"),
            std::string::npos);
  EXPECT_EQ(error_of("a publish").message, "'publish' does not have the form OPTION=VALUE");
  for (const char* const rate : {"rate=", "rate=-1", "rate=1x", "rate=nan", "rate=1e10"}) {
    EXPECT_EQ(error_of(std::string("a ") + rate).code, Code::invalid_config);
  }
  std::vector<Token> tokens;
  EXPECT_EQ(read_rules(file_ + ".absent", {}, tokens).error().code, Code::io);
}

TEST(Patterns, patterns_include_and_exclude) {
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

TEST(Patterns, patterns_may_ignore_a_leading_slash) {
  const Patterns patterns("*, !/camera/* /camera/left/*", Patterns::Slash::ignored);
  EXPECT_TRUE(patterns.match("/scan"));
  EXPECT_FALSE(patterns.match("/camera/right/image"));
  EXPECT_TRUE(patterns.match("/camera/left/image"));
  EXPECT_TRUE(patterns.match("camera/left/image"));
  EXPECT_FALSE(Patterns("", Patterns::Slash::ignored).match("/scan"));
}

}  // namespace
}  // namespace hyphos::gateway
