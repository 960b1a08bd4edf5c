// ArrivingText decodes a base64 string before all of its text has arrived. For every split into
// pieces, the result or error must equal that of decoding the whole text.

#include "gateway/convert/arriving_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "gateway/convert/json_reader.hpp"
#include "tests/gateway/convert/base64_text.hpp"
#include "tests/gateway/convert/sample.hpp"

namespace hyphos::gateway {
namespace {

constexpr std::size_t kLong = 16;

/// Feeds `text` in pieces of `piece` characters.
std::optional<DecodedText> read_early(std::string_view text, std::size_t piece,
                                      std::vector<std::size_t>* lent = nullptr) {
  ArrivingText arriving(kLong);
  for (std::size_t there = 0; there < text.size();) {
    there = std::min(there + piece, text.size());
    arriving.more(text.substr(0, there), text.size(), [&](std::size_t size) {
      if (lent != nullptr) lent->push_back(size);
      return WritableBuffer::on_heap(size);
    });
  }
  return arriving.take();
}

std::string outcome(std::string_view json, const DecodedText* decoded) {
  static const auto types = sample_types();
  static const Shape& shape = (*types->default_codec("made/All").or_throw()).converter.shape();
  const auto made = read_json(shape, false, json, &WritableBuffer::on_heap, 5, {0, 16}, decoded);
  return made ? "read " + std::string(made->payload.text()) : made.error().to_string();
}

void expect_the_same(std::string_view json, std::size_t piece) {
  const auto decoded = read_early(json, piece);
  if (decoded) {
    EXPECT_EQ(outcome(json, &*decoded), outcome(json, nullptr)) << json;
  }
}

std::string with_bytes(std::string_view text) {
  return R"({"text":"h\"i","bytes":")" + std::string(text) + R"(","fixed":[1,2,3]})";
}

TEST(ArrivingText, every_length_and_every_split_is_decoded) {
  std::mt19937 random(1);  // fixed seed
  for (std::size_t size = 60; size <= 70; ++size) {
    const std::string bytes = random_bytes(random, size);
    const std::string padded = base64_of(bytes);
    for (const std::string& text : {padded, padded.substr(0, padded.find('='))}) {
      const std::string json = with_bytes(text);
      for (std::size_t piece = 1; piece < 40; ++piece) {
        std::vector<std::size_t> lent;
        const auto decoded = read_early(json, piece, &lent);
        ASSERT_TRUE(decoded) << size << " in " << piece;
        EXPECT_EQ(decoded->text.data(), json.data() + json.find(text));
        EXPECT_EQ(decoded->text, text);
        EXPECT_EQ(decoded->bytes.text(), bytes);
        EXPECT_EQ(lent.size(), 1U);
        EXPECT_EQ(outcome(json, &*decoded), outcome(json, nullptr));
      }
    }
  }
}

TEST(ArrivingText, any_character_gives_the_result_of_the_whole_text) {
  const std::string good(70, 'Q');
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (int character = 0; character < 256; ++character) {
      std::string text = good;
      text[at] = static_cast<char>(character);
      expect_the_same(with_bytes(text), 7);
    }
  }
}

TEST(ArrivingText, any_position_gives_the_result_of_the_whole_text) {
  const std::string quoted = '"' + base64_of(std::string(60, '\xfb')) + '"';
  for (const std::string& json : std::vector<std::string>{
           R"({"text":)" + quoted + "}",
           R"({"texts":["a",)" + quoted + "]}",
           R"({"bytes":)" + quoted + R"(,"bytes":)" + quoted + "}",
           R"({"real":)" + quoted + "}",
           "{" + quoted + ":1}",
           R"({"bytes":)" + quoted,
           R"({"bytes":)" + quoted + "}}",
           R"({"bytes":\)" + quoted + "}",
           R"({"bytes":)" + quoted + R"(,"wide":99999999999999999999})",
           R"( {"bytes":)" + quoted + "}",
           "\xef\xbb\xbf{\"bytes\":" + quoted + "}",
       }) {
    for (const std::size_t piece : {1U, 5U, 17U, 33U}) expect_the_same(json, piece);
  }
}

TEST(ArrivingText, it_gives_up_where_it_would_not_help) {
  const std::string image = base64_of(std::string(60, '\xfb'));
  EXPECT_TRUE(read_early(with_bytes(image), 8));
  EXPECT_FALSE(read_early(with_bytes(image), 500)) << "the text arrived in one piece";
  EXPECT_FALSE(read_early('"' + image + '"', 8)) << "not an object";
  EXPECT_FALSE(read_early("\xa1" + with_bytes(image), 8)) << "CBOR";
  EXPECT_FALSE(read_early(with_bytes("The quick brown fox " + image), 8)) << "prose";
  EXPECT_FALSE(read_early(R"({"bytes":")" + image, 8)) << "the string does not end";
  EXPECT_FALSE(read_early(with_bytes(image + "\",\"b\":\"" + image + image + image), 8))
      << "too much memory for a short string";
  std::string many = "{";
  for (std::size_t i = 0; i < ArrivingText::kMostStrings; ++i) many += R"("a":1,)";
  EXPECT_FALSE(read_early(many + R"("bytes":")" + image + "\"}", 8)) << "many strings";
  ArrivingText arriving(kLong);
  const std::string json = with_bytes(image);
  for (std::size_t there = 0; there <= json.size(); there += 8) {
    arriving.more(std::string_view(json).substr(0, there), json.size(),
                  [](std::size_t) { return WritableBuffer(); });
  }
  EXPECT_FALSE(arriving.take()) << "no memory";
}

TEST(ArrivingText, it_can_be_used_for_one_text_after_another) {
  ArrivingText arriving(kLong);
  const std::string cut = R"({"bytes":")" + base64_of(std::string(60, 'a'));
  const std::string json = with_bytes(base64_of(std::string(60, 'b')));
  for (int i = 0; i < 3; ++i) {
    arriving.more(cut, 2 * cut.size(), &WritableBuffer::on_heap);
    EXPECT_FALSE(arriving.take());
    for (std::size_t there = 0; there <= json.size(); ++there) {
      arriving.more(std::string_view(json).substr(0, there), json.size(), &WritableBuffer::on_heap);
    }
    const auto decoded = arriving.take();
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->bytes.text(), std::string(60, 'b'));
  }
}

}  // namespace
}  // namespace hyphos::gateway
