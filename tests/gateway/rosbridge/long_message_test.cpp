#include "gateway/rosbridge/long_message.hpp"

#include <gtest/gtest.h>

#include <string>

#include "gateway/net/web_socket.hpp"
#include "gateway/rosbridge/request.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

const std::string kData(20'000, 'A');
const std::string kMessage = R"({"height":1, "data":")" + kData + R"(", "is":[{"a":"}"},[]]})";

std::string object(const std::string& before, const std::string& message,
                   const std::string& behind = "") {
  return "{" + before + R"("msg":)" + message + behind + "}";
}

TEST(LongMessage, the_message_is_found_at_every_position) {
  const std::string topic = R"("op" : "publish", "topic":"/\"x}")";
  for (const std::string& text :
       {object("", kMessage), object(topic + ",", kMessage), object("", kMessage, "," + topic),
        " \n" + object(topic + " ,\t", " " + kMessage, R"( , "id": 7, "list":[1,{"x":[]}])") +
            " "}) {
    const auto found = long_message(text);
    ASSERT_TRUE(found) << text.substr(0, 80);
    EXPECT_EQ(found->text, kMessage);
    EXPECT_TRUE(found->plain);
  }
}

TEST(LongMessage, it_reports_possible_special_numbers_outside_of_strings) {
  const std::string data = R"("NaN":")" + kData + R"(")";
  const auto plain = [&](const std::string& more) {
    const auto found = long_message(object("", "{" + data + more + "}"));
    return found && found->plain;
  };
  EXPECT_TRUE(plain(R"(,"a":"Infinity","b":[1,null])"));
  EXPECT_FALSE(plain(R"(,"a":NaN)"));
  EXPECT_FALSE(plain(R"(,"a":[1,-Infinity],"b":2)"));
}

TEST(LongMessage, doubtful_texts_are_left_to_the_parser) {
  std::string numbers = R"({"ranges":[0)";
  for (int i = 0; i < 10'000; ++i) numbers += ",1.5";
  const std::string whole = object("", kMessage);
  for (const std::string& text :
       {std::string(), std::string(20'000, ' '), object("", R"({"data":"short"})"),
        object("", numbers + "]}"), object("", "\"" + kData + "\""),
        object("", kMessage, R"(,"msg":{})"), object(R"("a\u0062":1,)", kMessage), whole + "x",
        whole.substr(0, whole.size() - 1), object("", R"({"data":")" + kData),
        object("", kMessage, ","), object("", kMessage, " 1"), "[" + whole + "]"}) {
    EXPECT_FALSE(long_message(text)) << text.substr(0, 60) << " … " << text.size();
  }
}

/// Parses with the padding that the parser may read.
ParsedRequest parsed(RequestParser& parser, std::string& text) {
  text.reserve(text.size() + net::kPadding);
  return parser.parse(text);
}

TEST(LongMessage, a_long_message_of_publish_is_read_in_place) {
  RequestParser parser;
  std::string text =
      object(R"("op":"publish","id":"a","topic":"/x",)", kMessage, R"(,"type":"y/Z","latch":true)");
  const ParsedRequest read = parsed(parser, text);
  ASSERT_FALSE(read.error) << read.error->message;
  EXPECT_EQ(read.request.msg, kMessage);
  EXPECT_EQ(read.request.msg.data(), text.data() + text.find(kMessage))
      << "in place, without a copy";
  EXPECT_EQ(read.request.id, "\"a\"");
  EXPECT_EQ(read.request.topic, "/x");
  EXPECT_EQ(read.request.type, "y/Z");
  EXPECT_TRUE(read.request.latch);
}

TEST(LongMessage, error_texts_do_not_depend_on_the_message_length) {
  RequestParser parser;
  for (const std::string& rest :
       {R"("op":"publish","topic":7,)", R"("op":,)", R"("topic":"/x",)"}) {
    std::string with_long = object(rest, kMessage);
    std::string with_short = object(rest, "{}");
    const ParsedRequest a = parsed(parser, with_long);
    const ParsedRequest b = parsed(parser, with_short);
    ASSERT_TRUE(a.error && b.error) << rest;
    EXPECT_EQ(a.error->message, b.error->message);
  }
}

}  // namespace
}  // namespace hyphos::gateway::rosbridge
