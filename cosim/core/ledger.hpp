#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cosim/core/method.hpp"
#include "cosim/core/packet.hpp"

namespace hyphos::cosim {

/// Counts copies of packets: one copy for each receiver. Invariant: sent = delivered + Σ dropped +
/// in_flight.
struct PacketCounts {
  std::uint64_t packets = 0;  ///< sends, independent of the number of receivers
  std::uint64_t sent = 0;
  std::uint64_t delivered = 0;
  std::array<std::uint64_t, kDropReasons> dropped{};
  std::uint64_t in_flight = 0;

  [[nodiscard]] std::uint64_t all_dropped() const;
  [[nodiscard]] bool balanced() const { return sent == delivered + all_dropped() + in_flight; }
};

/// Tracks every packet in flight and validates every outcome. Invalid outcomes are errors (corrupt)
/// and are not counted. An outcome is invalid if its packet is not in flight, if the copy already
/// has an outcome, or if a delivery precedes the send or has different bytes.
class Ledger {
 public:
  struct Entry {
    Packet packet;              ///< `stamp` is the time at which the program sent it
    Time entered = kNever;      ///< entry into the network, kNever while it waits outside
    std::uint32_t open = 0;     ///< copies without an outcome
    std::vector<bool> settled;  ///< by receiver, for a packet to everyone
  };

  explicit Ledger(std::uint32_t nodes) : nodes_(nodes) {}

  /// Records a packet with its time of sending and assigns its number. Errors: not_found.
  [[nodiscard]] Result<PacketId> send(Packet packet);
  void enter(PacketId id, Time time);
  /// Checks an outcome in [begin, end) and returns its packet. The pointer is valid until settle().
  [[nodiscard]] Result<const Entry*> check(const Outcome& outcome, Time begin, Time end) const;
  /// Counts a checked outcome. The last copy removes the packet.
  void settle(const Outcome& outcome);

  [[nodiscard]] const PacketCounts& counts() const { return counts_; }
  /// Appends the pairs with a packet in flight, by packet number. A packet to everyone makes a pair
  /// with each receiver.
  void active(std::vector<Pair>& pairs) const;
  /// The first packet in flight of a pair, 0 if there is none. Cost: grows with the packets in
  /// flight.
  [[nodiscard]] PacketId first_of(const Pair& pair) const;
  [[nodiscard]] bool idle() const { return open_.empty(); }

 private:
  std::uint32_t nodes_;
  PacketCounts counts_;
  std::unordered_map<PacketId, Entry> open_;
};

}  // namespace hyphos::cosim
