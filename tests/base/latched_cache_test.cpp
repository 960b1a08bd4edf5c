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

template <typename Messages>
std::string texts_of(const Messages& messages) {
  std::string out;
  for (const Said& said : messages) out += said.text;
  return out;
}
std::string texts(const Cache& cache) { return texts_of(cache); }

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
  EXPECT_EQ(texts_of(cache.forget('b')), "b");
  EXPECT_EQ(texts_of(cache.forget('b')), "");
  const auto gone = cache.forget_if([](const Said& said) { return said.text == "c"; });
  ASSERT_EQ(gone.size(), 1U);
  EXPECT_EQ(gone.front().text, "c");
  EXPECT_EQ(texts(cache), "a");
  EXPECT_EQ(cache.keep({'c', "C"}).text, "");
  EXPECT_EQ(texts(cache), "aC");
}

using Deep = LatchedCache<Said, sender_of, 6>;

TEST(LatchedCache, with_a_depth_it_keeps_the_last_messages_of_each_sender) {
  Deep cache;
  for (std::uint64_t i = 1; i <= 3; ++i) {
    EXPECT_EQ(cache.keep({1, std::string(1, char('a' + i))}, i, 2).text, i == 3 ? "b" : "");
    EXPECT_EQ(cache.keep({2, std::string(1, char('A' + i))}, i, 2).text, i == 3 ? "B" : "");
  }
  EXPECT_EQ(texts_of(cache), "cCdD");
  EXPECT_EQ(texts_of(cache.forget(1)), "cd");
  EXPECT_EQ(texts_of(cache), "CD");
}

TEST(LatchedCache, a_repeated_message_is_kept_once_and_a_late_one_in_order) {
  Deep cache;
  (void)cache.keep({1, "a"}, 1, 3);
  (void)cache.keep({1, "c"}, 3, 3);
  (void)cache.keep({1, "b"}, 2, 3);
  EXPECT_EQ(texts_of(cache), "abc");
  EXPECT_EQ(cache.keep({1, "again"}, 2, 3).text, "again");
  EXPECT_EQ(cache.keep({1, "old"}, 0, 3).text, "old");
  EXPECT_EQ(texts_of(cache), "abc");
  EXPECT_EQ(cache.keep({1, "d"}, 4, 3).text, "a");
  EXPECT_EQ(texts_of(cache), "bcd");
}

TEST(LatchedCache, many_senders_with_a_depth_stay_below_the_limit) {
  Deep cache;
  for (std::uint64_t sender = 1; sender <= 40; ++sender) {
    for (std::uint64_t i = 1; i <= 3; ++i) {
      (void)cache.keep({sender, std::to_string(sender)}, i, 3);
      EXPECT_LE(cache.size(), 6U);
    }
  }
  EXPECT_EQ(texts_of(cache), "393939404040");
  EXPECT_EQ(cache.forget_if([](const Said& said) { return said.sender == 39; }).size(), 3U);
  EXPECT_EQ(texts_of(cache), "404040");
}

}  // namespace
}  // namespace hyphos
