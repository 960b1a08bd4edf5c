// Long texts use wide instructions if the processor has them. Their remainders and short texts use
// tables. These tests check every size against a bitwise implementation of RFC 4648.

#include "gateway/convert/base64.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/gateway/convert/base64_text.hpp"

namespace hyphos::gateway {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string by_definition(const std::vector<std::byte>& bytes) {
  return base64_of({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::vector<std::byte> some_bytes(std::mt19937& random, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

TEST(Base64, text_written_in_pieces_is_read_back) {
  std::mt19937 random(1);  // fixed seed
  for (std::size_t size = 0; size < 300; ++size) {
    const std::vector<std::byte> bytes = some_bytes(random, size);
    std::string text = "before";
    Base64Writer writer(text);
    for (std::size_t at = 0; at < size;) {
      const std::size_t piece = std::min<std::size_t>(random() % 99, size - at);
      writer.write(std::span(bytes).subspan(at, piece));
      at += piece;
    }
    writer.end();
    ASSERT_EQ(text, "before" + by_definition(bytes));
    text.erase(0, 6);
    ASSERT_EQ(base64_size(text), size);
    std::vector<std::byte> back(size + 1, std::byte{0xa5});
    ASSERT_TRUE(decode_base64(text, back.data()));
    EXPECT_EQ(back.back(), std::byte{0xa5}) << "a write beyond the end";
    back.pop_back();
    EXPECT_EQ(back, bytes);
  }
}

TEST(Base64, texts_that_are_not_base64_are_refused) {
  std::byte out[8];
  EXPECT_FALSE(decode_base64("ab c", out));
  EXPECT_FALSE(decode_base64("abcde", out));
  EXPECT_TRUE(decode_base64("YWI", out));  // Padding is optional.
}

TEST(Base64, every_other_character_is_refused_at_every_position) {
  const std::string good(70, 'Q');
  std::vector<std::byte> out(base64_size(good));
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (int character = 0; character < 256; ++character) {
      std::string text = good;
      text[at] = static_cast<char>(character);
      if (text[at] == '=' && text.find_first_not_of('=', at) == std::string::npos) continue;
      ASSERT_EQ(decode_base64(text, out.data()), kAlphabet.find(text[at]) != std::string_view::npos)
          << character << " at " << at;
    }
  }
}

TEST(Base64, wrong_characters_are_refused_at_every_length) {
  std::mt19937 random(2);  // fixed seed
  std::vector<std::byte> out(200);
  for (std::size_t size = 1; size <= 200; ++size) {
    std::string good(size, 'A');
    for (char& letter : good) letter = kAlphabet[random() % kAlphabet.size()];
    ASSERT_EQ(decode_base64(good, out.data()), size % 4 != 1) << size;
    for (std::size_t at = 0; at < size; ++at) {
      for (const char bad :
           {'\\', '"', '\n', ' ', '-', '.', '@', '[', '`', '{', '\0', '\x80', '\xff'}) {
        std::string text = good;
        text[at] = bad;
        ASSERT_FALSE(decode_base64(text, out.data())) << static_cast<int>(bad) << " at " << at;
      }
    }
  }
}

}  // namespace
}  // namespace hyphos::gateway
