#include "wire/packet.hpp"

#include <cstring>
#include <random>

#include "hyphos/wire/head.pb.h"
#include "tests/wire/vectors.hpp"

namespace hyphos::wire {
namespace {

struct Vector {
  std::string channel;
  TypeId type;
  Envelope envelope;
  ClockInfo clock;
};

Vector read_vector(const YAML::Node& node) {
  Vector v;
  v.channel = node["channel"].as<std::string>();
  v.type = {node["type_name"].as<std::string>(), encoding_of(node["encoding"].as<std::string>()),
            hex_number(node["type_hash"])};
  Meta& meta = v.envelope.meta;
  meta.type_hash = v.type.hash;
  meta.sequence = node["sequence"].as<std::uint64_t>();
  meta.sender = hex_number(node["sender"]);
  meta.replayed = node["replayed"].as<bool>();
  meta.latch = static_cast<Latch>(node["latch"].as<int>(0));
  meta.latched_depth = node["latched_depth"].as<std::uint16_t>(1);
  const YAML::Node stamps = node["stamps_ns"];
  const auto stamp = [&](const char* name) { return stamps[name].as<std::int64_t>(0); };
  meta.stamps = {stamp("publish"),   stamp("encoded"), stamp("submitted"), stamp("arrived"),
                 stamp("scheduled"), stamp("decoded"), stamp("callback")};
  if (const YAML::Node call = node["call"]) {
    meta.call = {hex_number(call["client"]), call["id"].as<std::uint64_t>(),
                 call["kind"].as<std::uint64_t>()};
  }
  v.clock = {hex_number(node["host"]), node["clock_offset_ns"].as<std::int64_t>()};
  v.envelope.payload = Buffer::adopt(from_hex(node["payload"].as<std::string>()));
  for (const YAML::Node& buffer : node["buffers"]) {
    v.envelope.buffers.push_back(Buffer::adopt(from_hex(buffer.as<std::string>())));
  }
  return v;
}

TEST_F(WireVectors, type_hashes_match_the_vectors) {
  for (const YAML::Node& node : vectors("types")) {
    const TypeId id = make_type_id(node["name"].as<std::string>(),
                                   encoding_of(node["encoding"].as<std::string>()),
                                   node["size"].as<std::size_t>());
    EXPECT_EQ(id.hash, hex_number(node["hash"])) << id.name;
  }
}

TEST_F(WireVectors, packets_are_written_byte_for_byte) {
  for (const YAML::Node& node : vectors("packets")) {
    const Vector v = read_vector(node);
    EXPECT_EQ(to_hex(encode_packet(v.channel, v.type, v.envelope, v.clock)),
              node["packet"].as<std::string>())
        << node["name"];
    const std::string key = make_key(v.channel, v.type.hash);
    EXPECT_EQ(to_hex(std::as_bytes(std::span(key))), node["key"].as<std::string>());
  }
}

TEST_F(WireVectors, packets_are_read_back) {
  for (const YAML::Node& node : vectors("packets")) {
    const Vector v = read_vector(node);
    const auto read = decode_packet(Buffer::adopt(from_hex(node["packet"].as<std::string>())));
    ASSERT_TRUE(read.ok()) << node["name"] << ": " << read.error().to_string();
    EXPECT_EQ(read->header.channel, v.channel);
    EXPECT_EQ(read->header.type.name, v.type.name);
    EXPECT_EQ(read->header.type.encoding, v.type.encoding);
    EXPECT_EQ(read->header.clock, v.clock);
    EXPECT_EQ(read->header.meta.latched_depth, v.envelope.meta.latched_depth);
    EXPECT_EQ(read->header.meta.call.client, v.envelope.meta.call.client);
    EXPECT_EQ(read->header.meta.call.id, v.envelope.meta.call.id);
    EXPECT_EQ(read->header.meta.call.kind, v.envelope.meta.call.kind);
    EXPECT_EQ(to_hex(encode_packet(read->header.channel, read->header.type, read->envelope,
                                   read->header.clock)),
              node["packet"].as<std::string>());
  }
}

TEST_F(WireVectors, corrupt_packets_are_refused) {
  for (const YAML::Node& node : vectors("corrupt_packets")) {
    const auto read = decode_packet(Buffer::adopt(from_hex(node["packet"].as<std::string>())));
    ASSERT_FALSE(read.ok()) << node["name"];
    EXPECT_EQ(read.error().code, Code::corrupt);
  }
}

TEST_F(WireVectors, protobuf_reads_and_writes_the_same_head) {
  for (const YAML::Node& node : vectors("packets")) {
    const std::vector<std::byte> packet = from_hex(node["packet"].as<std::string>());
    Header header;
    const std::size_t size = read_head(packet, header).or_throw() - kPrefixBytes;
    v1::Head head;
    ASSERT_TRUE(head.ParseFromArray(packet.data() + kPrefixBytes, static_cast<int>(size)));
    EXPECT_EQ(head.channel(), header.channel);
    EXPECT_EQ(head.payload_bytes(), header.payload_bytes);
    EXPECT_EQ(head.buffer_bytes_size(), static_cast<int>(header.buffer_count));
    const std::string again = head.SerializeAsString();
    EXPECT_EQ(to_hex(std::as_bytes(std::span(again))),
              to_hex(std::span(packet).subspan(kPrefixBytes, size)))
        << node["name"];
  }
}

TEST_F(WireVectors, truncated_packets_are_refused_and_bit_flips_never_crash) {
  for (const YAML::Node& node : vectors("packets")) {
    const std::vector<std::byte> packet = from_hex(node["packet"].as<std::string>());
    for (std::size_t size = 0; size < packet.size(); ++size) {
      const Buffer cut = Buffer::copy_of(std::span(packet).first(size));
      EXPECT_FALSE(decode_packet(cut).ok()) << node["name"] << " cut to " << size;
    }
    for (std::size_t bit = 0; bit < packet.size() * 8; ++bit) {
      std::vector<std::byte> flipped = packet;
      flipped[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
      const auto read = decode_packet(Buffer::adopt(std::move(flipped)));
      if (read.ok()) {
        EXPECT_LE(read->header.body_bytes(), packet.size());
      }
    }
  }
}

TEST(Packet, unknown_fields_of_later_versions_are_skipped) {
  std::vector<std::byte> packet;
  append_head("scan", make_type_id("x", Encoding::bytes), {}, {}, packet);
  const std::string extra =
      "\xa0\x06\x05\xaa\x06\x03"
      "abc"
      "\xb5\x06\x01\x02\x03\x04";  // 100, 101, 102
  for (const char c : extra) packet.push_back(static_cast<std::byte>(c));
  packet[0] = static_cast<std::byte>(packet.size() - kPrefixBytes);
  EXPECT_TRUE(decode_packet(Buffer::adopt(packet)).ok());
}

TEST(Packet, a_stamp_is_overwritten_in_place) {
  for (const std::string_view channel : {"s", "a/much/longer/channel/name"}) {
    Envelope message;
    message.meta.sequence = 300;
    message.meta.stamps = {1'000, 2'000, 3'000, 0, 0, 0, 0};
    std::vector<std::byte> packet(3);  // other bytes precede the packet
    const TypeId type = make_type_id("x", Encoding::bytes);
    const std::size_t at = append_head(channel, type, message, {}, packet);
    ASSERT_GT(at, 0U);
    write_submitted(packet.data() + at, 987'654'321);
    Header header;
    ASSERT_TRUE(read_head(std::span(packet).subspan(3), header));
    EXPECT_EQ(header.meta.stamps.publish, 1'000);
    EXPECT_EQ(header.meta.stamps.encoded, 2'000);
    EXPECT_EQ(header.meta.stamps.submitted, 987'654'321);
    EXPECT_EQ(header.meta.sequence, 300U);
    message.meta.stamps.submitted = 0;
    EXPECT_EQ(append_head(channel, type, message, {}, packet), 0U);
  }
}

TEST(Packet, decoding_shares_the_memory) {
  Envelope message;
  message.payload = Buffer::copy_of(std::string_view("payload"));
  message.buffers.push_back(Buffer::copy_of(std::string_view("buffer")));
  const Buffer whole =
      Buffer::adopt(encode_packet("scan", make_type_id("x", Encoding::bytes), message, {}));
  const auto packet = decode_packet(whole).or_throw();
  EXPECT_EQ(packet.envelope.payload.owner(), whole.owner());
  EXPECT_EQ(packet.envelope.buffers[0].owner(), whole.owner());
  EXPECT_EQ(packet.envelope.payload.text(), "payload");
  EXPECT_EQ(packet.envelope.buffers[0].text(), "buffer");
}

TEST(Packet, channel_names_are_checked) {
  EXPECT_TRUE(is_channel_name("scan"));
  EXPECT_TRUE(is_channel_name("a b/ü"));
  EXPECT_TRUE(is_channel_name(std::string(255, 'x')));
  for (const std::string& bad : {std::string(), std::string(256, 'x'), std::string("a\0b", 3),
                                 std::string("a\nb"), std::string("\x7f")}) {
    EXPECT_FALSE(is_channel_name(bad));
  }
}

TEST(Key, a_written_value_is_read_back) {
  const std::string text = make_key("camera/left", 0x0123456789abcdef) + std::string("\0rest", 5);
  const auto key = parse_key(std::as_bytes(std::span(text))).or_throw();
  EXPECT_EQ(key.channel, "camera/left");
  EXPECT_EQ(key.type_hash, 0x0123456789abcdefU);
  EXPECT_EQ(key.rest.size(), 4U);
}

TEST(Key, malformed_keys_are_refused) {
  const std::string good = make_key("scan", 1);
  for (const std::string& bad :
       {std::string(), std::string("scan"), std::string("\0", 1) + good, good.substr(0, 20),
        good + "x", std::string("scan\0GGGGGGGGGGGGGGGG", 21),
        std::string("scan\0ABCDEFABCDEFABCD", 21),
        std::string(300, 'c') + std::string("\0", 1) + std::string(16, '0')}) {
    EXPECT_FALSE(parse_key(std::as_bytes(std::span(bad))).ok()) << bad;
  }
}

TEST(Stamps, stamps_are_converted_only_between_machines) {
  const Stamps original{100, 0, 300, 400, 500, 600, 700};
  const ClockInfo here{1, 5000};
  Stamps same = original;
  convert_stamps(same, {1, 999}, here);
  EXPECT_EQ(same.publish, 100) << "one kernel, one clock";
  Stamps unknown = original;
  convert_stamps(unknown, {0, 999}, here);
  EXPECT_EQ(unknown.publish, 100);
  Stamps other = original;
  convert_stamps(other, {2, 7000}, here);
  EXPECT_EQ(other.publish, 2100);
  EXPECT_EQ(other.encoded, 0) << "not taken stays not taken";
  EXPECT_EQ(other.callback, 2700);
  Stamps wild = original;
  convert_stamps(wild, {2, INT64_MIN}, {1, INT64_MAX});  // a hostile head must not overflow
}

}  // namespace
}  // namespace hyphos::wire
