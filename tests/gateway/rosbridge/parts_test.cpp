#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "gateway/net/handshake.hpp"
#include "gateway/net/web_socket.hpp"
#include "gateway/rosbridge/cbor.hpp"
#include "gateway/rosbridge/definition.hpp"
#include "gateway/rosbridge/fragments.hpp"
#include "gateway/rosbridge/json_text.hpp"
#include "gateway/rosbridge/origin.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

template <std::size_t N>
std::string bytes(const char (&text)[N]) {
  return std::string(text, N - 1);
}
std::span<const std::byte> view(const std::string& text) { return std::as_bytes(std::span(text)); }

// Examples of RFC 8949, appendix A, and of RFC 8746.
TEST(Cbor, values_become_json) {
  const auto json = [](const std::string& cbor) {
    return cbor_to_json(view(cbor), 1000).or_throw();
  };
  EXPECT_EQ(json(bytes("\x18\x64")), "100");
  EXPECT_EQ(json(bytes("\x1b\xff\xff\xff\xff\xff\xff\xff\xff")), "18446744073709551615");
  EXPECT_EQ(json(bytes("\x39\x03\xe7")), "-1000");
  EXPECT_EQ(json(bytes("\xf9\x3c\x00")), "1");
  EXPECT_EQ(json(bytes("\xf9\x7b\xff")), "65504");
  EXPECT_EQ(json(bytes("\xf9\x00\x01")), "5.960464477539063e-08");
  EXPECT_EQ(json(bytes("\xfa\x47\xc3\x50\x00")), "1e+05");
  EXPECT_EQ(json(bytes("\xfb\xc0\x10\x66\x66\x66\x66\x66\x66")), "-4.1");
  EXPECT_EQ(json(bytes("\xfb\x44\x44\x44\x44\x44\x44\x44\x44")), "747708026454360457216.0");
  EXPECT_EQ(json(bytes("\xf9\x7e\x00")), "\"NaN\"");
  EXPECT_EQ(json(bytes("\xfa\xff\x80\x00\x00")), "\"-Infinity\"");
  EXPECT_EQ(json(bytes("\x84\xf4\xf5\xf6\xf7")), "[false,true,null,null]");
  EXPECT_EQ(json(bytes("\x44\x01\x02\x03\x04")), "\"AQIDBA==\"");
  EXPECT_EQ(json(bytes("\x62\x22\x5c")), R"("\"\\")");
  EXPECT_EQ(json(bytes("\x7f\x65strea\x64ming\xff")), "\"streaming\"");
  EXPECT_EQ(json(bytes("\xbf\x61\x61\x01\x61\x62\x9f\x02\x03\xff\xff")), R"({"a":1,"b":[2,3]})");
  EXPECT_EQ(json(bytes("\xd9\xd9\xf7\xa0")), "{}");
  EXPECT_EQ(json(bytes("\xc1\x1a\x51\x4b\x67\xb0")), "1363896240") << "a tag without meaning here";
}

TEST(Cbor, typed_arrays_become_lists_of_their_numbers) {
  const auto json = [](const std::string& cbor) {
    return cbor_to_json(view(cbor), 1000).or_throw();
  };
  EXPECT_EQ(json(bytes("\xd8\x40\x42\x00\xff")), "\"AP8=\"");
  EXPECT_EQ(json(bytes("\xd8\x48\x42\x01\xff")), "[1,-1]");
  EXPECT_EQ(json(bytes("\xd8\x45\x44\x01\x00\xff\xff")), "[1,65535]") << "uint16 little endian";
  EXPECT_EQ(json(bytes("\xd8\x41\x42\x01\x00")), "[256]") << "uint16 big endian";
  EXPECT_EQ(json(bytes("\xd8\x4e\x44\xfe\xff\xff\xff")), "[-2]") << "int32 little endian";
  EXPECT_EQ(json(bytes("\xd8\x55\x44\x00\x00\xc0\x3f")), "[1.5]") << "float32 little endian";
  EXPECT_EQ(json(bytes("\xd8\x52\x48\x3f\xf8\x00\x00\x00\x00\x00\x00")), "[1.5]") << "float64 BE";
  EXPECT_EQ(json(bytes("\xd8\x54\x44\x00\x3c\x00\xc0")), "[1,-2]") << "float16 little endian";
}

