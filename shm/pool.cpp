#include "shm/pool.hpp"

#include <algorithm>
#include <bit>

#include "base/hot.hpp"
#include "hyphos/time.hpp"
#include "shm/participant.hpp"

namespace hyphos::shm {
namespace {

constexpr std::uint64_t kSmallestSlot = 256;
constexpr std::uint64_t kFirstSegment = 4 << 20;  // bytes of the first segment of a class
// Bytes of the largest segment, unless one slot is larger.
constexpr std::uint64_t kLargestGrowth = 256 << 20;
constexpr std::uint64_t kFirstSlots = 128;
constexpr std::uint32_t kLooksPerTake = 2;

}  // namespace

const char OwnedSlot::kKind = 0;

HYPHOS_HOT void OwnedSlot::release() noexcept {
  if (pool_->mark_.is_inherited()) return;  // the slot belongs to the parent
  // Keeps the pool (and this object) alive until the slot is back in its list.
  const std::shared_ptr<Participant> keep = std::move(participant_);
  pool_->give_back(this);
}

Pool::Pool(const Domain& domain, Control& owner, std::uint64_t limit_bytes)
    : domain_(domain), owner_(owner), limit_(limit_bytes) {}

HYPHOS_HOT std::uint32_t Pool::class_of(std::size_t size) {
  if (size <= kSmallestSlot) return 0;
  if (size > class_size(kClasses - 1)) return kClasses;
  const std::uint64_t units = (size + kSmallestSlot - 1) / kSmallestSlot;    // >= 2
  const auto power = static_cast<std::uint32_t>(std::bit_width(units - 1));  // 2^power >= units
  // 1.5 * 2^(power-1) is between 2^(power-1) and 2^power. It needs power >= 2 to be whole units,
  // but 1.5 * 256 is a multiple of the cache line, too.
  const std::uint64_t middle = 3 * kSmallestSlot * (std::uint64_t{1} << power) / 4;
  return size <= middle ? 2 * power - 1 : 2 * power;
}

HYPHOS_HOT std::uint64_t Pool::class_size(std::uint32_t index) {
  const std::uint64_t power = kSmallestSlot << (index / 2);
  return index % 2 == 0 ? power : power + power / 2;
}

std::uint64_t Pool::slot_size_for(std::size_t size) {
  const std::uint32_t index = class_of(size);
  return index < kClasses ? class_size(index) : 0;
}

HYPHOS_HOT void Pool::push_flight(SizeClass& of, OwnedSlot* slot) {
  slot->next_ = nullptr;
  (of.newest == nullptr ? of.oldest : of.newest->next_) = slot;
  of.newest = slot;
  ++of.in_flight;
}

HYPHOS_HOT void Pool::harvest(SizeClass& of, std::uint32_t most, bool one) {
  for (std::uint32_t looks = std::min(most, of.in_flight); looks > 0; --looks) {
    OwnedSlot* slot = of.oldest;
    of.oldest = slot->next_;
    if (of.oldest == nullptr) of.newest = nullptr;
    --of.in_flight;
    if (!slot->segment_->find_free(slot->slot_)) {
      push_flight(of, slot);  // still held: move it to the end, so that it does not hide the others
      continue;
    }
    slot->next_ = of.free;
    of.free = slot;
    if (one) return;
  }
}

bool Pool::grow(std::uint32_t index, SizeClass& of) {
  const std::uint64_t slot_size = class_size(index);
  const std::uint64_t each = slot_size + sizeof(SlotControl);
  const std::uint64_t used = bytes_.load();
  if (used >= limit_) return false;
  std::uint64_t wanted =
      of.total != 0 ? of.total : std::clamp<std::uint64_t>(kFirstSegment / each, 2, kFirstSlots);
  wanted = std::min(wanted, std::max<std::uint64_t>(kLargestGrowth / each, 1));
  // A full file system may still have room for one slot.
  for (const std::uint64_t slots : {wanted, std::uint64_t{1}}) {
    const auto layout = segment_layout(slots, slot_size);
    if (!layout || layout->size > limit_ - used) continue;
    const MutexLock lock(segments_mutex_);
    if (segments_.size() >= kMaxSegments) {
      std::uint64_t suppressed = 0;
      if (growth_log_.allow(suppressed)) {
        log::warn("shm", "this process has reached the limit of " + std::to_string(kMaxSegments) +
                             " pool files. Send messages of fewer different sizes, or restart it");
      }
      return false;
    }
    const auto number = static_cast<std::uint32_t>(segments_.size());
    auto segment = Segment::create(domain_, owner_, number, *layout);
    if (!segment) {
      std::uint64_t suppressed = 0;
      if (growth_log_.allow(suppressed)) log::warn("shm", segment.error().to_string());
      continue;
    }
    segments_.push_back(*segment);
    by_number_[number].store(segment->get(), std::memory_order_release);
    owner_.header().segments.store(number + 1, std::memory_order_release);
    bytes_.fetch_add(layout->size);
    auto owners = std::make_unique<OwnedSlot[]>(slots);
    for (std::uint64_t i = slots; i-- > 0;) {
      OwnedSlot& slot = owners[i];
      slot.segment_ = segment->get();
      slot.pool_ = this;
      slot.slot_ = static_cast<std::uint32_t>(i);
      slot.size_class_ = index;
      slot.next_ = of.free;
      of.free = &slot;
    }
    of.owners.push_back(std::move(owners));
    of.total += static_cast<std::uint32_t>(slots);
    return true;
  }
  return false;
}

HYPHOS_HOT OwnedSlot* Pool::take_from(std::uint32_t index, bool may_grow) {
  SizeClass& of = classes_[index];
  bool grown = false;
  OwnedSlot* slot = nullptr;
  {
    const MutexLock lock(of.mutex);
    harvest(of, kLooksPerTake, false);
    if (of.free == nullptr) harvest(of, of.in_flight, true);
    if (of.free == nullptr && may_grow) grown = grow(index, of);
    slot = of.free;
    if (slot != nullptr) of.free = slot->next_;
  }
  if (grown && on_growth_) on_growth_();
  return slot;
}

HYPHOS_HOT OwnedSlot* Pool::take(std::size_t size, const std::shared_ptr<Participant>& self) {
  const std::uint32_t index = class_of(size);
  if (index >= kClasses) return nullptr;
  OwnedSlot* slot = take_from(index, true);
  // The limit is reached: use a larger slot, up to four classes larger.
  constexpr std::uint32_t kLarger = 4;
  for (std::uint32_t i = index + 1; slot == nullptr && i < std::min(index + kLarger, kClasses);
       ++i) {
    slot = take_from(i, false);
  }
  if (slot == nullptr) return nullptr;
  slot->participant_ = self;
  slot->header_used_.store(false, std::memory_order_relaxed);
  slot->reset_refs();
  return slot;
}

bool Pool::fits(std::size_t size) const {
  const std::uint32_t index = class_of(size);
  if (index >= kClasses) return false;
  const auto layout = segment_layout(1, class_size(index));
  return layout && layout->size <= limit_;
}

std::uint64_t Pool::largest() const {
  for (std::uint32_t index = kClasses; index-- > 0;) {
    if (fits(class_size(index))) return class_size(index);
  }
  return 0;
}

OwnedSlot* Pool::wait(std::size_t size, const std::shared_ptr<Participant>& self,
                      std::int64_t deadline_ns, const std::atomic<bool>& cancelled) {
  std::atomic<std::uint32_t>& waiters = owner_.header().pool_waiters;
  if (!fits(size)) return take(size, self);
  for (;;) {
    if (OwnedSlot* slot = take(size, self)) return slot;
    waiters.store(1, std::memory_order_seq_cst);
    if (OwnedSlot* slot = take(size, self)) return slot;
    if (cancelled.load() || (deadline_ns != 0 && monotonic_now().ns >= deadline_ns)) return nullptr;
    futex_wait(waiters, 1, deadline_ns);
  }
}

HYPHOS_HOT void Pool::give_back(OwnedSlot* slot) {
  SizeClass& of = classes_[slot->size_class_];
  {
    const MutexLock lock(of.mutex);
    if (slot->segment_->untouched(slot->slot_)) {
      slot->next_ = of.free;
      of.free = slot;
    } else {
      push_flight(of, slot);
    }
  }
  // A read-modify-write, so that the thread that set the flag sees the list: see wake().
  std::atomic<std::uint32_t>& waiters = owner_.header().pool_waiters;
  if (waiters.fetch_add(0, std::memory_order_seq_cst) != 0) wake(waiters);
}

std::shared_ptr<Segment> Pool::shared_segment(std::uint32_t number) const {
  const MutexLock lock(segments_mutex_);
  return number < segments_.size() ? segments_[number] : nullptr;
}

std::vector<std::shared_ptr<Segment>> Pool::segments() const {
  const MutexLock lock(segments_mutex_);
  return segments_;
}

}  // namespace hyphos::shm
