#include "gateway/ros_tcp/frame.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace hyphos::gateway::ros_tcp {
namespace {

using namespace std::string_view_literals;

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// The exact bytes of ROS-TCP-Connector for std_msgs/String "hi" on topic "chat".
constexpr auto kChat = "\x04\0\0\0chat\x06\0\0\0\x02\0\0\0hi"sv;

TEST(Frame, a_frame_is_split_into_name_and_payload) {
  const Frame frame = parse_frame(bytes(kChat));
  EXPECT_EQ(frame.name, "chat");
  EXPECT_EQ(frame.payload.size(), 6U);
  EXPECT_EQ(std::to_integer<int>(frame.payload[4]), 'h');
}

TEST(Frame, frames_are_written_in_the_format_that_is_read) {
  EXPECT_EQ(whole_frame("chat", "\x02\0\0\0hi"sv).text(), kChat);
  EXPECT_EQ(frame_head("chat", 6).text(), kChat.substr(0, 12));
  EXPECT_EQ(frame_and_head("__response", R"({"srv_id":7})", "chat", 6).text(),
            "\x0a\0\0\0__response\x0c\0\0\0{\"srv_id\":7}\x04\0\0\0chat\x06\0\0\0"sv);
}

TEST(Frame, a_frame_is_measured_from_the_fewest_possible_bytes) {
  for (std::size_t there = 1; there < 12; ++there) {
    const auto measured = measure_frame(bytes(kChat.substr(0, there)), 100).or_throw();
    EXPECT_FALSE(measured.whole);
    EXPECT_EQ(measured.size, there < 4 ? 4U : 12U);
  }
  for (std::size_t there = 12; there <= kChat.size(); ++there) {
    const auto measured = measure_frame(bytes(kChat.substr(0, there)), 100).or_throw();
    EXPECT_TRUE(measured.whole);
    EXPECT_EQ(measured.size, kChat.size());
  }
}

TEST(Frame, a_sign_of_life_is_a_frame_without_name_and_payload) {
  constexpr auto kAlive = "\0\0\0\0\0\0\0\0"sv;
  EXPECT_EQ(measure_frame(bytes(kAlive), 100).or_throw().size, 8U);
  EXPECT_TRUE(parse_frame(bytes(kAlive)).name.empty());
}

TEST(Frame, trailing_nul_bytes_do_not_belong_to_a_name) {
  EXPECT_EQ(parse_frame(bytes("\x06\0\0\0chat\0\0\0\0\0\0"sv)).name, "chat");
  EXPECT_EQ(parse_frame(bytes("\x02\0\0\0\0\0\0\0\0\0"sv)).name, "");
}

TEST(Frame, a_length_above_its_limit_is_refused) {
  EXPECT_TRUE(measure_frame(bytes("\0\x10\0\0"sv), 100));
  const auto name = measure_frame(bytes("\x01\x10\0\0"sv), 100);
  ASSERT_FALSE(name);
  EXPECT_EQ(name.error().code, Code::corrupt);
  EXPECT_FALSE(measure_frame(bytes("\xf0\xff\xff\xff"sv), 100));

  EXPECT_TRUE(measure_frame(bytes("\x01\0\0\0a\x64\0\0\0"sv), 100));
  const auto payload = measure_frame(bytes("\x01\0\0\0a\x65\0\0\0"sv), 100);
  ASSERT_FALSE(payload);
  EXPECT_EQ(payload.error().code, Code::overloaded);
  EXPECT_EQ(payload.error().where, "a");
}

}  // namespace
}  // namespace hyphos::gateway::ros_tcp
