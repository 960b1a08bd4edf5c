#include "wire/clock_tick.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/wire/clock_fields.hpp"

namespace hyphos::wire {
namespace {

std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

ClockTick full() {
  ClockTick tick;
  tick.now_ns = 1'700'000'000'123'456'789;
  tick.base_ns = 1'700'000'000'000'000'000;
  tick.speed = 2.5;
  tick.paused = true;
  tick.source = 0xfedcba9876543210;
  tick.jumps = 300;
  tick.origin = ClockTick::Origin::replayed;
  tick.last_command = 99;
  tick.refusal = "no";
  return tick;
}

TEST(ClockTick, every_field_survives_a_round_trip) {
  const ClockTick in = full();
  const ClockTick out = parse_clock(bytes(encode_clock(in))).or_throw();
  expect_equal(out, in);
}

TEST(ClockTick, the_bytes_equal_those_of_protobuf) {
  // protoc --encode=hyphos.msgs.Clock <<< 'clock_ns: 300 speed: 2 paused: true source: 5'
  const std::string expected("\x08\xac\x02\x19\0\0\0\0\0\0\0@ \x01)\x05\0\0\0\0\0\0\0", 23);
  ClockTick tick;
  tick.now_ns = 300;
  tick.speed = 2;
  tick.paused = true;
  tick.source = 5;
  EXPECT_EQ(encode_clock(tick), expected);
}

TEST(ClockTick, a_base_of_zero_differs_from_no_base) {
  ClockTick tick;
  EXPECT_EQ(parse_clock(bytes(encode_clock(tick))).or_throw().base_ns, -1);
  tick.base_ns = 0;
  EXPECT_EQ(parse_clock(bytes(encode_clock(tick))).or_throw().base_ns, 0);
}

TEST(ClockTick, an_empty_message_is_the_time_zero) {
  EXPECT_EQ(parse_clock({}).or_throw().now_ns, 0);
}

TEST(ClockTick, impossible_values_are_refused) {
  ClockTick tick = full();
  tick.now_ns = -1;
  EXPECT_FALSE(parse_clock(bytes(encode_clock(tick))).ok());
  for (const double speed : {-1.0, 1001.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    tick = full();
    tick.speed = speed;
    EXPECT_FALSE(parse_clock(bytes(encode_clock(tick))).ok()) << speed;
  }
  tick = full();
  tick.refusal.assign(1000, 'x');
  EXPECT_EQ(parse_clock(bytes(encode_clock(tick))).or_throw().refusal.size(), kMaxRefusalBytes);
}

TEST(ClockTick, unknown_fields_are_skipped_and_wrong_types_refused) {
  EXPECT_TRUE(parse_clock(bytes(std::string("\xa0\x01\x05", 3))).ok());  // field 20
  EXPECT_FALSE(parse_clock(bytes(std::string("\x0a\x01x", 3))).ok()) << "clock_ns as bytes";
  EXPECT_FALSE(parse_clock(bytes(std::string("\x00\x01", 2))).ok()) << "field 0";
}

TEST(ClockCommand, commands_survive_and_unknown_actions_are_refused) {
  ClockCommand in{77, ClockCommand::Action::step, -5, 0.25};
  const ClockCommand out = parse_command(bytes(encode_command(in))).or_throw();
  expect_equal(out, in);
  EXPECT_FALSE(parse_command(bytes(std::string("\x10\x06", 2))).ok());
}

TEST(ClockTick, random_bytes_never_crash_the_parser) {
  std::mt19937 random(1);
  const std::string good = encode_clock(full());
  for (int i = 0; i < 3000; ++i) {
    std::string broken = good;
    for (int flips = 1 + i % 5; flips > 0; --flips) {
      broken[random() % broken.size()] ^= static_cast<char>(1U << random() % 8);
    }
    broken.resize(random() % (broken.size() + 1));
    const auto tick = parse_clock(bytes(broken));
    if (tick) {
      EXPECT_GE(tick->now_ns, 0);
    }
    (void)parse_command(bytes(broken));
  }
}

}  // namespace
}  // namespace hyphos::wire
