#include "gateway/ros1/rosout.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace hyphos::gateway::ros1 {
namespace {

std::string number(std::uint32_t value) {
  std::string bytes(4, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}
std::string text(const std::string& value) {
  return number(static_cast<std::uint32_t>(value.size())) + value;
}
std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

const std::string kStamp = number(12) + number(5);
const std::string kRest =
    text("/arm") + text("too hot") + text("arm.cpp") + text("spin") + number(17);

std::string in_ros1(char level, const std::string& topics = number(0)) {
  return number(99) + kStamp + text("base") + level + kRest + topics;
}

TEST(Rosout, a_line_of_ros_1_keeps_everything_but_its_frame_and_topics) {
  const auto line = line_of_ros1(bytes(in_ros1(8, number(1) + text("/scan"))));
  ASSERT_TRUE(line);
  EXPECT_EQ(line->text(), kStamp + char(40) + kRest);
}

TEST(Rosout, a_line_for_ros_1_has_no_frame_and_no_topics) {
  const auto line = line_to_ros1(bytes(kStamp + char(30) + kRest));
  ASSERT_TRUE(line);
  EXPECT_EQ(line->text(), number(0) + kStamp + text("") + char(4) + kRest + number(0));
}

TEST(Rosout, every_level_has_a_counterpart) {
  const std::string ros = {1, 2, 4, 8, 16};
  for (std::size_t i = 0; i < ros.size(); ++i) {
    const auto line = line_of_ros1(bytes(in_ros1(ros[i])));
    ASSERT_TRUE(line);
    EXPECT_EQ(line->text()[8], static_cast<char>(10 * (i + 1)));
    const auto back = line_to_ros1(line->bytes());
    ASSERT_TRUE(back);
    EXPECT_EQ(back->text()[16], ros[i]);
  }
  EXPECT_EQ(line_of_ros1(bytes(in_ros1(3)))->text()[8], 0) << "no level of ROS";
  EXPECT_EQ(line_to_ros1(bytes(kStamp + char(0) + kRest))->text()[16], 1);
  EXPECT_EQ(line_to_ros1(bytes(kStamp + char(35) + kRest))->text()[16], 4);
  EXPECT_EQ(line_to_ros1(bytes(kStamp + '\xff' + kRest))->text()[16], 16);
}

TEST(Rosout, an_incomplete_line_is_corrupt) {
  const std::string whole = in_ros1(8);
  // The topics at the end are not read.
  for (std::size_t size = 0; size + 4 < whole.size(); ++size) {
    EXPECT_FALSE(line_of_ros1(bytes(whole.substr(0, size)))) << size;
  }
  const std::string line = kStamp + char(30) + kRest;
  for (std::size_t size = 0; size < line.size(); ++size) {
    EXPECT_FALSE(line_to_ros1(bytes(line.substr(0, size)))) << size;
  }
  EXPECT_FALSE(line_to_ros1(bytes(line + "x")));
  const std::string huge = number(0) + kStamp + number(0xffffffff) + char(8) + kRest;
  EXPECT_FALSE(line_of_ros1(bytes(huge)));
}

}  // namespace
}  // namespace hyphos::gateway::ros1
