#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "base/brief_mutex.hpp"
#include "base/mutex.hpp"
#include "shm/participant.hpp"

namespace hyphos::transport::shm_detail {

/// Another participant, as the sender and the receiver use it. The state of the directory about a
/// participant is in Directory::KnownPeer.
struct Peer {
  explicit Peer(shm::Control file) : control(std::move(file)), id(control.id()) {}

  shm::Control control;  ///< its tables are for the directory, under the mutex there
  const std::uint64_t id;

  /// Our holder entry for this peer in a segment of our own pool. Lock-free after the first time.
  [[nodiscard]] shm::HolderRef entry(shm::Segment& own, std::uint64_t self) {
    const std::uint32_t packed = own_entries_[own.number()].load(std::memory_order_acquire);
    return packed != 0 ? unpack(packed) : claim_entry(own, self);
  }
  /// The same in another participant's segment, to relay one of its slots.
  [[nodiscard]] shm::HolderRef foreign_entry(const std::shared_ptr<shm::Segment>& segment,
                                             std::uint64_t self);
  /// The segment and entry of a slot that was relayed before. Null if it was not.
  [[nodiscard]] std::pair<std::shared_ptr<shm::Segment>, shm::HolderRef> relayed(
      std::uint64_t owner, std::uint32_t number);
  /// Permits no new entries, and ends the entries in other participants' segments.
  void mark_dead();
  [[nodiscard]] bool dead() const { return dead_.load(std::memory_order_acquire); }

 private:
  static constexpr std::uint32_t pack(shm::HolderRef entry) {
    return entry.generation << 16 | entry.index;
  }
  static constexpr shm::HolderRef unpack(std::uint32_t packed) {
    return {packed & 0xffff, packed >> 16};
  }
  static_assert(shm::kMaxHolders <= 0x10000);
  [[nodiscard]] shm::HolderRef claim_entry(shm::Segment& own, std::uint64_t self);

  BriefMutex mutex_;
  std::atomic<bool> dead_{false};  ///< written under the mutex
  std::array<std::atomic<std::uint32_t>, shm::kMaxSegments> own_entries_{};
  std::map<std::pair<std::uint64_t, std::uint32_t>,
           std::pair<std::shared_ptr<shm::Segment>, shm::HolderRef>>
      foreign_entries_ HYPHOS_GUARDED_BY(mutex_);
};

}  // namespace hyphos::transport::shm_detail
