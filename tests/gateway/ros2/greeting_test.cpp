#include "gateway/ros2/greeting.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hyphos::gateway::ros2 {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes joined(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

const Bytes kHeader{'R', 'T', 'P', 'S', 2, 3, 1, 15, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
/// INFO_TS and an INFO_DST, as Fast DDS sends them before a sample.
const Bytes kTime{0x09, 1, 8, 0, 1, 1, 1, 1, 2, 2, 2, 2};
const Bytes kDestination{0x0e, 1, 12, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
const Bytes kIds{0, 0, 16, 0, 0, 0, 0, 0, 0xa, 0xb, 0xc, 3};  // flags, offset, reader, writer

TEST(Ros2Greeting, it_announces_the_samples_before_this_one) {
  const Bytes datagram = joined({kHeader,
                                 kTime,
                                 kDestination,
                                 {0x16, 1, 40, 0},
                                 kIds,
                                 {0, 0, 0, 0, 7, 0, 0, 0},
                                 {1, 0, 0, 0},
                                 Bytes(16)});
  const auto greeting = greeting_before(datagram);
  ASSERT_TRUE(greeting);
  const Bytes expected = joined({kHeader,
                                 {0x07, 3, 28, 0},
                                 {0, 0, 0, 0, 0xa, 0xb, 0xc, 3},
                                 {0, 0, 0, 0, 1, 0, 0, 0},
                                 {0, 0, 0, 0, 6, 0, 0, 0},
                                 {0, 0, 0, 0}});
  EXPECT_EQ(Bytes(greeting->begin(), greeting->end()), expected);
}

TEST(Ros2Greeting, the_byte_order_is_that_of_the_sample) {
  const Bytes datagram =
      joined({kHeader, {0x15, 0, 0, 40}, kIds, {0, 0, 0, 2, 0, 0, 0, 0}, {9, 9, 9, 9}, Bytes(16)});
  const auto greeting = greeting_before(datagram);
  ASSERT_TRUE(greeting);
  const Bytes expected = joined({kHeader,
                                 {0x07, 2, 0, 28},
                                 {0, 0, 0, 0, 0xa, 0xb, 0xc, 3},
                                 {0, 0, 0, 0, 0, 0, 0, 1},
                                 {0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff},
                                 {0, 0, 0, 0}});
  EXPECT_EQ(Bytes(greeting->begin(), greeting->end()), expected);
}

TEST(Ros2Greeting, other_datagrams_have_none) {
  EXPECT_FALSE(greeting_before({}));
  EXPECT_FALSE(greeting_before(kHeader));
  EXPECT_FALSE(greeting_before(joined({kHeader, kTime, kDestination})));
  EXPECT_FALSE(greeting_before(joined({kHeader, {0x07, 1, 28, 0}, Bytes(28)})));
  const Bytes second_part =
      joined({kHeader, {0x16, 1, 40, 0}, kIds, {0, 0, 0, 0, 7, 0, 0, 0}, {2, 0, 0, 0}, Bytes(16)});
  EXPECT_FALSE(greeting_before(second_part));
  for (std::size_t size = 0; size < second_part.size(); ++size) {
    EXPECT_FALSE(greeting_before(std::span(second_part).first(size))) << size;
  }
}

}  // namespace
}  // namespace hyphos::gateway::ros2
