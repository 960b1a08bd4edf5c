#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string_view>

#include "cosim/core/time.hpp"
#include "hyphos/buffer.hpp"

namespace hyphos::cosim {

/// A robot and its radio, counted from 0 in the order of the scenario.
using NodeId = std::uint32_t;
inline constexpr NodeId kEveryone = std::numeric_limits<NodeId>::max();

/// Counted from 1 in the order of sending; 0 is no packet.
using PacketId = std::uint64_t;

/// The order of everything that happens: by time, then by who makes it happen, then by its own
/// count. At one instant physics comes first, then programs by number, then the network.
struct EventKey {
  Time time{};
  std::uint32_t source = 0;
  std::uint64_t sequence = 0;

  auto operator<=>(const EventKey&) const = default;
};

struct Packet {
  PacketId id = 0;
  NodeId from = 0;
  NodeId to = 0;  ///< or kEveryone
  Time stamp{};   ///< when it enters the network
  Buffer bytes{};
};

enum class Fate : std::uint8_t { delivered, dropped };

enum class DropReason : std::uint8_t {
  none,           ///< it was delivered
  queue_full,     ///< the sender's queue
  out_of_range,   ///< too weak to be heard at all
  channel_error,  ///< heard, but noise spoiled it
  collision,      ///< another frame spoiled it, or the receiver was sending itself
  retry_limit,    ///< the sender gave up
  other,          ///< the simulator does not say
};
inline constexpr std::size_t kDropReasons = 7;

/// "out_of_range", as in traces and reports.
[[nodiscard]] std::string_view to_string(DropReason reason);

/// What became of one copy of a packet, or of several to receivers that are not named.
struct Outcome {
  PacketId id = 0;
  NodeId to = 0;  ///< kEveryone: `copies` receivers of a packet to everyone, all dropped alike
  Time time{};
  Fate fate = Fate::delivered;
  DropReason reason = DropReason::none;
  std::uint32_t copies = 1;
  Buffer bytes{};         ///< of what was delivered
  Time sampled = kNever;  ///< when the simulator looked at the channel; kNever: it does not say
  double power_dbm = 0;   ///< received, as it saw it; only with `sampled`
};

}  // namespace hyphos::cosim
