#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "shm/participant.hpp"

namespace hyphos::transport::shm_detail {

/// A publication of a peer for a port of this process.
struct Match {
  std::uint64_t peer = 0;
  std::uint64_t port = 0;         ///< its serial
  std::uint64_t publication = 0;  ///< its serial
  auto operator<=>(const Match&) const = default;
};

/// The rings of this process, as its control file shows them to the senders. A refusal is a record
/// without a ring: it gives the sender the reason. Not thread-safe.
class RingTable {
 public:
  [[nodiscard]] bool has_ring(const Match& match) const { return rings_.contains(match); }
  [[nodiscard]] bool has_refusals() const { return !refusals_.empty(); }

  /// Reserves an index for a ring. Empty: the table is full.
  [[nodiscard]] std::optional<std::uint32_t> take();
  /// Returns an index without a ring.
  void give_back(std::uint32_t index) { used_[index] = false; }
  /// Shows the ring to its sender, in the place of a refusal of the same match. After a failure,
  /// the caller still has the index.
  [[nodiscard]] Result<void> add_ring(shm::Control& own, const Match& match, std::uint32_t index,
                                      const shm::RingRecord& record);
  void remove_ring(shm::Control& own, const Match& match, std::uint32_t index);
  /// False if the sender sees no new record: it already has one, or the table has no room.
  [[nodiscard]] bool add_refusal(shm::Control& own, const Match& match,
                                 const shm::RingRecord& record);
  void remove_refusals(shm::Control& own, const std::function<bool(const Match&)>& which);

 private:
  [[nodiscard]] std::optional<std::uint32_t> take_below(std::uint32_t limit);

  std::map<Match, std::uint32_t> rings_;     ///< the index of each ring
  std::map<Match, std::uint32_t> refusals_;  ///< the index of each refusal
  std::vector<bool> used_;                   ///< by a ring or by a refusal
};

}  // namespace hyphos::transport::shm_detail
