#include "wire/clock_tick.hpp"

#include <array>
#include <bit>
#include <cmath>

#include "wire/corrupt.hpp"
#include "wire/protobuf.hpp"

namespace hyphos::wire {
namespace {

bool good_speed(double speed) { return std::isfinite(speed) && speed >= 0 && speed <= kMaxSpeed; }

constexpr std::size_t kMostBytes = 9 * 11 + kMaxRefusalBytes;  // upper bound for both messages

/// `types[i]` is the required type of field i + 1. Later fields belong to a later version.
constexpr std::array kClockTypes{kVarint, kVarint, kFixed64, kVarint, kFixed64,
                                 kVarint, kVarint, kFixed64, kBytes};
constexpr std::array kCommandTypes{kFixed64, kVarint, kVarint, kFixed64};

struct Field {
  std::uint64_t number = 0;
  ProtoValue value;

  [[nodiscard]] double real() const { return std::bit_cast<double>(value.number); }
};

template <std::size_t N>
bool next(ProtoReader& in, const std::array<ProtoType, N>& types, Field& field) {
  std::uint32_t type = 0;
  field.value = {};
  return in.field(field.number, type, field.value) &&
         (field.number > N || type == types[field.number - 1]);
}

std::string text_of(const std::array<std::byte, kMostBytes>& bytes, const ProtoWriter& out) {
  return {reinterpret_cast<const char*>(bytes.data()),
          static_cast<std::size_t>(out.end() - bytes.data())};
}

void assign(const Field& field, ClockTick& out) {
  switch (field.number) {
    case 1:
      out.now_ns = static_cast<std::int64_t>(field.value.number);
      break;
    case 2:
      out.base_ns = static_cast<std::int64_t>(field.value.number);
      break;
    case 3:
      out.speed = field.real();
      break;
    case 4:
      out.paused = field.value.number != 0;
      break;
    case 5:
      out.source = field.value.number;
      break;
    case 6:
      out.jumps = field.value.number;
      break;
    case 7:
      out.origin =
          field.value.number == 1 ? ClockTick::Origin::replayed : ClockTick::Origin::simulated;
      break;
    case 8:
      out.last_command = field.value.number;
      break;
    case 9:
      out.refusal = field.value.text().substr(0, kMaxRefusalBytes);
      break;
    default:
      break;
  }
}

}  // namespace

const TypeId& clock_type() {
  static const TypeId type = make_type_id("hyphos.msgs.Clock", Encoding::protobuf);
  return type;
}

const TypeId& command_type() {
  static const TypeId type = make_type_id("hyphos.msgs.ClockCommand", Encoding::protobuf);
  return type;
}

std::string encode_clock(const ClockTick& tick) {
  std::array<std::byte, kMostBytes> bytes;
  ProtoWriter out(bytes.data());
  out.varint(1, static_cast<std::uint64_t>(tick.now_ns));
  if (tick.base_ns >= 0) {  // 0 is written too, because it differs from an absent base
    out.tag(2, kVarint);
    out.raw_varint(static_cast<std::uint64_t>(tick.base_ns));
  }
  out.fixed(3, std::bit_cast<std::uint64_t>(tick.speed));
  out.varint(4, tick.paused ? 1 : 0);
  out.fixed(5, tick.source);
  out.varint(6, tick.jumps);
  out.varint(7, tick.origin == ClockTick::Origin::replayed ? 1 : 0);
  out.fixed(8, tick.last_command);
  out.text(9, std::string_view(tick.refusal).substr(0, kMaxRefusalBytes));
  return text_of(bytes, out);
}

Result<ClockTick> parse_clock(std::span<const std::byte> in) {
  ClockTick tick;
  ProtoReader reader(in);
  for (Field field; !reader.done();) {
    if (!next(reader, kClockTypes, field)) return corrupt("not a hyphos.msgs.Clock");
    assign(field, tick);
  }
  if (tick.now_ns < 0 || tick.base_ns < -1) return corrupt("a simulated time before 1970");
  if (!good_speed(tick.speed)) return corrupt("a simulated time with an impossible speed");
  return tick;
}

std::string encode_command(const ClockCommand& command) {
  std::array<std::byte, kMostBytes> bytes;
  ProtoWriter out(bytes.data());
  out.fixed(1, command.id);
  out.varint(2, static_cast<std::uint64_t>(command.action));
  out.varint(3, static_cast<std::uint64_t>(command.value_ns));
  out.fixed(4, std::bit_cast<std::uint64_t>(command.speed));
  return text_of(bytes, out);
}

Result<ClockCommand> parse_command(std::span<const std::byte> in) {
  ClockCommand command;
  ProtoReader reader(in);
  for (Field field; !reader.done();) {
    if (!next(reader, kCommandTypes, field)) {
      return corrupt("not a hyphos.msgs.ClockCommand");
    }
    if (field.number == 1) command.id = field.value.number;
    if (field.number == 2) {
      if (field.value.number > static_cast<std::uint64_t>(ClockCommand::Action::jump)) {
        return corrupt("a clock command of an unknown kind");
      }
      command.action = static_cast<ClockCommand::Action>(field.value.number);
    }
    if (field.number == 3) command.value_ns = static_cast<std::int64_t>(field.value.number);
    if (field.number == 4) command.speed = field.real();
  }
  return command;
}

}  // namespace hyphos::wire
