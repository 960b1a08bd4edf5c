#include "base/json.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace hyphos {
namespace {

TEST(Json, special_characters_are_quoted) {
  EXPECT_EQ(json_quote("plain"), "\"plain\"");
  EXPECT_EQ(json_quote("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(json_quote("line\nend\ttab"), R"("line\nend\ttab")");
  EXPECT_EQ(json_quote(std::string("\0\x1f\x7f", 3)), R"("\u0000\u001f\u007f")");
  EXPECT_EQ(json_quote("gr\xc3\xbc\xc3\x9f"), "\"gr\xc3\xbc\xc3\x9f\"");
  EXPECT_EQ(json_quote("a\xff"
                       "b\xe2\x82"),
            "\"a\xef\xbf\xbd"
            "b\xef\xbf\xbd\"");
}

TEST(Json, nested_values_are_separated_by_commas) {
  JsonWriter json;
  json.begin_object();
  json.key("list");
  json.begin_list();
  json.number(-1);
  json.real(0.5);
  json.end_list();
  json.key("empty");
  json.begin_object();
  json.end_object();
  json.key("nan");
  json.real(0.0 / 0.0);
  json.end_object();
  EXPECT_EQ(std::move(json).take(),
            "{\n  \"list\": [\n    -1,\n    0.5\n  ],\n  \"empty\": {},\n  \"nan\": null\n}\n");
}

}  // namespace
}  // namespace hyphos
