#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cosim/core/method.hpp"
#include "cosim/core/packet.hpp"

namespace hyphos::cosim {

/// Copies of packets: one to each receiver. sent = delivered + Σ dropped + in_flight, always.
struct PacketCounts {
  std::uint64_t packets = 0;  ///< one for each send, however many receivers
  std::uint64_t sent = 0;
  std::uint64_t delivered = 0;
  std::array<std::uint64_t, kDropReasons> dropped{};
  std::uint64_t in_flight = 0;

  [[nodiscard]] std::uint64_t all_dropped() const;
  [[nodiscard]] bool balanced() const { return sent == delivered + all_dropped() + in_flight; }
};

/// Knows every packet under way, and believes no simulator: an outcome of a packet that is not
/// under way, a second one for the same copy, a delivery before its send or with other bytes is an
/// error (corrupt) and is not counted.
class Ledger {
 public:
  struct Entry {
    Packet packet;              ///< `stamp` is the send by the program
    Time entered = kNever;      ///< the network; kNever: it waits outside
    std::uint32_t open = 0;     ///< copies without an outcome
    std::vector<bool> settled;  ///< receivers of a packet to everyone
  };

  explicit Ledger(std::uint32_t nodes) : nodes_(nodes) {}

  /// Takes a packet with its time of sending, and gives it its number. Errors: not_found.
  [[nodiscard]] Result<PacketId> send(Packet packet);
  void enter(PacketId id, Time time);
  /// The packet of an outcome that lies in [begin, end); valid until settle().
  [[nodiscard]] Result<const Entry*> check(const Outcome& outcome, Time begin, Time end) const;
  /// Counts a checked outcome, and forgets a packet with its last copy.
  void settle(const Outcome& outcome);

  [[nodiscard]] const PacketCounts& counts() const { return counts_; }
  /// Pairs with a packet under way, by packet number; a packet to everyone makes a pair with each.
  void active(std::vector<Pair>& pairs) const;
  [[nodiscard]] bool idle() const { return open_.empty(); }

 private:
  std::uint32_t nodes_;
  PacketCounts counts_;
  std::unordered_map<PacketId, Entry> open_;
};

}  // namespace hyphos::cosim
