#include "shm/held.hpp"

#include <algorithm>

#include "base/hot.hpp"
#include "shm/participant.hpp"

namespace hyphos::shm {

const char HeldSlot::kKind = 0;

void Forwarded::received(std::uint32_t slot) {
  const std::lock_guard lock(mutex_);
  ++counts_[slot];
  ++total_;
}

void Forwarded::release(std::uint32_t slot) {
  const std::lock_guard lock(mutex_);
  --counts_[slot];
  --total_;
  segment_->release_hold(slot, entry_);
  if (settled_ && total_ == 0) segment_->mark_done(entry_);
}

void Forwarded::settle() {
  const std::lock_guard lock(mutex_);
  for (std::uint32_t slot = 0; slot < counts_.size(); ++slot) {
    segment_->settle(slot, entry_, counts_[slot]);
  }
  settled_ = true;
  if (total_ == 0) segment_->mark_done(entry_);
  segment_->wake_owner();
}

HYPHOS_HOT void HeldSlot::release() noexcept {
  if (lease_->participant->held().mark_.is_inherited()) return;  // the hold is the parent's
  // Kept until the end: the last of them may take this object's memory along.
  const std::shared_ptr<const Lease> lease = std::move(lease_);
  if (lease->forwarded != nullptr) {
    lease->forwarded->release(slot_);
  } else {
    lease->segment->release_hold(slot_, lease->entry);
  }
  lease->segment->wake_owner();
  lease->participant->held().give_back(this);
}

HYPHOS_HOT HeldSlot* HeldSlots::take(const std::shared_ptr<const Lease>& lease,
                                     std::uint32_t slot) {
  HeldSlot* held = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (free_ == nullptr) grow(std::max<std::size_t>(total_, 64));
    held = free_;
    free_ = held->next_;
  }
  held->lease_ = lease;
  held->slot_ = slot;
  held->reset_refs();
  if (lease->forwarded != nullptr) lease->forwarded->received(slot);
  return held;
}

HYPHOS_HOT void HeldSlots::give_back(HeldSlot* held) {
  const std::lock_guard lock(mutex_);
  held->next_ = free_;
  free_ = held;
}

void HeldSlots::grow(std::size_t count) {
  auto block = std::make_unique<HeldSlot[]>(count);
  for (std::size_t i = 0; i < count; ++i) {
    block[i].next_ = free_;
    free_ = &block[i];
  }
  total_ += count;
  blocks_.push_back(std::move(block));
}

void HeldSlots::reserve_more(std::size_t count) {
  const std::lock_guard lock(mutex_);
  grow(count);
}

Result<std::shared_ptr<Segment>> Segments::get(const Domain& domain, std::uint64_t owner,
                                               std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  const std::pair key{owner, number};
  if (const auto at = segments_.find(key); at != segments_.end()) return at->second;
  auto segment = Segment::open(domain, owner, number);
  if (segment) segments_.emplace(key, *segment);
  return segment;
}

std::shared_ptr<Forwarded> Segments::forwarded(const std::shared_ptr<Segment>& segment,
                                               std::uint64_t via, std::uint64_t self) {
  const std::lock_guard lock(mutex_);
  for (const auto& known : forwarded_) {
    if (known->segment() == segment.get() && known->via() == via) return known;
  }
  const HolderRef entry = segment->find(self, via);
  if (!entry.valid()) return nullptr;
  return forwarded_.emplace_back(std::make_shared<Forwarded>(segment, via, entry));
}

std::vector<std::shared_ptr<Forwarded>> Segments::take_forwarded(std::uint64_t via) {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Forwarded>> taken;
  std::erase_if(forwarded_, [&](const std::shared_ptr<Forwarded>& record) {
    if (record->via() == via) taken.push_back(record);
    return record->via() == via;
  });
  return taken;
}

std::vector<std::shared_ptr<Segment>> Segments::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Segment>> list;
  for (const auto& [key, segment] : segments_) list.push_back(segment);
  return list;
}

void Segments::abandon(std::uint64_t owner) {
  const std::lock_guard lock(mutex_);
  std::erase_if(segments_, [&](const auto& entry) {
    if (entry.first.first != owner) return false;
    entry.second->set_orphan();
    return true;
  });
  std::erase_if(forwarded_, [&](const std::shared_ptr<Forwarded>& record) {
    return record->segment()->owner() == owner;
  });
}

void Segments::clear() {
  const std::lock_guard lock(mutex_);
  segments_.clear();
  forwarded_.clear();
}

}  // namespace hyphos::shm
