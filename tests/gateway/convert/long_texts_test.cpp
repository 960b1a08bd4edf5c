// LongTexts reads long JSON strings without the parser. For any content and context, the result or
// error must equal that of the parser alone.

#include "gateway/convert/long_texts.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "gateway/convert/json_reader.hpp"
#include "tests/gateway/convert/base64_text.hpp"
#include "tests/gateway/convert/sample.hpp"

namespace hyphos::gateway {
namespace {

constexpr LongTexts::Bounds kNone{SIZE_MAX, 16};
constexpr LongTexts::Bounds kAll{0, 16};
/// The outcome of reading made/All: all its bytes in protobuf, or the error.
std::string outcome(std::string_view json, const LongTexts::Bounds& bounds) {
  static const auto types = sample_types();
  static const Shape& shape = (*types->default_codec("made/All").or_throw()).converter.shape();
  const auto made = read_json(shape, false, json, &WritableBuffer::on_heap, 5, bounds);
  return made ? "read " + std::string(made->payload.text()) : made.error().to_string();
}

std::string with_bytes(std::string_view text) {
  return R"({"text":"hi","bytes":")" + std::string(text) + R"(","fixed":[1,2,3]})";
}

TEST(LongTexts, a_string_ends_at_the_first_unescaped_quote) {
  EXPECT_EQ(end_of_string(R"("ab" )", 0), 4);
  EXPECT_EQ(end_of_string(R"( "a\"b", "c")", 1), 7);
  EXPECT_EQ(end_of_string(R"("\\\\" ")", 0), 6);
  EXPECT_EQ(end_of_string(R"("\\\"" ")", 0), 6);
  EXPECT_EQ(end_of_string(R"("a\")", 0), 4);
  EXPECT_EQ(end_of_string(R"(")", 0), 1);
}

TEST(LongTexts, each_long_string_is_replaced_by_a_placeholder) {
  const std::string first(16, 'A');
  const std::string second(99, 'B');
  const std::string json = R"({"x":")" + first + R"(", "y\"" : [")" + second + R"("],"z":"short"})";
  const auto apart = LongTexts::taken_out(json, kAll);
  ASSERT_TRUE(apart);
  const std::string one = "0" + std::string(15, '.');
  const std::string two = "1" + std::string(15, '.');
  EXPECT_EQ(apart->json(), R"({"x":")" + one + R"(", "y\"" : [")" + two + R"("],"z":"short"})");
  EXPECT_TRUE(apart->has(one));
  EXPECT_FALSE(apart->has("short"));
  EXPECT_EQ(apart->of(one), first);
  EXPECT_EQ(apart->of(two), second);
  EXPECT_EQ(apart->of("2" + std::string(15, '.')), "");
  EXPECT_FALSE(apart->all_read());
}

TEST(LongTexts, strings_stay_where_removal_does_not_pay) {
  const std::string image(5000, 'A');
  const LongTexts::Bounds usual;
  EXPECT_FALSE(LongTexts::taken_out(with_bytes(image), usual)) << "a short text";
  EXPECT_TRUE(LongTexts::taken_out(with_bytes(image + image + image + image), usual));
  const std::string prose(5000, ' ');
  EXPECT_FALSE(
      LongTexts::taken_out(with_bytes(image + image + image + image) + with_bytes(prose), usual))
      << "a string that is not base64";
  std::string many = "[";
  for (int i = 0; i < 5000; ++i) many += R"("a",)";
  EXPECT_FALSE(LongTexts::taken_out(many + with_bytes(image), usual)) << "many strings";
  EXPECT_FALSE(LongTexts::taken_out(R"({"a":")" + image, kAll)) << "a string without an end";
}

TEST(LongTexts, strings_of_every_length_are_read) {
  std::mt19937 random(1);  // fixed seed
  for (std::size_t size = 0; size <= 200; ++size) {
    const std::string bytes = random_bytes(random, size);
    std::string text = base64_of(bytes);
    const std::string outcome_of_all = outcome(with_bytes(text), kAll);
    EXPECT_EQ(outcome_of_all, outcome(with_bytes(text), kNone));
    EXPECT_EQ(outcome_of_all.substr(0, 5), "read ") << size;
    EXPECT_NE(outcome_of_all.find(bytes), std::string::npos) << size;
    while (!text.empty() && text.back() == '=') text.pop_back();
    EXPECT_EQ(outcome(with_bytes(text), kAll), outcome_of_all) << "without padding";
  }
}

TEST(LongTexts, any_character_gives_the_result_of_the_parser) {
  const std::string good(70, 'Q');
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (int character = 0; character < 256; ++character) {
      std::string text = good;
      text[at] = static_cast<char>(character);
      const std::string json = with_bytes(text);
      ASSERT_EQ(outcome(json, kAll), outcome(json, kNone)) << character << " at " << at;
    }
  }
}

TEST(LongTexts, any_position_gives_the_result_of_the_parser) {
  const std::string image = base64_of(std::string(60, '\xfb'));
  ASSERT_NE(image.find('/'), std::string::npos);
  std::string slashes = image;  // PHP writes slashes like this.
  for (std::size_t at = 0; (at = slashes.find('/', at)) != std::string::npos; at += 2) {
    slashes.insert(at, "\\");
  }
  EXPECT_EQ(outcome(with_bytes(slashes), kAll), outcome(with_bytes(image), kNone));
  EXPECT_EQ(outcome(with_bytes("\\u0041" + image.substr(1)), kAll),
            outcome(with_bytes("A" + image.substr(1)), kNone));
  const std::string stand_in = "0" + std::string(15, '.');
  const std::string quoted = '"' + image + '"';
  for (const std::string& json : std::vector<std::string>{
           R"({"text":)" + quoted + "}",
           R"({"texts":["a",)" + quoted + "]}",
           R"({"bytes":)" + quoted + R"(,"bytes":)" + quoted + "}",
           R"({"bytes":)" + quoted + R"(,"text":")" + stand_in + "\"}",
           R"({"bytes":")" + stand_in + R"(","text":)" + quoted + "}",
           R"({"bytes":)" + quoted + R"(,"text":"\u0030)" + stand_in.substr(1) + "\"}",
           R"({"real":)" + quoted + "}",
           R"({"flag":)" + quoted + "}",
           R"({"small":)" + quoted + "}",
           R"({"stamp":)" + quoted + "}",
           R"({"stamp":{"secs":)" + quoted + "}}",
           R"({"floats":)" + quoted + "}",
           R"({"inner":)" + quoted + "}",
           R"({"fixed":)" + quoted + "}",
           "{" + quoted + ":1}",
           quoted,
           R"({"bytes":)" + quoted,
           R"({"bytes":)" + quoted + "}}",
           R"({"bytes":\)" + quoted + "}",
           R"({"bytes":)" + quoted + R"(,"wide":99999999999999999999})",
           R"({"bytes":)" + quoted + R"(,"real":99999999999999999999})",
           R"({"bytes":")" + image.substr(0, 50) + "=" + image.substr(50) + "\"}",
           R"({"bytes":")" + image + "A\"}",
           R"({"bytes":")" + std::string(80, '=') + "\"}",
       }) {
    EXPECT_EQ(outcome(json, kAll), outcome(json, kNone)) << json;
  }
}

