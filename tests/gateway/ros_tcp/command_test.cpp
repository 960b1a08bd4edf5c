#include "gateway/ros_tcp/command.hpp"

#include <gtest/gtest.h>

#include <string>

namespace hyphos::gateway::ros_tcp {
namespace {

Command read(std::string_view name, std::string_view json) {
  return parse_command(name, json).or_throw();
}

TEST(Command, commands_of_the_connector_are_read) {
  const Command publish = read(
      "__publish",
      R"({"topic":"/camera","message_name":"sensor_msgs/Image","queue_size":10,"latch":true})");
  EXPECT_EQ(publish.kind, Kind::publish);
  EXPECT_EQ(publish.topic, "/camera");
  EXPECT_EQ(publish.type, "sensor_msgs/Image");
  EXPECT_TRUE(publish.latch);
  EXPECT_EQ(publish.queue_size, 10U);

  const Command subscribe =
      read("__subscribe", R"({"topic":"pos","message_name":"geometry_msgs/Pose"})");
  EXPECT_EQ(subscribe.kind, Kind::subscribe);
  EXPECT_EQ(subscribe.topic, "pos");
  EXPECT_FALSE(subscribe.latch);

  EXPECT_EQ(read("__request", R"({"srv_id":101})").id, 101);
  EXPECT_EQ(read("__response", R"({"srv_id":1001})").kind, Kind::response);
  EXPECT_EQ(read("__topic_list", "{}").kind, Kind::topic_list);
  EXPECT_EQ(read("__topic_list", "").kind, Kind::topic_list);
  EXPECT_EQ(read("__remove_unity_service", R"({"topic":"s"})").kind, Kind::remove_unity_service);
}

TEST(Command, unknown_keys_are_ignored) {
  const Command command =
      read("__subscribe", R"({"qos":{"depth":[1,2]},"topic":"a","message_name":"b/C","x":1})");
  EXPECT_EQ(command.topic, "a");
  EXPECT_EQ(command.type, "b/C");
}

TEST(Command, nul_bytes_after_the_object_are_ignored) {
  using namespace std::string_literals;
  for (const std::string& end : {""s, "\0"s, "\0\0"s}) {
    const Command publish =
        read("__publish", R"({"topic":"/s","message_name":"std_msgs/String"})" + end);
    EXPECT_EQ(publish.topic, "/s");
    EXPECT_EQ(read("__request", R"({"srv_id":101})" + end).id, 101);
    EXPECT_EQ(read("__topic_list", "{}" + end).kind, Kind::topic_list);
  }
  EXPECT_EQ(read("__topic_list", "\0"s).kind, Kind::topic_list);
  EXPECT_FALSE(parse_command("__request", "{\"srv_id\":\0 101}"s))
      << "a NUL inside is not valid JSON";
}

TEST(Command, a_queue_size_is_clamped) {
  const auto size = [](const std::string& value) {
    return read("__publish", R"({"topic":"a","message_name":"b/C","queue_size":)" + value + "}")
        .queue_size;
  };
  EXPECT_EQ(size("-1"), 0U);
  EXPECT_EQ(size("1"), 1U);
  EXPECT_EQ(size("2147483647"), 10'000U);
  EXPECT_EQ(size("null"), 0U);
  EXPECT_EQ(read("__publish", R"({"topic":"a","message_name":"b/C"})").queue_size, 0U);
}

TEST(Command, errors_describe_the_fault) {
  const auto wrong = [](std::string_view name, std::string_view json) {
    const auto command = parse_command(name, json);
    EXPECT_FALSE(command) << json;
    return command ? std::string() : command.error().message;
  };
  EXPECT_EQ(wrong("__dance", "{}"), "unknown command '__dance'");
  EXPECT_EQ(wrong("__publish", R"({"message_name":"b/C"})"), "__publish needs 'topic', a name");
  EXPECT_EQ(wrong("__publish", R"({"topic":5,"message_name":"b/C"})"),
            "__publish needs 'topic', a name");
  EXPECT_EQ(wrong("__subscribe", R"({"topic":"a"})"),
            "__subscribe needs 'message_name', such as 'std_msgs/String'");
  EXPECT_EQ(wrong("__request", R"({"srv_id":"1"})"), "__request needs 'srv_id', a number");
  EXPECT_NE(wrong("__subscribe", "{").find("not followed by a JSON object"), std::string::npos);
  EXPECT_NE(wrong("__subscribe", "[]").find("not followed by a JSON object"), std::string::npos);
  EXPECT_NE(wrong("__subscribe", "\xff\xfe").find("not followed by a JSON object"),
            std::string::npos);
  EXPECT_NE(wrong("__subscribe", std::string(kMostCommand + 1, ' ')).find("bytes"),
            std::string::npos);
  EXPECT_NE(wrong("__subscribe", std::string(50'000, '[')).find("not followed by a JSON object"),
            std::string::npos);
}

TEST(Command, the_greeting_has_the_format_of_the_connector) {
  EXPECT_EQ(handshake(false), R"({"version":"v0.7.0","metadata":"{\"protocol\":\"ROS1\"}"})");
  EXPECT_EQ(handshake(true), R"({"version":"v0.7.0","metadata":"{\"protocol\":\"ROS2\"}"})");
}

TEST(Command, a_ping_returns_its_time_unchanged) {
  for (const char* time : {"1.5", R"("12:30 \"noon\"")", R"({"sec":1,"nanosec":2})"}) {
    const auto ping = read("__ping", std::string(R"({"request_time":)") + time + "}");
    EXPECT_EQ(ping_response(ping.request_time), std::string(R"({"request_time":)") + time + "}");
  }
  EXPECT_EQ(ping_response(read("__ping", "{}").request_time), "{}");
}

TEST(Command, topics_and_types_are_two_lists) {
  EXPECT_EQ(topic_list({}), R"({"topics":[],"types":[]})");
  EXPECT_EQ(
      topic_list({{.topic = "/a", .type = "std_msgs/String", .publishers = {}, .subscribers = {}},
                  {.topic = "/b", .type = "x/Y", .publishers = {}, .subscribers = {}}}),
      R"({"topics":["/a","/b"],"types":["std_msgs/String","x/Y"]})");
}

TEST(Command, arbitrary_bytes_become_a_json_string) {
  EXPECT_EQ(json_string("a\"b\\c\n\x01"), R"("a\"b\\c\u000a\u0001")");
  EXPECT_EQ(json_string("é 漢 🤖"), "\"é 漢 🤖\"");
  EXPECT_EQ(json_string("\xff"
                        "a\xc3"
                        "b\xed\xa0\x80"
                        "c\xe6\xbc"),
            R"("?a?b???c??")");
}

}  // namespace
}  // namespace hyphos::gateway::ros_tcp
