#include "shm/slot_ref.hpp"

#include <algorithm>

#include "base/hot.hpp"
#include "shm/participant.hpp"

namespace hyphos::shm {

const char SlotRef::kKind = 0;

void RelayedHold::received(std::uint32_t slot) {
  const MutexLock lock(mutex_);
  ++counts_[slot];
  ++total_;
}

void RelayedHold::release(std::uint32_t slot) {
  const MutexLock lock(mutex_);
  --counts_[slot];
  --total_;
  segment_->release_hold(slot, entry_);
  if (settled_ && total_ == 0) segment_->mark_done(entry_);
}

void RelayedHold::settle() {
  const MutexLock lock(mutex_);
  for (std::uint32_t slot = 0; slot < counts_.size(); ++slot) {
    segment_->settle(slot, entry_, counts_[slot]);
  }
  settled_ = true;
  if (total_ == 0) segment_->mark_done(entry_);
  segment_->wake_owner();
}

HYPHOS_HOT void SlotRef::release() noexcept {
  if (hold_->participant->held().mark_.is_inherited()) return;  // the hold belongs to the parent
  // Kept until the end: the last reference may free this object's memory, too.
  const std::shared_ptr<const SegmentHold> segment_hold = std::move(hold_);
  if (segment_hold->relayed != nullptr) {
    segment_hold->relayed->release(slot_);
  } else {
    segment_hold->segment->release_hold(slot_, segment_hold->entry);
  }
  segment_hold->segment->wake_owner();
  segment_hold->participant->held().give_back(this);
}

HYPHOS_HOT SlotRef* SlotRefs::take(const std::shared_ptr<const SegmentHold>& segment_hold,
                                   std::uint32_t slot) {
  SlotRef* held = nullptr;
  {
    const MutexLock lock(mutex_);
    if (free_ == nullptr) grow(std::max<std::size_t>(total_, 64));
    held = free_;
    free_ = held->next_;
  }
  held->hold_ = segment_hold;
  held->slot_ = slot;
  held->reset_refs();
  if (segment_hold->relayed != nullptr) segment_hold->relayed->received(slot);
  return held;
}

HYPHOS_HOT void SlotRefs::give_back(SlotRef* held) {
  const MutexLock lock(mutex_);
  held->next_ = free_;
  free_ = held;
}

void SlotRefs::grow(std::size_t count) {
  auto block = std::make_unique<SlotRef[]>(count);
  for (std::size_t i = 0; i < count; ++i) {
    block[i].next_ = free_;
    free_ = &block[i];
  }
  total_ += count;
  blocks_.push_back(std::move(block));
}

void SlotRefs::reserve_more(std::size_t count) {
  const MutexLock lock(mutex_);
  grow(count);
}

Result<std::shared_ptr<Segment>> Segments::get(const Domain& domain, std::uint64_t owner,
                                               std::uint32_t number) {
  const MutexLock lock(mutex_);
  const std::pair key{owner, number};
  if (const auto at = segments_.find(key); at != segments_.end()) return at->second;
  auto segment = Segment::open(domain, owner, number);
  if (segment) segments_.emplace(key, *segment);
  return segment;
}

std::shared_ptr<RelayedHold> Segments::relayed(const std::shared_ptr<Segment>& segment,
                                               std::uint64_t via, std::uint64_t self) {
  const MutexLock lock(mutex_);
  for (const auto& known : relayed_) {
    if (known->segment() == segment.get() && known->via() == via) return known;
  }
  const HolderRef entry = segment->find(self, via);
  if (!entry.valid()) return nullptr;
  return relayed_.emplace_back(std::make_shared<RelayedHold>(segment, via, entry));
}

std::vector<std::shared_ptr<RelayedHold>> Segments::take_relayed(std::uint64_t via) {
  const MutexLock lock(mutex_);
  std::vector<std::shared_ptr<RelayedHold>> taken;
  std::erase_if(relayed_, [&](const std::shared_ptr<RelayedHold>& record) {
    if (record->via() == via) taken.push_back(record);
    return record->via() == via;
  });
  return taken;
}

std::vector<std::shared_ptr<Segment>> Segments::all() const {
  const MutexLock lock(mutex_);
  std::vector<std::shared_ptr<Segment>> list;
  for (const auto& [key, segment] : segments_) list.push_back(segment);
  return list;
}

void Segments::abandon(std::uint64_t owner) {
  const MutexLock lock(mutex_);
  std::erase_if(segments_, [&](const auto& entry) {
    if (entry.first.first != owner) return false;
    entry.second->set_orphan();
    return true;
  });
  std::erase_if(relayed_, [&](const std::shared_ptr<RelayedHold>& record) {
    return record->segment()->owner() == owner;
  });
}

void Segments::clear() {
  const MutexLock lock(mutex_);
  segments_.clear();
  relayed_.clear();
}

}  // namespace hyphos::shm
