#include "base/latched_cache.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hyphos {
namespace {

struct Said {
  std::uint64_t sender = 0;
  std::string text;
};
std::uint64_t sender_of(const Said& said) { return said.sender; }
using Cache = LatchedCache<Said, sender_of, 3>;

std::string texts(const Cache& cache) {
  std::string out;
  for (const Said& said : cache) out += said.text;
  return out;
}

TEST(LatchedCache, it_keeps_the_last_message_of_each_sender) {
  Cache cache;
  EXPECT_TRUE(cache.empty());
  EXPECT_EQ(cache.keep({1, "a"}).text, "");
  EXPECT_EQ(cache.keep({2, "b"}).text, "");
  EXPECT_EQ(cache.keep({2, "c"}).text, "b");
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_EQ(texts(cache), "ac");
}

TEST(LatchedCache, a_new_message_moves_its_sender_to_the_end) {
  Cache cache;
  for (const char* text : {"a", "b", "c"}) (void)cache.keep({std::uint64_t(text[0]), text});
  EXPECT_EQ(cache.keep({'a', "A"}).text, "a");
  EXPECT_EQ(texts(cache), "bcA");
}

TEST(LatchedCache, a_full_cache_drops_the_oldest_message) {
  Cache cache;
  for (const char* text : {"a", "b", "c"}) (void)cache.keep({std::uint64_t(text[0]), text});
  EXPECT_EQ(cache.keep({'d', "d"}).text, "a");
  EXPECT_EQ(texts(cache), "bcd");
  EXPECT_EQ(cache.keep({'a', "a"}).text, "b");  // its sender is new again
}

TEST(LatchedCache, senders_are_forgotten_alone_or_together) {
  Cache cache;
  for (const char* text : {"a", "b", "c"}) (void)cache.keep({std::uint64_t(text[0]), text});
  EXPECT_EQ(cache.forget('b').text, "b");
  EXPECT_EQ(cache.forget('b').text, "");
  const auto gone = cache.forget_if([](const Said& said) { return said.text == "c"; });
  ASSERT_EQ(gone.size(), 1U);
  EXPECT_EQ(gone.front().text, "c");
  EXPECT_EQ(texts(cache), "a");
  EXPECT_EQ(cache.keep({'c', "C"}).text, "");
  EXPECT_EQ(texts(cache), "aC");
}

}  // namespace
}  // namespace hyphos
