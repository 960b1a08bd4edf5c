#include "transport/shm/peer.hpp"

namespace hyphos::transport::shm_detail {

shm::HolderRef Peer::claim_entry(shm::Segment& own, std::uint64_t self) {
  const MutexLock lock(mutex_);
  if (dead_.load()) return {};  // or it would outlive the sweep that follows a death
  const shm::HolderRef made = own.claim(id, self);
  if (made.valid()) own_entries_[own.number()].store(pack(made), std::memory_order_release);
  return made;
}

shm::HolderRef Peer::foreign_entry(const std::shared_ptr<shm::Segment>& segment,
                                   std::uint64_t self) {
  const MutexLock lock(mutex_);
  if (dead_.load()) return {};
  auto& known = foreign_entries_[{segment->owner(), segment->number()}];
  if (!known.second.valid()) known = {segment, segment->claim(id, self)};
  return known.second;
}

std::pair<std::shared_ptr<shm::Segment>, shm::HolderRef> Peer::relayed(std::uint64_t owner,
                                                                       std::uint32_t number) {
  const MutexLock lock(mutex_);
  const auto at = foreign_entries_.find({owner, number});
  return at != foreign_entries_.end() ? at->second
                                      : std::pair<std::shared_ptr<shm::Segment>, shm::HolderRef>();
}

void Peer::mark_dead() {
  const MutexLock lock(mutex_);
  dead_.store(true, std::memory_order_release);
  for (auto& [key, known] : foreign_entries_) {
    if (known.second.valid()) known.first->revoke(known.second);
    known.first->wake_owner();
  }
}

}  // namespace hyphos::transport::shm_detail
