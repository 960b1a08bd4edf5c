#include <array>
#include <set>
#include <variant>

#include "tests/wire/clock_fields.hpp"
#include "tests/wire/vectors.hpp"
#include "wire/clock_tick.hpp"
#include "wire/control.hpp"
#include "wire/packet.hpp"

/// The golden vectors of links, announcements and clocks. Each is encoded from its fields and
/// compared byte by byte, then decoded and compared field by field.
namespace hyphos::wire {
namespace {

std::string text_of(const YAML::Node& node) { return node.as<std::string>(); }
std::uint32_t u32(const YAML::Node& node) { return node.as<std::uint32_t>(); }
std::uint64_t u64(const YAML::Node& node) { return node.as<std::uint64_t>(); }
std::int64_t i64(const YAML::Node& node) { return node.as<std::int64_t>(); }

TypeId type_of(const YAML::Node& v) {
  return make_type_id(text_of(v["type_name"]), encoding_of(text_of(v["encoding"])));
}

Control control_of(const YAML::Node& v) {
  const std::string kind = text_of(v["kind"]);
  if (kind == "welcome") {
    return Welcome{hex_number(v["session"]), text_of(v["process"]), hex_number(v["host"]),
                   u32(v["version"])};
  }
  if (kind == "hello") {
    return Hello{hex_number(v["session"]), text_of(v["process"]), hex_number(v["host"]),
                 u32(v["version"]),        text_of(v["via"]),     {}};
  }
  if (kind == "subscribe") {
    return Subscribe{u32(v["stream"]),          text_of(v["channel"]),  type_of(v),
                     u32(v["window_messages"]), u64(v["window_bytes"]), v["reliable"].as<bool>(),
                     u64(v["resume_after"])};
  }
  if (kind == "unsubscribe") return Unsubscribe{u32(v["stream"]), u64(v["taken"])};
  if (kind == "accepted") return Accepted{u32(v["stream"]), u64(v["first"])};
  if (kind == "refused") return Refused{u32(v["stream"]), type_of(v)};
  if (kind == "closed") return Closed{u32(v["stream"]), u64(v["sent"])};
  if (kind == "ack") return Ack{u32(v["stream"]), u64(v["taken"])};
  if (kind == "bye") return Bye{};
  if (kind == "nothing") return Nothing{};
  if (kind == "ask") return Ask{i64(v["asked_ns"])};
  EXPECT_EQ(kind, "answer");
  return Answer{i64(v["asked_ns"]), i64(v["heard_ns"]), i64(v["answered_ns"]),
                i64(v["clock_offset_ns"])};
}

Control whole_control_of(const YAML::Node& v) {
  Control control = control_of(v);
  if (auto* const hello = std::get_if<Hello>(&control)) {
    for (const YAML::Node& stream : v["streams"]) hello->streams.push_back(u32(stream));
  }
  return control;
}

/// Every field of a control message as text, in the order of the struct.
struct Fields {
  std::string operator()(const Welcome& m) const {
    return line(m.session, m.host, m.version) + m.process;
  }
  std::string operator()(const Hello& m) const {
    std::string streams;
    for (const std::uint32_t stream : m.streams) streams += line(stream);
    return line(m.session, m.host, m.version) + m.process + "|" + m.via + "|" + streams;
  }
  std::string operator()(const Subscribe& m) const {
    return line(m.stream, m.window_messages, m.window_bytes, m.reliable, m.resume_after,
                m.type.hash) +
           m.channel + "|" + m.type.name + std::string(to_string(m.type.encoding));
  }
  std::string operator()(const Unsubscribe& m) const { return line(m.stream, m.taken); }
  std::string operator()(const Accepted& m) const { return line(m.stream, m.first); }
  std::string operator()(const Refused& m) const {
    return line(m.stream, m.type.hash) + m.type.name + std::string(to_string(m.type.encoding));
  }
  std::string operator()(const Closed& m) const { return line(m.stream, m.sent); }
  std::string operator()(const Ack& m) const { return line(m.stream, m.taken); }
  std::string operator()(const Bye&) const { return {}; }
  std::string operator()(const Nothing&) const { return {}; }
  std::string operator()(const Ask& m) const { return line(m.asked_ns); }
  std::string operator()(const Answer& m) const {
    return line(m.asked_ns, m.heard_ns, m.answered_ns, m.clock_offset_ns);
  }

