#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "cosim/core/packet.hpp"

namespace hyphos::cosim {

inline constexpr std::size_t kEthernetBytes = 14;

/// The destination of an Ethernet frame from a robot.
struct Destination {
  enum class Kind : std::uint8_t {
    robot,
    everyone,  ///< broadcast or multicast
    nobody,    ///< a MAC address of no robot, or of the sender itself
    malformed  ///< too short, too long for the MTU, or from a group address
  };
  Kind kind = Kind::nobody;
  NodeId robot = 0;
};

/// Reads the destination of a frame. The addresses are those of RealTimeOptions::mac(). `frame` may
/// be arbitrary. Frames may have one VLAN tag more than `mtu` and the Ethernet header.
[[nodiscard]] Destination destination_of(std::span<const std::byte> frame, NodeId from,
                                         std::size_t robots, std::size_t mtu);

}  // namespace hyphos::cosim
