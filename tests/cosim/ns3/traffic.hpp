#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "cosim/core/packet.hpp"
#include "cosim/core/random.hpp"
#include "cosim/network/ns3/options.hpp"

/// The common part of plain ns-3 and of ns-3 under the co-simulator: robots at rest, and their
/// packets.
namespace hyphos::cosim {

inline constexpr std::uint32_t kStanding = 8;
inline constexpr std::uint64_t kTrafficSeed = 5;
inline constexpr std::int64_t kTrafficEndMs = 2000;

struct Sent {
  PacketId id = 0;
  NodeId from = 0;
  NodeId to = 0;
  std::int64_t ms = 0;
  std::size_t size = 0;
};

/// Two rows. The ends of a row are out of range of each other.
inline std::vector<Pose> standing() {
  std::vector<Pose> poses;
  for (std::uint32_t i = 0; i < kStanding; ++i) {
    poses.push_back({{30.0 * (i % 4) + 0.37 * i, i < 4 ? 0.0 : 25.0, 1.5}, {}});
  }
  return poses;
}

inline Ns3Options standing_options(bool walls) {
  Ns3Options options;
  options.radio.rate_mbit = 24;
  options.radio.host_jitter = {};  // ns-3's stacks have no delay
  if (walls) {
    options.radio.shadowing_db = 4;
    options.boxes = {{{40, -5, 0}, {42, 10, 3}, 8}, {{10, 10, 0}, {75, 12, 4}, 15}};
  }
  return options;
}

/// Packets to one node and to everyone, several at one instant, some in three fragments.
inline std::vector<Sent> standing_traffic() {
  std::vector<Sent> all;
  for (PacketId id = 1; id <= 600; ++id) {
    const auto from = static_cast<NodeId>(draw(1, id, 0, 0) % kStanding);
    const auto other =
        static_cast<NodeId>((from + 1 + draw(1, id, 1, 0) % (kStanding - 1)) % kStanding);
    const std::size_t size = id % 10 == 0 ? 4000 : 20 + draw(1, id, 2, 0) % 1200;
    const auto ms = static_cast<std::int64_t>(1 + id / 2 * 3);
    all.push_back({id, from, id % 4 == 0 ? kEveryone : other, ms, size});
  }
  // The engine numbers packets in the order of its event keys: by instant, then by sender.
  std::ranges::stable_sort(all, {}, [](const Sent& sent) { return std::tie(sent.ms, sent.from); });
  for (std::size_t i = 0; i < all.size(); ++i) all[i].id = i + 1;
  return all;
}

}  // namespace hyphos::cosim
