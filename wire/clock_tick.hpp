#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/clock_core.hpp"
#include "hyphos/codec.hpp"
#include "hyphos/result.hpp"

/// The messages of proto/hyphos/msgs/clock.proto, encoded without the generated classes, which
/// belong to users. Pure functions. All values from outside are checked.
namespace hyphos::wire {

/// Longer refusals are cut.
inline constexpr std::size_t kMaxRefusalBytes = 256;
/// Speeds above this, or below zero, are rejected.
inline constexpr double kMaxSpeed = 1000;

struct ClockCommand {
  enum class Action : std::uint8_t { nothing, pause, resume, step, speed, jump };

  std::uint64_t id = 0;
  Action action = Action::nothing;
  std::int64_t value_ns = 0;
  double speed = 0;
};

[[nodiscard]] const TypeId& clock_type();    ///< hyphos.msgs.Clock
[[nodiscard]] const TypeId& command_type();  ///< hyphos.msgs.ClockCommand

[[nodiscard]] std::string encode_clock(const ClockTick& tick);
/// Code::corrupt for malformed bytes, or for an impossible time or speed.
[[nodiscard]] Result<ClockTick> parse_clock(std::span<const std::byte> in);

[[nodiscard]] std::string encode_command(const ClockCommand& command);
[[nodiscard]] Result<ClockCommand> parse_command(std::span<const std::byte> in);

}  // namespace hyphos::wire