TEST(Cbor, errors_name_the_byte_position) {
  const auto told = [](const std::string& cbor, std::size_t limit = 1000) {
    const auto json = cbor_to_json(view(cbor), limit);
    return json ? "no error: " + *json : json.error().message;
  };
  const std::string at = "invalid CBOR at byte ";
  EXPECT_EQ(told(bytes("\xa1\x01\x02")), at + "2: a key is not a text string");
  EXPECT_EQ(told(bytes("\x82\x01")), at + "2: the data ends too early");
  EXPECT_EQ(told(bytes("\x5b\xff\xff\xff\xff\xff\xff\xff\xff")), at + "9: the data ends too early");
  EXPECT_EQ(told(bytes("\x9b\xff\xff\xff\xff\xff\xff\xff\xff")), at + "9: the data ends too early");
  EXPECT_EQ(told(bytes("\x01\x02")), at + "1: more bytes follow after the map");
  EXPECT_EQ(told(bytes("\x1c")), at + "1: the length is reserved");
  EXPECT_EQ(told(bytes("\x1f")), at + "1: a number or tag has no definite length");
  EXPECT_EQ(told(bytes("\xff")), at + "1: a simple value does not exist in JSON");
  EXPECT_EQ(told(bytes("\xd8\x45\x43\x01\x02\x03")),
            at + "6: a typed array ends inside an element");
  EXPECT_EQ(told(std::string(100, '\x81')), at + "65: values are nested deeper than 64");
  EXPECT_EQ(told("\x58\xff" + std::string(255, 'x'), 100), at + "257: the JSON form is too long");
}

Request piece(const std::string& id, int num, int total, const std::string& data) {
  Request request;
  request.id = id;
  request.num = num;
  request.total = total;
  request.data = data;
  return request;
}

TEST(FragmentsTest, fragments_may_be_interleaved_and_repeated) {
  Fragments fragments(1000);
  EXPECT_FALSE(fragments.take(piece("a", 1, 2, "lo")).or_throw());
  EXPECT_FALSE(fragments.take(piece("b", 0, 2, "wor")).or_throw());
  EXPECT_FALSE(fragments.take(piece("a", 1, 2, "xx")).or_throw()) << "sent twice";
  EXPECT_EQ(fragments.take(piece("b", 1, 2, "ld")).or_throw(), "world");
  EXPECT_EQ(fragments.take(piece("a", 0, 2, "hel")).or_throw(), "hello");
  EXPECT_FALSE(fragments.take(piece("a", 0, 2, "again")).or_throw()) << "an id may be used again";
}

TEST(FragmentsTest, the_oldest_unfinished_message_is_dropped_at_the_limit) {
  Fragments fragments(1000);
  for (std::size_t i = 0; i <= Fragments::kMaxMessages; ++i) {
    EXPECT_FALSE(fragments.take(piece(std::to_string(i), 0, 2, "x")).or_throw());
  }
  EXPECT_EQ(fragments.dropped(), 1U);
  EXPECT_EQ(fragments.take(piece("1", 1, 2, "y")).or_throw(), "xy");
  EXPECT_FALSE(fragments.take(piece("0", 1, 2, "y")).or_throw()) << "its first piece was dropped";
}

TEST(FragmentsTest, limits_apply_before_a_fragment_is_kept) {
  Fragments fragments(10);
  EXPECT_FALSE(fragments.take(piece("a", 0, 3, "123456")).or_throw());
  EXPECT_EQ(fragments.take(piece("a", 1, 3, "789012")).error().code, Code::exhausted);
  EXPECT_FALSE(fragments.take(piece("a", 1, 3, "1")).or_throw())
      << "the earlier pieces were dropped";
  EXPECT_EQ(fragments.take(piece("a", 1, 4, "1")).error().code, Code::corrupt);
  EXPECT_EQ(fragments.take(piece("b", 0, 1 << 17, "")).error().code, Code::corrupt);
  EXPECT_EQ(fragments.take(piece("", 0, 1, "")).error().code, Code::corrupt);
}

