#include "gateway/rosbridge/bson.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "gateway/rosbridge/bson_writer.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

constexpr std::size_t kLimit = 1 << 16;

std::string raw(const char* text, std::size_t size) { return {text, size}; }
#define RAW(text) raw(text, sizeof(text) - 1)

std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string json(const std::string& document) {
  const auto made = bson_to_json(bytes(document), kLimit);
  return made ? *made : made.error().message;
}
template <typename Fill>
std::string document(Fill fill) {
  BsonWriter out;
  const std::size_t begun = out.begin();
  fill(out);
  out.end(begun);
  return out.take();
}

// The examples of bsonspec.org.
const std::string kHello = RAW("\x16\0\0\0\x02hello\0\x06\0\0\0world\0\0");
const std::string kAwesome =
    RAW("\x31\0\0\0\x04"
        "BSON\0\x26\0\0\0\x02"
        "0\0\x08\0\0\0awesome\0\x01"
        "1\0\x33\x33\x33\x33\x33\x33\x14\x40\x10"
        "2\0\xc2\x07\0\0\0\0");

TEST(Bson, the_examples_of_the_specification_are_read_and_written) {
  EXPECT_EQ(json(kHello), R"({"hello":"world"})");
  EXPECT_EQ(json(kAwesome), R"({"BSON":["awesome",5.05,1986]})");
  EXPECT_EQ(*json_to_bson(R"({"hello":"world"})"), kHello);
  EXPECT_EQ(*json_to_bson(R"({"BSON":["awesome",5.05,1986]})"), kAwesome);
}

TEST(Bson, every_kind_of_value_becomes_json) {
  const std::string all = document([](BsonWriter& out) {
    out.null("a");
    out.boolean("b", true);
    out.boolean("c", false);
    out.whole("d", std::int64_t{-5});
    out.whole("e", std::int64_t{1} << 53);
    out.real("f", NAN);
    out.real("g", -INFINITY);
    out.real("h", 7.4e20);
    out.text("i", "gr\xc3\xbc\xc3\x9f \"dich\"");
    const std::string data = "\1\2\3";
    out.binary("j", std::as_bytes(std::span(data)));
    const std::size_t inner = out.begin("k", Bson::document);
    out.whole("x", std::int64_t{1});
    out.end(inner);
  });
  EXPECT_EQ(json(all), R"({"a":null,"b":true,"c":false,"d":-5,"e":9007199254740992,"f":"NaN",)"
                       R"("g":"-Infinity","h":7.4e+20,"i":"gr)"
                       "\xc3\xbc\xc3\x9f"
                       R"( \"dich\"","j":"AQID","k":{"x":1}})");
}

TEST(Bson, numbers_have_the_width_that_they_need) {
  EXPECT_EQ(*json_to_bson(R"({"a":2147483647})"), RAW("\x0c\0\0\0\x10"
                                                      "a\0\xff\xff\xff\x7f\0"));
  EXPECT_EQ(*json_to_bson(R"({"a":2147483648})"), RAW("\x10\0\0\0\x12"
                                                      "a\0\0\0\0\x80\0\0\0\0\0"));
  const auto wide = json_to_bson(R"({"a":18446744073709551615})");
  ASSERT_TRUE(wide);
  EXPECT_EQ((*wide)[4], '\1') << "BSON has no uint64";
}

TEST(Bson, old_binary_data_has_its_length_twice) {
  const std::string old =
      RAW("\x14\0\0\0\x05"
          "a\0\x07\0\0\0\x02\x03\0\0\0\1\2\3\0");
  EXPECT_EQ(json(old), R"({"a":"AQID"})");
}

