#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "cosim/core/time.hpp"
#include "hyphos/buffer.hpp"

namespace hyphos::cosim {

/// A robot and its radio, numbered from 0 in the order of the scenario.
using NodeId = std::uint32_t;
inline constexpr NodeId kEveryone = std::numeric_limits<NodeId>::max();

/// Numbered from 1 in the order of sending. 0 means no packet.
using PacketId = std::uint64_t;

/// The order of all events: by time, then by source, then by the count of that source. At one
/// instant physics comes first, then programs by number, then the network.
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
  Time stamp{};   ///< the time at which it enters the network
  Buffer bytes{};
};

enum class Fate : std::uint8_t { delivered, dropped };

enum class DropReason : std::uint8_t {
  none,           ///< delivered
  queue_full,     ///< the sender's queue was full
  out_of_range,   ///< too weak to be detected
  channel_error,  ///< detected, but corrupted by noise
  collision,      ///< corrupted by another frame, or the receiver was sending
  retry_limit,    ///< the sender reached its retry limit
  other,          ///< the simulator gives no reason
  node_off,       ///< the radio of the sender or of the receiver was off
};
inline constexpr std::size_t kDropReasons = 8;

/// "out_of_range", as in traces and reports.
[[nodiscard]] std::string_view to_string(DropReason reason);

/// The parts of the delay of a packet. They add up to the delay from its send to its delivery.
struct DelayParts {
  Duration processing{0};      ///< in hosts, until it reaches a transmit queue
  Duration queueing{0};        ///< in transmit queues, and until the first transmission
  Duration retransmission{0};  ///< from the first transmission to the one that arrives
  Duration transmission{0};    ///< of the frame that arrives
  Duration propagation{0};

  [[nodiscard]] Duration sum() const {
    return processing + queueing + retransmission + transmission + propagation;
  }
  DelayParts& operator+=(const DelayParts& other) {
    processing = processing + other.processing;
    queueing = queueing + other.queueing;
    retransmission = retransmission + other.retransmission;
    transmission = transmission + other.transmission;
    propagation = propagation + other.propagation;
    return *this;
  }
};

/// The outcome of one copy of a packet, or of several copies to unnamed receivers.
struct Outcome {
  PacketId id = 0;
  NodeId to = 0;  ///< kEveryone: `copies` receivers, all dropped for the same reason
  Time time{};
  Fate fate = Fate::delivered;
  DropReason reason = DropReason::none;
  std::uint32_t copies = 1;
  Buffer bytes{};                     ///< the payload, if delivered
  Time sampled = kNever;              ///< the time of the channel sample, kNever if not reported
  double power_dbm = 0;               ///< received power in that sample; only with `sampled`
  std::optional<DelayParts> parts{};  ///< of a delivered packet, if the network reports them
};

}  // namespace hyphos::cosim
