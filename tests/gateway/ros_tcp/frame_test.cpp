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

// Byte for byte what ROS-TCP-Connector sends for std_msgs/String "hi" on topic "chat".
constexpr auto kChat = "\x04\0\0\0chat\x06\0\0\0\x02\0\0\0hi"sv;

TEST(Frame, test_a_frame_is_split_into_name_and_payload) {
  const Frame frame = parse_frame(bytes(kChat));
  EXPECT_EQ(frame.name, "chat");
  EXPECT_EQ(frame.payload.size(), 6U);
  EXPECT_EQ(std::to_integer<int>(frame.payload[4]), 'h');
}

TEST(Frame, test_a_frame_is_written_as_it_is_read) {
  EXPECT_EQ(whole_frame("chat", "\x02\0\0\0hi"sv).text(), kChat);
  EXPECT_EQ(frame_head("chat", 6).text(), kChat.substr(0, 12));
  EXPECT_EQ(frame_and_head("__response", R"({"srv_id":7})", "chat", 6).text(),
            "\x0a\0\0\0__response\x0c\0\0\0{\"srv_id\":7}\x04\0\0\0chat\x06\0\0\0"sv);
}

TEST(Frame, test_a_frame_is_measured_from_as_few_bytes_as_tell) {
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

TEST(Frame, test_a_sign_of_life_is_a_frame_without_name_and_payload) {
  constexpr auto kAlive = "\0\0\0\0\0\0\0\0"sv;
  EXPECT_EQ(measure_frame(bytes(kAlive), 100).or_throw().size, 8U);
  EXPECT_TRUE(parse_frame(bytes(kAlive)).name.empty());
}

TEST(Frame, test_nuls_at_the_end_of_a_name_do_not_belong_to_it) {
  EXPECT_EQ(parse_frame(bytes("\x06\0\0\0chat\0\0\0\0\0\0"sv)).name, "chat");
  EXPECT_EQ(parse_frame(bytes("\x02\0\0\0\0\0\0\0\0\0"sv)).name, "");
}

TEST(Frame, test_a_name_or_payload_beyond_its_bound_is_refused_from_its_length_alone) {
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