TEST(Bson, cbor_becomes_a_document_with_binary_data_and_arrays) {
  // {"op": "x", "b": h'010203', "f": 85(two floats), "s": 77(two int16), "n": -1, "t": true,
  //  "l": [1, null], "d": 1.5}
  const std::string cbor =
      RAW("\xa8\x62op\x61x\x61"
          "b\x43\1\2\3\x61"
          "f\xd8\x55\x48\0\0\xc0\x3f\0\0\x20\x40\x61"
          "s\xd8\x4d\x44\xff\xff\2\0\x61"
          "n\x20\x61t\xf5\x61l\x82\1\xf6\x61"
          "d\xfb\x3f\xf8\0\0\0\0\0\0");
  const auto document = cbor_to_bson(bytes(cbor));
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ(
      json(*document),
      R"({"op":"x","b":"AQID","f":[1.5,2.5],"s":[-1,2],"n":-1,"t":true,"l":[1,null],"d":1.5})");
  for (std::size_t size = 0; size < cbor.size(); ++size) {
    EXPECT_FALSE(cbor_to_bson(bytes(cbor.substr(0, size)))) << size;
  }
}

TEST(Bson, a_member_of_cbor_takes_the_place_of_its_value_in_json) {
  const std::string cbor = RAW("\xa1\x61x\x43\1\2\3");  // {"x": h'010203'}
  const auto document =
      json_to_bson(R"({"op":"a","values":null,"in":{"values":1}})", "values", bytes(cbor));
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ(json(*document), R"({"op":"a","values":{"x":"AQID"},"in":{"values":1}})");
  EXPECT_NE(document->find(RAW("\x05x\0\3\0\0\0\0\1\2\3")), std::string::npos) << "binary data";
  for (std::size_t size = 1; size < cbor.size(); ++size) {
    EXPECT_FALSE(json_to_bson(R"({"values":null})", "values", bytes(cbor.substr(0, size)))) << size;
  }
  EXPECT_FALSE(json_to_bson(R"({"values":null})", "values", bytes(cbor + "x")));
}

TEST(Bson, every_cut_document_is_corrupt) {
  for (const std::string& whole : {kHello, kAwesome}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_FALSE(bson_to_json(bytes(whole.substr(0, size)), kLimit)) << size;
    }
    EXPECT_FALSE(bson_to_json(bytes(whole + "x"), kLimit));
  }
}

TEST(Bson, invalid_documents_are_named_by_their_place) {
  EXPECT_EQ(json(RAW("\x08\0\0\0\x09"
                     "a\0\0")),
            "invalid BSON at byte 7: elements of type 9 do not exist in ROS");
  EXPECT_EQ(json(RAW("\x09\0\0\0\x08"
                     "a\0\2\0")),
            "invalid BSON at byte 8: a boolean is neither 0 nor 1");
  EXPECT_EQ(json(RAW("\x0d\0\0\0\x02"
                     "a\0\1\0\0\0x\0")),
            "invalid BSON at byte 12: a text does not end with a NUL");
  EXPECT_EQ(json(RAW("\x06\0\0\0\0\0")),
            "invalid BSON at byte 5: a document has another length than its content");
}

TEST(Bson, depth_and_length_are_bounded) {
  const auto nested = [](int depth) {
    return document([depth](BsonWriter& out) {
      std::vector<std::size_t> begun;
      for (int i = 0; i < depth; ++i) begun.push_back(out.begin("a", Bson::document));
      while (!begun.empty()) {
        out.end(begun.back());
        begun.pop_back();
      }
    });
  };
  EXPECT_TRUE(bson_to_json(bytes(nested(64)), kLimit));
  const auto deep = bson_to_json(bytes(nested(65)), kLimit);
  ASSERT_FALSE(deep);
  EXPECT_EQ(deep.error().code, Code::exhausted);
  const std::string long_text =
      document([](BsonWriter& out) { out.text("a", std::string(kLimit, 'x')); });
  const auto too_long = bson_to_json(bytes(long_text), kLimit);
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().code, Code::exhausted);
}

TEST(Bson, an_http_request_is_no_document) {
  EXPECT_FALSE(bson_size(bytes("GET / HTTP/1.1")));
  EXPECT_EQ(bson_size(bytes(kHello)), 0x16U);
  EXPECT_FALSE(json_to_bson("[1]"));
  EXPECT_FALSE(json_to_bson("{"));
}

}  // namespace
}  // namespace hyphos::gateway::rosbridge