/// A message with the field `data`, which the channel carries as attached buffers.
struct Blob {
  Blob() {
    google::protobuf::FileDescriptorProto file;
    if (!google::protobuf::TextFormat::ParseFromString(
            "name: 'b.proto' syntax: 'proto3' package: 'b' dependency: 'hyphos/ros/options.proto' "
            "options { [hyphos.ros.interface] { flavour: ROS1 } } message_type { name: 'Blob' "
            "field { name: 'data' number: 1 label: LABEL_OPTIONAL type: TYPE_BYTES "
            "options { [hyphos.ros.field] { type: UINT8 count: ANY } } } "
            "options { [hyphos.ros.type] { name: 'b/Blob' } } } message_type { name: 'Head' }",
            &file)) {
      return;
    }
    const auto* built = pool.BuildFile(file);
    shape = shapes
                .join(*built->FindMessageTypeByName("Blob"), *built->FindMessageTypeByName("Head"),
                      true)
                .or_throw();
  }
  google::protobuf::DescriptorPool pool{google::protobuf::DescriptorPool::generated_pool()};
  Shapes shapes;
  const Shape* shape = nullptr;
};

TEST(LongTexts, long_strings_become_attached_bytes) {
  std::mt19937 random(2);  // fixed seed
  const Blob blob;
  ASSERT_NE(blob.shape, nullptr);
  const std::string bytes = random_bytes(random, 50'000);
  std::vector<std::size_t> lent;
  const auto lend = [&](std::size_t size) {
    lent.push_back(size);
    return WritableBuffer::on_heap(size);
  };
  const std::string json = R"({"data":")" + base64_of(bytes) + "\"}";
  const auto made = read_json(*blob.shape, true, json, lend, 0);
  ASSERT_TRUE(made) << made.error().to_string();
  ASSERT_EQ(made->buffers.size(), 1);
  EXPECT_EQ(made->buffers[0].text(), bytes);
  EXPECT_EQ(lent, (std::vector<std::size_t>{0, bytes.size()})) << "memory is lent once";
  const DecodedText known{std::string_view(json).substr(9, json.size() - 11),
                          Buffer::copy_of(std::string_view("read before"))};
  lent.clear();
  const auto early = read_json(*blob.shape, true, json, lend, 0, {}, &known);
  ASSERT_TRUE(early) << early.error().to_string();
  ASSERT_EQ(early->buffers.size(), 1);
  EXPECT_EQ(early->buffers[0].data(), known.bytes.data()) << "without a copy";
  EXPECT_EQ(lent, std::vector<std::size_t>{0});
  std::string bad = json;
  bad[40'000] = '-';
  const auto refused = read_json(*blob.shape, true, bad, lend, 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "'data' is not base64");
}

}  // namespace
}  // namespace hyphos::gateway
