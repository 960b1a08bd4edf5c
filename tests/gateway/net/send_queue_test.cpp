#include "gateway/net/send_queue.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace hyphos::gateway::net {
namespace {

Message message(std::string_view text) { return Message(Buffer::copy_of(text)); }

std::string text(const Message& message) {
  std::string all;
  for (const Buffer& part : message.parts()) all += part.text();
  return all;
}

std::string drain(SendQueue& queue) {
  std::string all;
  while (!queue.empty()) all += text(queue.pop()) + " ";
  return all;
}

TEST(SendQueue, a_message_has_the_bytes_of_all_its_parts) {
  const Message two(Buffer::copy_of("head"), Buffer::copy_of("body"));
  EXPECT_EQ(two.size(), 8U);
  EXPECT_EQ(text(two), "headbody");
}

TEST(SendQueue, messages_of_one_key_keep_their_order) {
  SendQueue queue({.depth = 10, .bytes = 1000});
  std::vector<Message> dropped;
  for (const char* each : {"a", "b", "c"}) EXPECT_TRUE(queue.push(1, message(each), dropped));
  EXPECT_EQ(drain(queue), "a b c ");
  EXPECT_TRUE(dropped.empty());
}

TEST(SendQueue, keys_take_turns) {
  SendQueue queue({.depth = 10, .bytes = 1000});
  std::vector<Message> dropped;
  for (const char* each : {"a1", "a2", "a3"}) queue.push(1, message(each), dropped);
  queue.push(2, message("b1"), dropped);
  queue.push(3, message("c1"), dropped);
  queue.push(2, message("b2"), dropped);
  EXPECT_EQ(drain(queue), "a1 b1 c1 a2 b2 a3 ");
}

TEST(SendQueue, a_key_beyond_its_depth_loses_its_oldest_message) {
  SendQueue queue({.depth = 2, .bytes = 1000});
  std::vector<Message> dropped;
  for (const char* each : {"a1", "a2", "a3", "a4"}) queue.push(1, message(each), dropped);
  queue.push(2, message("b1"), dropped);
  ASSERT_EQ(dropped.size(), 2U);
  EXPECT_EQ(text(dropped[0]), "a1");
  EXPECT_EQ(text(dropped[1]), "a2");
  EXPECT_EQ(drain(queue), "a3 b1 a4 ");
}

TEST(SendQueue, beyond_the_byte_limit_the_largest_key_loses) {
  SendQueue queue({.depth = 10, .bytes = 10});
  std::vector<Message> dropped;
  queue.push(1, message("aaaa"), dropped);
  queue.push(1, message("AAAA"), dropped);
  queue.push(2, message("b"), dropped);
  EXPECT_TRUE(queue.push(2, message("cc"), dropped));
  ASSERT_EQ(dropped.size(), 1U);
  EXPECT_EQ(text(dropped[0]), "aaaa");
  EXPECT_EQ(queue.bytes(), 7U);
  EXPECT_EQ(drain(queue), "AAAA b cc ");
  EXPECT_EQ(queue.bytes(), 0U);
}

TEST(SendQueue, a_message_above_the_byte_limit_drops_no_other) {
  SendQueue queue({.depth = 10, .bytes = 4});
  std::vector<Message> dropped;
  queue.push(1, message("a"), dropped);
  EXPECT_FALSE(queue.push(2, message("bbbbb"), dropped));
  ASSERT_EQ(dropped.size(), 1U);
  EXPECT_EQ(text(dropped[0]), "bbbbb");
  EXPECT_EQ(drain(queue), "a ");
}

TEST(SendQueue, control_messages_go_first_and_are_never_dropped) {
  SendQueue queue({.depth = 1, .bytes = 6});
  std::vector<Message> dropped;
  queue.push(1, message("aaa"), dropped);
  EXPECT_TRUE(queue.push(kControl, message("11"), dropped));
  EXPECT_TRUE(queue.push(kControl, message("22"), dropped));
  ASSERT_EQ(dropped.size(), 1U);  // The other message was dropped to make room.
  EXPECT_EQ(text(dropped[0]), "aaa");
  EXPECT_FALSE(queue.push(kControl, message("333"), dropped));
  EXPECT_EQ(drain(queue), "11 22 ");
}

}  // namespace
}  // namespace hyphos::gateway::net
