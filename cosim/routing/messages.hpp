#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "cosim/core/packet.hpp"

/// The packets of routed traffic. Each begins with 8 bytes, in the order of the network: kind,
/// remaining hops, sender and receiver with 16 bits each (0xffff: everyone), and 16 zero bits. They
/// stand for the addresses and the hop limit of an IP header.
namespace hyphos::cosim::routing {

inline constexpr std::size_t kHeadBytes = 8;
inline constexpr std::uint32_t kMostNodes = 0xffff;

/// A packet of a program.
struct Datagram {
  NodeId from = 0;
  NodeId to = 0;  ///< or kEveryone
  std::uint8_t hops_left = 0;
  Buffer bytes{};
};

/// The messages of RFC 3561, 5.1 to 5.3, with their sizes of 24, 20 and 4 + 8 n bytes. The address
/// of a node is its number plus 1.
struct RouteRequest {
  bool unknown_sequence = true;  ///< U: no sequence number of the destination is known
  std::uint8_t hops = 0;
  std::uint32_t id = 0;
  NodeId destination = 0;
  std::uint32_t destination_sequence = 0;
  NodeId originator = 0;
  std::uint32_t originator_sequence = 0;

  bool operator==(const RouteRequest&) const = default;
};
struct RouteReply {
  std::uint8_t hops = 0;
  NodeId destination = 0;
  std::uint32_t destination_sequence = 0;
  NodeId originator = 0;  ///< the destination itself in a hello message
  std::uint32_t lifetime_ms = 0;

  bool operator==(const RouteReply&) const = default;
};
struct RouteError {
  struct Lost {
    NodeId destination = 0;
    std::uint32_t sequence = 0;

    bool operator==(const Lost&) const = default;
  };
  std::vector<Lost> lost{};  ///< 1 to 255

  bool operator==(const RouteError&) const = default;
};
using Message = std::variant<Datagram, RouteRequest, RouteReply, RouteError>;

/// `hops_left` is the hop limit of a control message.
[[nodiscard]] Buffer encode(const Datagram& datagram);
[[nodiscard]] Buffer encode(const RouteRequest& request, std::uint8_t hops_left);
[[nodiscard]] Buffer encode(const RouteReply& reply, std::uint8_t hops_left);
[[nodiscard]] Buffer encode(const RouteError& error);

struct Decoded {
  Message message;
  std::uint8_t hops_left = 0;
};
/// Returns nothing if the bytes are no packet of routed traffic between `nodes` nodes. `bytes` may
/// be arbitrary.
[[nodiscard]] std::optional<Decoded> decode(const Buffer& bytes, std::uint32_t nodes);

}  // namespace hyphos::cosim::routing