  template <typename... T>
  static std::string line(T... values) {
    return ((std::to_string(values) + " ") + ...);
  }
};

TEST_F(WireVectors, control_messages_are_written_byte_for_byte) {
  std::set<std::size_t> kinds;
  for (const YAML::Node& v : vectors("controls")) {
    const Control control = whole_control_of(v);
    kinds.insert(control.index());
    EXPECT_EQ(to_hex(encode_control(control)), text_of(v["frame"])) << v["kind"];
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<Control>) << "each kind has a vector";
}

TEST_F(WireVectors, control_messages_are_read_back) {
  for (const YAML::Node& v : vectors("controls")) {
    const auto read = parse_control(from_hex(text_of(v["frame"])));
    ASSERT_TRUE(read.ok()) << v["kind"];
    const Control expected = whole_control_of(v);
    ASSERT_EQ(read->index(), expected.index());
    EXPECT_EQ(std::visit(Fields{}, *read), std::visit(Fields{}, expected)) << v["kind"];
  }
}

TEST_F(WireVectors, the_first_frame_of_a_data_message_has_key_and_trailer) {
  for (const YAML::Node& v : vectors("first_frames")) {
    std::array<std::byte, kTrailerBytes> trailer{};
    write_trailer({u32(v["stream"]), u64(v["sequence"])}, trailer);
    EXPECT_EQ(to_hex(trailer), text_of(v["trailer"]));

    const std::vector<std::byte> frame = from_hex(text_of(v["frame"]));
    const Key key = parse_key(frame).or_throw();
    EXPECT_EQ(key.channel, text_of(v["channel"]));
    EXPECT_EQ(key.type_hash, hex_number(v["type_hash"]));
    const Trailer read = parse_trailer(key.rest).or_throw();
    EXPECT_EQ(read.stream, u32(v["stream"]));
    EXPECT_EQ(read.sequence, u64(v["sequence"]));
    Header header;
    const auto size = read_head(key.rest.subspan(kTrailerBytes), header);
    ASSERT_TRUE(size.ok());
    EXPECT_EQ(header.channel, text_of(v["channel"]));
    EXPECT_EQ(kTrailerBytes + *size, key.rest.size());
  }
}

Beacon beacon_of(const YAML::Node& v) {
  Beacon beacon;
  beacon.domain = text_of(v["domain"]);
  beacon.session = hex_number(v["session"]);
  beacon.process = text_of(v["process"]);
  beacon.host = hex_number(v["host"]);
  beacon.endpoints = v["endpoints"].as<std::vector<std::string>>();
  beacon.period_ms = u32(v["period_ms"]);
  beacon.leaving = v["leaving"].as<bool>();
  beacon.curve_key = text_of(v["curve_key"]);
  beacon.channels = v["channels"].as<std::vector<std::string>>();
  beacon.channels_digest = hex_number(v["channels_digest"]);
  return beacon;
}

TEST_F(WireVectors, announcements_are_written_and_read_back) {
  for (const YAML::Node& v : vectors("beacons")) {
    const Beacon beacon = beacon_of(v);
    EXPECT_EQ(to_hex(encode_beacon(beacon).or_throw()), text_of(v["datagram"]));
    EXPECT_EQ(parse_beacon(from_hex(text_of(v["datagram"]))).or_throw(), beacon);
  }
}

ClockTick tick_of(const YAML::Node& v) {
  ClockTick tick;
  tick.now_ns = i64(v["now_ns"]);
  tick.base_ns = i64(v["base_ns"]);
  tick.speed = v["speed"].as<double>();
  tick.paused = v["paused"].as<bool>();
  tick.source = hex_number(v["source"]);
  tick.jumps = u64(v["jumps"]);
  tick.origin =
      v["replayed"].as<bool>() ? ClockTick::Origin::replayed : ClockTick::Origin::simulated;
  tick.last_command = u64(v["last_command"]);
  tick.refusal = text_of(v["refusal"]);
  return tick;
}

TEST_F(WireVectors, clocks_are_written_and_read_back) {
  for (const YAML::Node& v : vectors("clocks")) {
    const ClockTick tick = tick_of(v);
    EXPECT_EQ(to_hex(encode_clock(tick)), text_of(v["payload"]));
    const ClockTick read = parse_clock(from_hex(text_of(v["payload"]))).or_throw();
    expect_equal(read, tick);
  }
}

TEST_F(WireVectors, clock_commands_are_written_and_read_back) {
  for (const YAML::Node& v : vectors("clock_commands")) {
    const ClockCommand command{u64(v["id"]),
                               static_cast<ClockCommand::Action>(v["action"].as<int>()),
                               i64(v["value_ns"]), v["speed"].as<double>()};
    EXPECT_EQ(to_hex(encode_command(command)), text_of(v["payload"]));
    const ClockCommand read = parse_command(from_hex(text_of(v["payload"]))).or_throw();
    expect_equal(read, command);
  }
}

}  // namespace
}  // namespace hyphos::wire
