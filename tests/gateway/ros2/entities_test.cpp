#include "gateway/ros2/entities.hpp"

#include <gtest/gtest.h>

#include <string>

namespace hyphos::gateway::ros2 {
namespace {

Gid gid(std::uint8_t last) {
  Gid made{1, 15};
  made.back() = last;
  return made;
}

ParticipantEntities sample() {
  return {gid(0xc1), {{"/", "hyphos", {gid(4)}, {gid(3), gid(5)}}, {"/arm", "driver", {}, {}}}};
}

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    text += "0123456789abcdef"[std::to_integer<int>(byte) >> 4];
    text += "0123456789abcdef"[std::to_integer<int>(byte) & 15];
  }
  return text;
}

TEST(Ros2Entities, the_bytes_are_those_of_ros_2) {
  const ParticipantEntities one{gid(0xc1), {{"/", "hyphos", {gid(4)}, {}}}};
  EXPECT_EQ(hex(write_entities(one, GidSize::iron)),
            "00010000"
            "010f00000000000000000000000000c1"
            "01000000"
            "02000000"
            "2f00"
            "0000"
            "07000000"
            "6879"
            "70686f7300"
            "00"
            "01000000"
            "010f0000000000000000000000000004"
            "00000000");
}

TEST(Ros2Entities, both_gid_sizes_are_read_back) {
  for (const GidSize size : {GidSize::iron, GidSize::humble}) {
    const auto bytes = write_entities(sample(), size);
    for (const GidSize likely : {GidSize::iron, GidSize::humble}) {
      const auto read = read_entities(bytes, likely);
      ASSERT_TRUE(read);
      EXPECT_EQ(read->gid, gid(0xc1));
      ASSERT_EQ(read->nodes.size(), 2U);
      EXPECT_EQ(read->nodes[0].name, "hyphos");
      EXPECT_EQ(read->nodes[0].writers, (std::vector<Gid>{gid(3), gid(5)}));
      EXPECT_EQ(read->nodes[1].name_space, "/arm");
    }
  }
}

TEST(Ros2Entities, a_truncated_message_is_refused) {
  const auto bytes = write_entities(sample(), GidSize::iron);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(read_entities(std::span(bytes).first(size), GidSize::iron)) << size;
  }
}

TEST(Ros2Entities, an_impossible_count_is_refused) {
  auto bytes = write_entities({gid(1), {}}, GidSize::iron);
  for (std::size_t i = 1; i <= 4; ++i) bytes[bytes.size() - i] = std::byte{0xff};
  EXPECT_FALSE(read_entities(bytes, GidSize::iron));
}

}  // namespace
}  // namespace hyphos::gateway::ros2
