#include "gateway/ros1/header.hpp"

#include <gtest/gtest.h>

#include "gateway/ros1/frame.hpp"
#include "gateway/ros1/reply_reader.hpp"

using namespace hyphos;
using namespace hyphos::gateway::ros1;

namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

constexpr std::string_view kGolden{
    "\x2b\0\0\0"
    "\x12\0\0\0"
    "callerid=/listener"
    "\x11\0\0\0"
    "topic=/chatter=it",
    4 + 4 + 18 + 4 + 17};

}  // namespace

TEST(Header, a_header_has_the_bytes_of_tcpros) {
  EXPECT_EQ(text_of(write_header({{"topic", "/chatter=it"}, {"callerid", "/listener"}})), kGolden);
  const auto header = parse_header(bytes_of(kGolden.substr(4)));
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(field(*header, "topic"), "/chatter=it");
  EXPECT_EQ(field(*header, "callerid"), "/listener");
  EXPECT_EQ(field(*header, "md5sum"), "");
}

TEST(Header, an_empty_header_has_no_fields) {
  EXPECT_TRUE(parse_header({})->empty());
  EXPECT_EQ(text_of(write_header({})), std::string(4, '\0'));
}

TEST(Header, errors_describe_the_faulty_field) {
  EXPECT_EQ(parse_header(bytes_of("abc")).error().message,
            "the last field is shorter than its 4-byte length");
  EXPECT_EQ(parse_header(bytes_of(std::string_view("\x05\0\0\0a=b", 7))).error().message,
            "a field has 5 bytes, but the header has only 3");
  EXPECT_EQ(parse_header(bytes_of(std::string_view("\x03\0\0\0abc", 7))).error().message,
            "the field 'abc' is not name=value");
}

TEST(Header, flags_accept_the_spellings_of_all_clients) {
  for (const char* yes : {"1", "True", "true"})
    EXPECT_TRUE(is_set({{"latching", yes}}, "latching"));
  for (const char* no : {"0", "False", ""}) EXPECT_FALSE(is_set({{"latching", no}}, "latching"));
  EXPECT_FALSE(is_set({}, "latching"));
}

TEST(Header, types_match_by_md5sum) {
  EXPECT_EQ(mismatch({{"md5sum", "*"}, {"type", "*"}}, "a/B", "11"), "");
  EXPECT_EQ(mismatch({{"md5sum", "11"}}, "a/B", "11"), "");
  EXPECT_EQ(mismatch({{"md5sum", "22"}, {"type", "a/C"}}, "a/B", "11"),
            "the subscriber expects a/C with md5sum 22, but the gateway has a/B with 11");
  EXPECT_EQ(mismatch({}, "a/B", "11"), "the header has no md5sum");
}

TEST(Frame, a_frame_is_measured_before_it_is_read) {
  EXPECT_FALSE(measure_frame(bytes_of("\x01"), 10)->whole);
  EXPECT_EQ(measure_frame(bytes_of(std::string_view("\x05\0\0\0", 4)), 10)->size, 9U);
  EXPECT_EQ(measure_frame(bytes_of(std::string_view("\0\0\0\0", 4)), 10)->size, 4U);
  EXPECT_EQ(measure_frame(bytes_of("\xff\xff\xff\xff"), 10).error().code, Code::overloaded);
}

TEST(Reply, a_reply_is_complete_with_its_length) {
  ReplyReader reader(100);
  EXPECT_FALSE(*reader.take(bytes_of(std::string_view("\x01\x02\0", 3))));
  EXPECT_TRUE(*reader.take(bytes_of(std::string_view("\0\0ok", 4))));
  EXPECT_EQ(reader.finish()->text(), "ok");
  EXPECT_TRUE(reader.empty());
}

TEST(Reply, a_ros_net_reply_ends_with_the_connection) {
  ReplyReader reader(100);
  EXPECT_FALSE(*reader.take(bytes_of(std::string_view("\x01\x01\x02\0\0\0no", 8))));
  EXPECT_EQ(reader.finish()->text(), std::string_view("\x01\x02\0\0\0no", 7));
  ReplyReader empty(100);
  EXPECT_FALSE(*empty.take(bytes_of("\x01")));
  EXPECT_TRUE(empty.finish()->empty());
}

TEST(Reply, a_reply_may_be_an_error_of_the_server) {
  ReplyReader reader(100);
  EXPECT_TRUE(*reader.take(bytes_of(std::string_view("\0\x02\0\0\0no", 7))));
  EXPECT_EQ(reader.finish().error().message, "the server refused the call: no");
  ReplyReader cut(100);
  EXPECT_FALSE(*cut.take(bytes_of(std::string_view("\0\x09\0\0\0no", 7))));
  EXPECT_EQ(cut.finish().error().code, Code::corrupt);
}

TEST(Reply, a_reply_that_is_too_large_is_refused) {
  ReplyReader reader(4);
  EXPECT_EQ(reader.take(bytes_of("0123456789")).error().code, Code::overloaded);
}