TEST(FragmentsTest, a_text_is_never_cut_inside_a_character) {
  const std::string text = "a\xc3\xbc\xe2\x82\xac\xf0\x9f\xa4\x96z";
  for (std::size_t size = 1; size < 12; ++size) {
    std::string joined;
    for (std::size_t from = 0; from < text.size();) {
      const std::size_t end = piece_end(text, from, size);
      ASSERT_GT(end, from);
      const std::string part = text.substr(from, end - from);
      EXPECT_NE(static_cast<unsigned char>(part.front()) & 0xc0U, 0x80U);
      joined += part;
      from = end;
    }
    EXPECT_EQ(joined, text);
  }
  EXPECT_EQ(split(std::string(1 << 17, 'x'), 1, "f").error().code, Code::out_of_range);
}

TEST(JsonText, texts_are_ascii_and_special_numbers_are_quoted) {
  EXPECT_EQ(to_ascii("\"\xc3\xa4\xe2\x82\xac\xf0\x9f\xa4\x96\""), R"("\u00e4\u20ac\ud83e\udd16")");
  EXPECT_EQ(with_quoted_specials(R"({"Note":"NaN \\\" NaN"})"), "");
  EXPECT_EQ(with_quoted_specials(R"({"a":NaN,"b":"NaN\\"})"), R"({"a":"NaN","b":"NaN\\"})");
  EXPECT_EQ(with_quoted_specials("[Infinity,-Infinity, 1]"), R"(["Infinity","-Infinity", 1])");
  EXPECT_EQ(with_quoted_specials(R"(["open NaN)"), "");
  EXPECT_EQ(with_quoted_specials("[None]"), "");
}

TEST(DefinitionTest, fields_constants_and_nested_types_are_read) {
  const auto read = read_definitions("pkg/Scan",
                                     "# what it is\n"
                                     "uint8 LEFT=1 # a side\n"
                                     "string NAME= a # b\n"
                                     "Header header\n"
                                     "float32[] ranges\n"
                                     "Point[3] corners   # of it\n"
                                     "time when\n"
                                     "================================\n"
                                     "MSG: std_msgs/Header\n"
                                     "string frame_id\n"
                                     "================================\n"
                                     "MSG: pkg/Point\n"
                                     "float64 x\n");
  ASSERT_EQ(read.size(), 3U);
  EXPECT_EQ(typedefs_json({read[0]}),
            R"([{"type":"pkg/Scan","fieldnames":["header","ranges","corners","when"],)"
            R"("fieldtypes":["std_msgs/Header","float32","pkg/Point","time"],)"
            R"("fieldarraylen":[-1,0,3,-1],"examples":["{}","[]","[]","{}"],)"
            R"("constnames":["LEFT","NAME"],"constvalues":["1","a # b"]}])");
  EXPECT_EQ(read[2].type, "pkg/Point");
}

TEST(DefinitionTest, syntax_of_ros_2_is_read) {
  const auto read = read_definitions("pkg/msg/Some",
                                     "int32 MOST = 7\n"
                                     "builtin_interfaces/msg/Time when\n"
                                     "string<=10 name \"a=b\"\n"
                                     "wstring[] signs\n"
                                     "int32[<=3] few [1, 2]\n"
                                     "float64 real 1.5\n"
                                     "pkg/msg/Part[2] parts\n");
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(
      typedefs_json(read),
      R"([{"type":"pkg/msg/Some","fieldnames":["when","name","signs","few","real","parts"],)"
      R"("fieldtypes":["builtin_interfaces/msg/Time","string","wstring","int32","float64",)"
      R"("pkg/msg/Part"],"fieldarraylen":[-1,-1,0,0,-1,2],)"
      R"("examples":["{}","","[]","[]","0.0","[]"],"constnames":["MOST"],"constvalues":["7"]}])");
}

TEST(HandshakeTest, the_example_of_the_rfc_gets_its_reply) {
  const net::Handshake handshake = net::read_handshake(
      "GET /chat HTTP/1.1\r\nHost: server.example.com\r\nUpgrade: websocket\r\n"
      "Connection: keep-alive, Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
      "Origin: http://example.com\r\nSec-WebSocket-Version: 13\r\n\r\n");
  EXPECT_TRUE(handshake.accepted);
  EXPECT_EQ(handshake.reply,
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n");
  EXPECT_EQ(handshake.token, "");
  EXPECT_EQ(handshake.origin, "http://example.com");
  EXPECT_EQ(handshake.host, "server.example.com");
}

TEST(HandshakeTest, tokens_are_in_the_address_or_in_a_header) {
  const auto token = [](const std::string& target, const std::string& header) {
    return net::read_handshake("GET " + target + " HTTP/1.1\r\nUpgrade: websocket\r\n" + header +
                               "Connection: Upgrade\r\nSec-WebSocket-Key: x\r\n"
                               "Sec-WebSocket-Version: 13\r\n\r\n")
        .token;
  };
  EXPECT_EQ(token("/?a=b&token=s%2Be%63", ""), "s+ec");
  EXPECT_EQ(token("/?token=", ""), "");
  EXPECT_EQ(token("/?token=100%", ""), "100%");
  EXPECT_EQ(token("/", "Authorization: Bearer secret\r\n"), "secret");
}

TEST(HandshakeTest, other_requests_are_refused_with_a_status) {
  EXPECT_TRUE(net::read_handshake("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                  .reply.starts_with("HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\n"));
  EXPECT_TRUE(
      net::read_handshake("hello\r\n\r\n").reply.starts_with("HTTP/1.1 400 Bad Request\r\n"));
  EXPECT_TRUE(net::read_handshake("GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                                  "Sec-WebSocket-Key: x\r\nSec-WebSocket-Version: 8\r\n\r\n")
                  .reply.starts_with("HTTP/1.1 400 Bad Request\r\nSec-WebSocket-Version: 13\r\n"));
}

TEST(OriginTest, pages_of_this_machine_and_of_the_same_host_are_allowed) {
  const auto enters = [](std::string_view origin, std::string_view host = "127.0.0.1:9090",
                         std::string_view origins = "") {
    return may_enter(origin, host, Patterns(origins));
  };
  for (const std::string_view origin :
       {"", "file://", "http://localhost", "http://localhost:8080", "https://localhost",
        "http://app.localhost:1", "http://127.0.0.1:8080", "http://127.1.2.3", "http://[::1]:80"}) {
    EXPECT_TRUE(enters(origin)) << origin;
  }
  for (const std::string_view origin :
       {"null", "http://example.org", "http://localhost.example.org",
        "http://127.0.0.1.example.org", "http://127.evil", "ftp://localhost", "http://",
        "http://[::1", "file:///x", "chrome-extension://abc"}) {
    EXPECT_FALSE(enters(origin)) << origin;
  }
  EXPECT_TRUE(enters("http://192.168.0.7:8080", "192.168.0.7:9090"));
  EXPECT_TRUE(enters("http://[fd00::7]", "[fd00::7]:9090"));
  EXPECT_FALSE(enters("http://192.168.0.8", "192.168.0.7:9090"));
  EXPECT_FALSE(enters("http://evil.example", "evil.example:9090"))
      << "the owner of a name chooses its address";
  EXPECT_TRUE(enters("http://robot.example", "robot.example", "http://robot.example"));
  EXPECT_TRUE(enters("null", "", "null"));
  EXPECT_TRUE(enters("http://example.org", "", "*"));
}

// RFC 6455, section 5.7.
TEST(WebSocketTest, the_frames_of_the_rfc_are_read_and_written) {
  const std::string hello = bytes("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58");
  const auto head = net::parse_frame_head(view(hello)).or_throw();
  ASSERT_TRUE(head);
  EXPECT_EQ(head->head_size, 6U);
  net::MessageJoiner joiner(100);
  ASSERT_TRUE(joiner.admit(*head));
  const auto message = joiner.join(*head, view(hello).subspan(6));
  ASSERT_TRUE(message);
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(message->payload.data()), 5), "Hello");
  for (std::size_t size = 0; size < hello.size() - 5; ++size) {
    EXPECT_FALSE(net::parse_frame_head(view(hello).first(size)).or_throw());
  }

  const auto written = [](net::Opcode opcode, std::uint64_t size) {
    std::array<std::byte, net::kMaxServerHead> out;
    const std::size_t length = net::write_frame_head(out, opcode, size);
    return std::string(reinterpret_cast<const char*>(out.data()), length);
  };
  EXPECT_EQ(written(net::Opcode::text, 5), bytes("\x81\x05"));
  EXPECT_EQ(written(net::Opcode::binary, 256), bytes("\x82\x7e\x01\x00"));
  EXPECT_EQ(written(net::Opcode::binary, 65536), bytes("\x82\x7f\x00\x00\x00\x00\x00\x01\x00\x00"));
}

TEST(WebSocketTest, the_mask_is_applied_at_every_length) {
  const net::Mask mask{std::byte{0x11}, std::byte{0x22}, std::byte{0x44}, std::byte{0x88}};
  for (std::size_t size = 0; size < 200; ++size) {
    std::vector<std::byte> masked(size), wanted(size), plain(size + 1, std::byte{0xee});
    for (std::size_t i = 0; i < size; ++i) {
      masked[i] = static_cast<std::byte>(7 * i);
      wanted[i] = masked[i] ^ mask[i % 4];
    }
    net::copy_unmasked(masked, mask, plain.data());
    EXPECT_EQ(plain[size], std::byte{0xee}) << "no write beyond the end";
    plain.pop_back();
    EXPECT_EQ(plain, wanted);
    net::copy_unmasked(masked, mask, masked.data());
    EXPECT_EQ(masked, wanted) << "in place";
  }
}

TEST(WebSocketTest, frames_against_the_protocol_are_refused) {
  const auto told = [](const std::string& frame) {
    return net::parse_frame_head(view(frame)).ok();
  };
  EXPECT_FALSE(told(bytes("\x81\x05Hello"))) << "not masked";
  EXPECT_FALSE(told(bytes("\xc1\x80"))) << "reserved bits";
  EXPECT_FALSE(told(bytes("\x83\x80"))) << "unknown opcode";
  EXPECT_FALSE(told(bytes("\x09\x80"))) << "a ping in pieces";
  EXPECT_FALSE(told(bytes("\x89\xfe\x00\x7e"))) << "a ping of 126 bytes";
  EXPECT_FALSE(told(bytes("\x82\xff\x80\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")));
}

TEST(WebSocketTest, pieces_are_joined_within_the_limit) {
  net::MessageJoiner joiner(5);
  const net::FrameHead first{net::Opcode::text, false, 3, {}, 6};
  const net::FrameHead last{net::Opcode::continuation, true, 2, {}, 6};
  net::FrameHead large = last;
  large.size = 3;
  EXPECT_FALSE(joiner.admit(last)) << "nothing to continue";
  ASSERT_TRUE(joiner.admit(first));
  EXPECT_FALSE(joiner.join(first, view("abc")));
  EXPECT_FALSE(joiner.admit(first)) << "a message inside a message";
  EXPECT_EQ(joiner.admit(large).error().code, Code::exhausted);
  ASSERT_TRUE(joiner.admit(last));
  const auto message = joiner.join(last, view("de"));
  ASSERT_TRUE(message);
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(message->payload.data()), 5), "abcde");
}

}  // namespace
}  // namespace hyphos::gateway::rosbridge
