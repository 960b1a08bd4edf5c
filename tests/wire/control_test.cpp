#include "wire/control.hpp"

#include <gtest/gtest.h>

#include <random>

namespace hyphos::wire {
namespace {

std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

std::vector<Control> samples() {
  const TypeId type = make_type_id("test.Sample", Encoding::custom);
  return {Welcome{7, "lidar", 9, kLinkVersion},
          Hello{8, "mapper", 9, kLinkVersion, "tcp://10.0.0.2:5553", {1, 2, 300}},
          Subscribe{3, "scan", type, 10, 262144, true, 99, "mapper"},
          Unsubscribe{3, 100},
          Accepted{3, 101},
          Refused{3, type, "lidar"},
          Closed{3, 102},
          Ack{3, 103},
          Bye{},
          Nothing{},
          Ask{-5},
          Answer{-5, 6, 7, INT64_MIN}};
}

TEST(Control, every_kind_survives_a_round_trip) {
  for (const Control& message : samples()) {
    const std::string frame = encode_control(message);
    EXPECT_EQ(frame[0], '\0');
    const auto read = parse_control(bytes(frame));
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->index(), message.index());
    EXPECT_EQ(encode_control(*read), frame);
  }
}

TEST(Control, all_fields_survive_a_round_trip) {
  const auto read = parse_control(bytes(encode_control(samples()[2]))).or_throw();
  const auto& subscribe = std::get<Subscribe>(read);
  EXPECT_EQ(subscribe.stream, 3U);
  EXPECT_EQ(subscribe.channel, "scan");
  EXPECT_EQ(subscribe.type.name, "test.Sample");
  EXPECT_EQ(subscribe.type.encoding, Encoding::custom);
  EXPECT_EQ(subscribe.window_messages, 10U);
  EXPECT_EQ(subscribe.window_bytes, 262144U);
  EXPECT_TRUE(subscribe.reliable);
  EXPECT_EQ(subscribe.resume_after, 99U);
  EXPECT_EQ(subscribe.node, "mapper");
  const auto refused =
      std::get<Refused>(parse_control(bytes(encode_control(samples()[5]))).or_throw());
  EXPECT_EQ(refused.type.name, "test.Sample");
  EXPECT_EQ(refused.node, "lidar");
  const auto hello = std::get<Hello>(parse_control(bytes(encode_control(samples()[1]))).or_throw());
  EXPECT_EQ(hello.streams, (std::vector<std::uint32_t>{1, 2, 300}));
}

TEST(Control, impossible_values_are_refused_or_clamped) {
  const TypeId type = make_type_id("x", Encoding::bytes);
  EXPECT_FALSE(parse_control(bytes(encode_control(Subscribe{1, "", type, 1, 0, false, 0}))).ok());
  EXPECT_FALSE(
      parse_control(bytes(encode_control(Subscribe{1, "a\nb", type, 1, 0, false, 0}))).ok());
  EXPECT_FALSE(parse_control(bytes(encode_control(Welcome{1, std::string(256, 'x'), 0, 1}))).ok());
  const auto greedy =
      parse_control(
          bytes(encode_control(Subscribe{1, "a", type, UINT32_MAX, UINT64_MAX, false, 0})))
          .or_throw();
  EXPECT_EQ(std::get<Subscribe>(greedy).window_messages, 65536U);
  EXPECT_EQ(std::get<Subscribe>(greedy).window_bytes, 64U << 20);
  EXPECT_FALSE(parse_control({}).ok());
  EXPECT_FALSE(parse_control(bytes("scan")).ok());
  EXPECT_FALSE(parse_control(bytes(std::string(1, '\0'))).ok()) << "no kind";
  EXPECT_FALSE(parse_control(bytes(std::string(kMaxControlBytes + 1, '\0'))).ok());
}

TEST(Control, the_name_of_a_node_is_optional) {
  const TypeId type = make_type_id("x", Encoding::bytes);
  for (const std::string& name : {std::string(), std::string(256, 'x'), std::string("a\xff")}) {
    const Control message = Subscribe{1, "scan", type, 1, 0, false, 0, name};
    const auto read = parse_control(bytes(encode_control(message))).or_throw();
    EXPECT_EQ(std::get<Subscribe>(read).channel, "scan");
    EXPECT_EQ(std::get<Subscribe>(read).node, "") << "a wrong name is left out";
  }
  EXPECT_EQ(owner_text("", "body"), "process 'body'");
  EXPECT_EQ(owner_text("mapper", "body"), "node 'mapper' of process 'body'");
}

TEST(Control, random_bytes_never_crash_the_parser) {
  std::mt19937 random(1);
  for (const Control& message : samples()) {
    const std::string frame = encode_control(message);
    for (int i = 0; i < 300; ++i) {
      std::string broken = frame;
      for (int flips = 1 + i % 4; flips > 0; --flips) {
        broken[random() % broken.size()] ^= static_cast<char>(1U << random() % 8);
      }
      const auto read = parse_control(bytes(broken));
      if (read.ok()) {
        EXPECT_FALSE(encode_control(*read).empty());
      }
    }
  }
}

TEST(Trailer, a_written_value_is_read_back) {
  std::array<std::byte, kTrailerBytes> out{};
  write_trailer({0x01020304, 0x1122334455667788}, out);
  EXPECT_EQ(out[0], std::byte{4});
  EXPECT_EQ(out[4], std::byte{0x88});
  const Trailer trailer = parse_trailer(out).or_throw();
  EXPECT_EQ(trailer.stream, 0x01020304U);
  EXPECT_EQ(trailer.sequence, 0x1122334455667788U);
  EXPECT_FALSE(parse_trailer(std::span(out).first(11)).ok());
}

TEST(Beacon, a_written_value_is_read_back) {
  Beacon beacon;
  beacon.domain = "lab";
  beacon.session = 5;
  beacon.process = "mapper";
  beacon.host = 6;
  beacon.endpoints = {"tcp://10.0.0.2:5553"};
  beacon.period_ms = 1000;
  beacon.curve_key = std::string(40, 'k');
  beacon.channels = {"scan", "map"};
  beacon.channels_digest = 77;
  const std::string datagram = encode_beacon(beacon).or_throw();
  EXPECT_LE(datagram.size(), kMaxBeaconBytes);
  EXPECT_EQ(parse_beacon(bytes(datagram)).or_throw(), beacon);
}

TEST(Beacon, many_channels_are_cut_to_one_datagram) {
  Beacon beacon;
  beacon.endpoints = {"tcp://10.0.0.2:5553"};
  for (int i = 0; i < 1000; ++i) beacon.channels.push_back("channel_" + std::to_string(i));
  const std::string datagram = encode_beacon(beacon).or_throw();
  EXPECT_LE(datagram.size(), kMaxBeaconBytes);
  const Beacon read = parse_beacon(bytes(datagram)).or_throw();
  EXPECT_GT(read.channels.size(), 10U);
  EXPECT_LE(read.channels.size(), kMaxBeaconChannels);
}

TEST(Beacon, invalid_beacons_are_refused) {
  Beacon nowhere;
  EXPECT_FALSE(parse_beacon(bytes(encode_beacon(nowhere).or_throw())).ok()) << "no endpoint";
  Beacon key;
  key.endpoints = {"tcp://1.2.3.4:5"};
  key.curve_key = "short";
  EXPECT_FALSE(parse_beacon(bytes(encode_beacon(key).or_throw())).ok());
  Beacon huge;
  huge.endpoints = {std::string(2000, 'x')};
  EXPECT_EQ(encode_beacon(huge).error().code, Code::invalid_config);
  EXPECT_FALSE(parse_beacon({}).ok());
  EXPECT_FALSE(parse_beacon(bytes(std::string(2000, 'x'))).ok());
  std::mt19937 random(1);
  key.curve_key.clear();
  const std::string good = encode_beacon(key).or_throw();
  for (int i = 0; i < 500; ++i) {
    std::string broken = good;
    broken[random() % broken.size()] ^= static_cast<char>(1U << random() % 8);
    (void)parse_beacon(bytes(broken)).ok();
  }
}

}  // namespace
}  // namespace hyphos::wire
