// Rules that a gateway selects by the token of a client.
#include "gateway/facade/tokens.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gateway/arguments.hpp"
#include "gateway/facade/hyphos_graph.hpp"
#include "gateway/facade/rules_file.hpp"
#include "hyphos/hyphos.hpp"
#include "tests/gateway/convert/sample.hpp"
#include "tests/gateway/heard.hpp"

namespace hyphos::gateway {
namespace {

class TokensTest : public testing::Test {
 protected:
  TokensTest() { std::filesystem::create_directories(folder_); }
  ~TokensTest() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) const {
    const auto file = folder_ / name;
    std::ofstream(file) << text;
    return file.string();
  }
  Rules read(const std::string& text, const Rules& others = {}) {
    Rules rules = others;
    rules.clients = read_rules(write("rules", text), others, tokens_).or_throw();
    return rules;
  }
  /// The error of a rules file with this line only.
  Error error_of(const std::string& line) {
    const auto made = read_rules(write("rules", line + "\n"), {}, tokens_);
    EXPECT_FALSE(made) << line;
    return made ? Error{} : made.error();
  }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("hyphos-tokens-" + std::to_string(::getpid()));
  std::vector<Token> tokens_;
};

TEST_F(TokensTest, a_line_may_apply_to_clients_with_a_token_of_a_file) {
  write("drivers", "drive\n\nsteer\n");
  write("viewers", "look\n");
  Rules others;
  others.publish.deny = {"cmd_vel"};
  const Rules rules = read(
      "*10.0.0.9:*  tokens=drivers  publish=\n"
      "*            tokens=drivers  no-publish= rate=50\n"
      "*            tokens=viewers  publish= call=\n",
      others);
  ASSERT_EQ(tokens_.size(), 3U) << "a file that two lines name is read once";
  EXPECT_EQ(tokens_[1].secret, "steer");
  EXPECT_EQ(tokens_[1].rules, path("drivers"));
  EXPECT_EQ(tokens_[2].rules, path("viewers"));
  const auto of = [&](const std::string& address, const std::string& token) -> const Rules& {
    return rules.of({"rosbridge " + address + ":4000", {}, token.empty() ? "" : path(token)});
  };
  EXPECT_TRUE(of("10.0.0.5", "drivers").publish.let("cmd_vel"));
  EXPECT_EQ(of("10.0.0.5", "drivers").rate_hz, 50);
  EXPECT_FALSE(of("10.0.0.9", "drivers").publish.let("odom")) << "the first matching line";
  EXPECT_FALSE(of("10.0.0.5", "viewers").publish.let("odom"));
  EXPECT_TRUE(of("10.0.0.5", "viewers").subscribe.let("odom"));
  EXPECT_EQ(&of("10.0.0.9", ""), &rules) << "no line applies without a token";
}

TEST_F(TokensTest, errors_name_the_line_of_the_rules_but_no_token) {
  EXPECT_EQ(error_of("* tokens=absent").message, "tokens=absent: cannot read the token file");
  EXPECT_EQ(error_of("* tokens=absent").where, path("rules") + ":1");
  EXPECT_EQ(error_of("* tokens=").message, "tokens needs a file with one token per line");
  write("empty", "\n\n");
  EXPECT_EQ(error_of("* tokens=empty").message,
            "tokens=empty: the file has no token. Write one per line");
  write("a", "look\ndrive\n");
  write("b", "\ndrive\n");
  EXPECT_EQ(error_of("* tokens=a tokens=b").message, "a line may name only one token file");
  tokens_.clear();
  (void)read("* tokens=a\n");
  EXPECT_EQ(error_of("* tokens=b").message, "tokens=b: the token on line 2 is in " + path("a") +
                                                " too. A token may be in only one file");
  EXPECT_NE(error_of("* token=a").message.find("rate and tokens"), std::string::npos);
}

TEST_F(TokensTest, tokens_of_options_and_of_rules_are_combined) {
  const std::string plain = write("plain", "any\n");
  write("drivers", "drive\n");
  const std::string rules = write("rules", "*  tokens=drivers  call=\n");
  const auto made = parse_arguments({"rosbridge", "--rules", rules, "--tokens", plain}).or_throw();
  ASSERT_EQ(made.options.tokens.size(), 2U);
  EXPECT_EQ(made.options.tokens[0].secret, "any");
  EXPECT_EQ(made.options.tokens[0].rules, "");
  EXPECT_EQ(made.options.tokens[1].rules, path("drivers"));
  write("drivers", "drive\nany\n");
  const auto twice = parse_arguments({"rosbridge", "--rules", rules, "--tokens", plain});
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message,
            "tokens=drivers: the token on line 2 is in the file of --tokens too. A token may be "
            "in only one file");
  const auto absent = parse_arguments({"rosbridge", "--tokens", path("absent")});
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, Code::io);
}

TEST_F(TokensTest, the_graph_facade_applies_the_rules_of_the_token) {
  RuntimeOptions alone;
  alone.domain = "tokens" + std::to_string(::getpid());
  const Node node = Node::open("gateway", alone).or_throw();
  write("drivers", "drive\n");
  Rules others;
  others.rate_hz = 0.001;
  others.publish.allow = {};
  HyphosGraph facade(node, sample_types(), read("* tokens=drivers publish=part rate=0\n", others));
  const Client plain{"rosbridge 10.0.0.5:4000"};
  const Client driver{plain.name, {}, path("drivers")};
  const auto open = [&](const Client& client) {
    return facade.topics().open_publisher(client, "/part", "made/Part", Form::json, {});
  };
  const auto refused = open(plain);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::permission);
  EXPECT_FALSE(facade.clients().lets(plain, Use::publish, "/part"));
  EXPECT_TRUE(facade.clients().lets(driver, Use::publish, "/part"));
  EXPECT_FALSE(facade.clients().lets(driver, Use::publish, "/other"));
  // Its rate is separate from that of the client without a token at the same address.
  const auto ask = [&](const Client& client) {
    const auto goal =
        facade.actions().send_goal(client, "/none", "made/Count", Form::json, bytes_of("{}"), {});
    return goal ? std::optional<Code>() : goal.error().code;
  };
  EXPECT_EQ(ask(plain), std::nullopt);
  EXPECT_EQ(ask(plain), Code::permission);
  const auto publisher = open(driver).or_throw();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(publisher->publish(bytes_of(R"({"x":1})")));
}

}  // namespace
}  // namespace hyphos::gateway
