#include "wire/clock_tick.hpp"

#include <bit>
#include <cmath>
#include <string_view>

#include "wire/head.hpp"

namespace hyphos::wire {
namespace {

Error corrupt(std::string message) { return {Code::corrupt, std::move(message), {}}; }

enum WireType : std::uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// Fields in ascending order; zero values are left out, as proto3 has it.
class Writer {
 public:
  void varint(std::uint32_t field, std::uint64_t value) {
    if (value == 0) return;
    raw(field << 3 | kVarint);
    raw(value);
  }
  void fixed(std::uint32_t field, std::uint64_t value) {
    if (value == 0) return;
    raw(field << 3 | kFixed64);
    std::byte bytes[8];
    put_le(bytes, value, 8);
    out_.append(reinterpret_cast<const char*>(bytes), 8);
  }
  void real(std::uint32_t field, double value) {
    fixed(field, std::bit_cast<std::uint64_t>(value));
  }
  void text(std::uint32_t field, std::string_view value) {
    if (value.empty()) return;
    raw(field << 3 | kBytes);
    raw(value.size());
    out_.append(value);
  }
  [[nodiscard]] std::string take() && { return std::move(out_); }

 private:
  void raw(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<char>(value | 0x80));
    out_.push_back(static_cast<char>(value));
  }
  std::string out_;
};

struct Field {
  std::uint64_t number = 0;
  std::uint32_t type = 0;
  std::uint64_t value = 0;  // of a number
  std::string_view text;

  [[nodiscard]] double real() const { return std::bit_cast<double>(value); }
};

/// Takes one field off the front. False if the bytes are no protobuf.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> in) : in_(in) {}
  [[nodiscard]] bool done() const { return in_.empty(); }

  bool next(Field& field) {
    std::uint64_t tag = 0;
    if (!varint(tag)) return false;
    field = {tag >> 3, static_cast<std::uint32_t>(tag & 7), 0, {}};
    switch (field.type) {
      case kVarint:
        return varint(field.value);
      case kFixed64:
        return fixed(field.value, 8);
      case kFixed32:
        return fixed(field.value, 4);
      case kBytes: {
        std::uint64_t size = 0;
        if (!varint(size) || size > in_.size()) return false;
        field.text = {reinterpret_cast<const char*>(in_.data()), size};
        in_ = in_.subspan(size);
        return true;
      }
      default:
        return false;
    }
  }

 private:
  bool varint(std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64 && !in_.empty(); shift += 7) {
      const auto byte = std::to_integer<std::uint64_t>(in_[0]);
      in_ = in_.subspan(1);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  bool fixed(std::uint64_t& value, std::size_t bytes) {
    if (in_.size() < bytes) return false;
    value = get_le(in_.data(), bytes);
    in_ = in_.subspan(bytes);
    return true;
  }
  std::span<const std::byte> in_;
};

bool good_speed(double speed) { return std::isfinite(speed) && speed >= 0 && speed <= kMaxSpeed; }

/// `types[i]`: what field i + 1 must be; fields beyond are of a later version.
template <std::size_t N>
bool fits(const Field& field, const WireType (&types)[N]) {
  return field.number != 0 && (field.number > N || field.type == types[field.number - 1]);
}

constexpr WireType kClockTypes[] = {kVarint, kVarint, kFixed64, kVarint, kFixed64,
                                    kVarint, kVarint, kFixed64, kBytes};
constexpr WireType kCommandTypes[] = {kFixed64, kVarint, kVarint, kFixed64};

void assign(const Field& field, ClockTick& out) {
  switch (field.number) {
    case 1:
      out.now_ns = static_cast<std::int64_t>(field.value);
      break;
    case 2:
      out.base_ns = static_cast<std::int64_t>(field.value);
      break;
    case 3:
      out.speed = field.real();
      break;
    case 4:
      out.paused = field.value != 0;
      break;
    case 5:
      out.source = field.value;
      break;
    case 6:
      out.jumps = field.value;
      break;
    case 7:
      out.origin = field.value == 1 ? ClockTick::Origin::replayed : ClockTick::Origin::simulated;
      break;
    case 8:
      out.last_command = field.value;
      break;
    case 9:
      out.refusal = field.text.substr(0, kMaxRefusalBytes);
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
  Writer out;
  out.varint(1, static_cast<std::uint64_t>(tick.now_ns));
  out.varint(2, static_cast<std::uint64_t>(tick.base_ns));
  out.real(3, tick.speed);
  out.varint(4, tick.paused ? 1 : 0);
  out.fixed(5, tick.source);
  out.varint(6, tick.jumps);
  out.varint(7, tick.origin == ClockTick::Origin::replayed ? 1 : 0);
  out.fixed(8, tick.last_command);
  out.text(9, std::string_view(tick.refusal).substr(0, kMaxRefusalBytes));
  return std::move(out).take();
}

Result<ClockTick> parse_clock(std::span<const std::byte> in) {
  ClockTick tick;
  Reader reader(in);
  for (Field field; !reader.done();) {
    if (!reader.next(field) || !fits(field, kClockTypes)) return corrupt("no hyphos.msgs.Clock");
    assign(field, tick);
  }
  if (tick.now_ns < 0 || tick.base_ns < 0) return corrupt("a simulated time before 1970");
  if (!good_speed(tick.speed)) return corrupt("a simulated time with an impossible speed");
  return tick;
}

std::string encode_command(const ClockCommand& command) {
  Writer out;
  out.fixed(1, command.id);
  out.varint(2, static_cast<std::uint64_t>(command.action));
  out.varint(3, static_cast<std::uint64_t>(command.value_ns));
  out.real(4, command.speed);
  return std::move(out).take();
}

Result<ClockCommand> parse_command(std::span<const std::byte> in) {
  ClockCommand command;
  Reader reader(in);
  for (Field field; !reader.done();) {
    if (!reader.next(field) || !fits(field, kCommandTypes)) {
      return corrupt("no hyphos.msgs.ClockCommand");
    }
    if (field.number == 1) command.id = field.value;
    if (field.number == 2) {
      if (field.value > static_cast<std::uint64_t>(ClockCommand::Action::jump)) {
        return corrupt("a clock command of an unknown kind");
      }
      command.action = static_cast<ClockCommand::Action>(field.value);
    }
    if (field.number == 3) command.value_ns = static_cast<std::int64_t>(field.value);
    if (field.number == 4) command.speed = field.real();
  }
  return command;
}

}  // namespace hyphos::wire
