#include "shm/segment.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

#include "base/hot.hpp"

namespace hyphos::shm {
namespace {

constexpr std::uint32_t kCountMask = 0xffff;
constexpr std::uint32_t kLastGeneration = 0xffff;
constexpr std::uint64_t kRetired = ~std::uint64_t{0};
constexpr std::uint32_t kGroupFlags = (std::uint32_t{1} << (kMaxHolderGroups - 1)) - 1;
// Above this size, faulting in all pages would delay the receiving thread for too long. The control
// thread does it instead.
constexpr std::uint64_t kPopulateAtOnce = 1 << 20;

constexpr std::uint32_t generation_of(std::uint32_t word) { return word >> 16; }
constexpr std::uint32_t make_state(std::uint32_t generation, Segment::State state) {
  return generation << 16 | static_cast<std::uint32_t>(state);
}

/// H2
inline bool counts(std::uint32_t word, const HolderEntry& entry) {
  if ((word & kCountMask) == 0) return false;
  const std::uint32_t state = entry.state.load(std::memory_order_acquire);
  return state == make_state(generation_of(word), Segment::State::live) ||
         state == make_state(generation_of(word), Segment::State::done);
}

inline bool any_counts(std::uint64_t bits,
                       const std::array<std::atomic<std::uint32_t>, kGroupHolders>& holds,
                       const std::array<HolderEntry, kGroupHolders>& entries) {
  for (; bits != 0; bits &= bits - 1) {
    const auto i = static_cast<std::uint32_t>(std::countr_zero(bits));
    if (counts(holds[i].load(std::memory_order_seq_cst), entries[i])) return true;
  }
  return false;
}

/// Adds one hold. False: the generation has ended (H3), or the count is at its limit.
inline bool count_up(std::atomic<std::uint32_t>& word, std::uint32_t generation) {
  std::uint32_t seen = word.load(std::memory_order_acquire);
  for (;;) {
    if (generation_of(seen) > generation) return false;
    const std::uint32_t count = generation_of(seen) == generation ? seen & kCountMask : 0;
    if (count == kCountMask) return false;
    const std::uint32_t next = generation << 16 | (count + 1);
    if (word.compare_exchange_weak(seen, next, std::memory_order_acq_rel,
                                   std::memory_order_acquire)) {
      return true;
    }
  }
}

inline bool count_down(std::atomic<std::uint32_t>& word, std::uint32_t generation) {
  std::uint32_t seen = word.load(std::memory_order_acquire);
  do {
    if (generation_of(seen) != generation || (seen & kCountMask) == 0) return false;
  } while (!word.compare_exchange_weak(seen, seen - 1, std::memory_order_seq_cst,
                                       std::memory_order_acquire));
  return true;
}

}  // namespace

Result<std::shared_ptr<Segment>> Segment::create(const Domain& domain, const Control& owner,
                                                 std::uint32_t number,
                                                 const SegmentLayout& layout) {
  const std::string name = pool_name(owner.id(), number);
  auto file = domain.create(layout.size, name);
  if (!file) return file.error();
  auto head = Mapping::map(file->get(), 0, layout.payload_offset, Mapping::Access::write, true);
  if (!head) return head.error();
  auto body = Mapping::map(file->get(), layout.payload_offset, layout.size - layout.payload_offset,
                           Mapping::Access::write, true);
  if (!body) return body.error();
  auto segment = std::make_shared<Segment>();
  segment->domain_ = &domain;
  segment->head_ = std::move(*head);
  segment->body_ = std::move(*body);
  segment->payload_ = segment->body_.data();
  segment->layout_ = layout;
  segment->owner_ = owner.id();
  segment->number_ = number;
  segment->owner_control_ = &owner.header();
  SegmentHeader& header = segment->header();
  header.file = {kMagic, kLayoutVersion, FileKind::pool, owner.id(), layout.size};
  header.number = number;
  header.slots = layout.slots;
  header.slot_size = layout.slot_size;
  for (HolderEntry& entry : header.holders) entry.state.store(make_state(1, State::free));
  if (auto linked = domain.publish(*file, name); !linked) return linked.error();
  return segment;
}

Result<std::shared_ptr<Segment>> Segment::open(const Domain& domain, std::uint64_t owner,
                                               std::uint32_t number) {
  const std::string name = pool_name(owner, number);
  std::uint64_t size = 0;
  auto file = domain.open_file(name, size);
  if (!file) return file.error();
  const Error bad{Code::corrupt, "is not a pool of this participant", domain.path() + "/" + name};
  if (size < sizeof(SegmentHeader)) return bad;
  auto header = Mapping::map(file->get(), 0, sizeof(SegmentHeader), Mapping::Access::read, false);
  if (!header) return header.error();
  const auto layout =
      check_segment(*reinterpret_cast<const SegmentHeader*>(header->data()), owner, number, size);
  if (!layout) return bad;
  auto head = Mapping::map(file->get(), 0, layout->payload_offset, Mapping::Access::write, true);
  if (!head) return head.error();
  const std::uint64_t body_size = layout->size - layout->payload_offset;
  auto body = Mapping::map(file->get(), layout->payload_offset, body_size, Mapping::Access::read,
                           body_size <= kPopulateAtOnce);
  if (!body) return body.error();
  auto segment = std::make_shared<Segment>();
  // The owner's doorbell. Without it (the owner has just died), there is no thread to wake.
  std::uint64_t control_size = 0;
  auto control = domain.open_file(control_name(owner), control_size);
  if (control && control_size >= sizeof(ControlHeader)) {
    auto page =
        Mapping::map(control->get(), 0, sizeof(ControlHeader), Mapping::Access::write, true);
    if (page) {
      segment->owner_page_ = std::move(*page);
      segment->owner_control_ = reinterpret_cast<ControlHeader*>(segment->owner_page_.data());
    }
  }
  segment->domain_ = &domain;
  segment->head_ = std::move(*head);
  segment->body_ = std::move(*body);
  segment->payload_ = segment->body_.data();
  segment->layout_ = *layout;
  segment->owner_ = owner;
  segment->number_ = number;
  return segment;
}

HolderGroup* Segment::group(std::uint32_t number) const {
  HolderGroup* const known = groups_[number].load(std::memory_order_acquire);
  return known != nullptr ? known : map_group(number);
}

HolderGroup* Segment::map_group(std::uint32_t number) const {
  const MutexLock lock(groups_mutex_);
  if (HolderGroup* known = groups_[number].load()) return known;
  std::uint64_t size = 0;
  auto file = domain_->open_file(pool_name(owner_, number_), size);
  const std::uint64_t at = layout_.group_offset(number);
  if (!file || size < at + layout_.group_size) return nullptr;
  auto mapping = Mapping::map(file->get(), at, layout_.group_size, Mapping::Access::write, false);
  if (!mapping) return nullptr;
  auto* made = reinterpret_cast<HolderGroup*>(mapping->data());
  for (HolderEntry& each : made->holders) {
    std::uint32_t zero = 0;
    each.state.compare_exchange_strong(zero, make_state(1, State::free));
  }
  group_maps_.push_back(std::move(*mapping));
  groups_[number].store(made, std::memory_order_release);
  return made;
}

// H10
bool Segment::add_group(std::uint32_t number) {
  if (number >= kMaxHolderGroups) return false;
  {
    std::uint64_t size = 0;
    const std::string name = pool_name(owner_, number_);
    const auto file = domain_->open_file(name, size);
    if (!file) return false;
    const std::uint64_t at = layout_.group_offset(number);
    if (!reserve(*file, at, layout_.group_size, domain_->path() + "/" + name)) return false;
  }
  if (group(number) == nullptr) return false;
  std::uint32_t before = number - 1;
  header().groups.compare_exchange_strong(before, number, std::memory_order_acq_rel);
  return true;
}

SlotHolds* Segment::further(std::uint32_t slot, std::uint32_t group_number) const {
  HolderGroup* const of = group(group_number);
  return of != nullptr ? reinterpret_cast<SlotHolds*>(of + 1) + slot : nullptr;
}

HolderEntry* Segment::entry(std::uint32_t index) const {
  if (index < kGroupHolders) return &header().holders[index];
  HolderGroup* const of = group(index / kGroupHolders);
  return of != nullptr ? &of->holders[index % kGroupHolders] : nullptr;
}

std::atomic<std::uint32_t>* Segment::further_word(std::uint32_t slot, std::uint32_t index) const {
  SlotHolds* const of = further(slot, index / kGroupHolders);
  return of != nullptr ? &of->holds[index % kGroupHolders] : nullptr;
}

std::uint32_t Segment::entries() const {
  const std::uint32_t there =
      std::min(header().groups.load(std::memory_order_acquire), kMaxHolderGroups - 1);
  std::uint32_t usable = 0;
  while (usable < there && group(usable + 1) != nullptr) ++usable;
  return (usable + 1) * kGroupHolders;
}

HolderRef Segment::find(std::uint64_t receiver, std::uint64_t via) const {
  const std::uint32_t all = entries();
  for (std::uint32_t i = 0; i < all; ++i) {
    const HolderEntry& at = *entry(i);
    const std::uint32_t state = at.state.load(std::memory_order_acquire);
    const std::uint32_t generation = generation_of(state);
    if (state != make_state(generation, State::live) || generation == 0) continue;
    if (at.receiver.load(std::memory_order_acquire) != receiver) continue;
    if (at.via.load(std::memory_order_acquire) != via) continue;
    if (at.state.load(std::memory_order_acquire) == state) return {i, generation};
  }
  return {};
}

HolderRef Segment::claim(std::uint64_t receiver, std::uint64_t via) {
  if (const HolderRef found = find(receiver, via); found.valid()) return found;
  std::uint32_t all = entries();
  for (std::uint32_t i = 0;; ++i) {
    if (i == all) {
      if (!add_group(all / kGroupHolders)) return {};
      all += kGroupHolders;
    }
    HolderEntry& at = *entry(i);
    const std::uint32_t state = at.state.load(std::memory_order_acquire);
    if (state == make_state(generation_of(state), State::done)) {
      revoke({i, generation_of(state)}, State::done);
    }
    std::uint64_t unused = 0;
    if (!at.via.compare_exchange_strong(unused, via, std::memory_order_acq_rel)) continue;
    // The entry is claimed (H9). No other process changes the state of a claimed entry that is not
    // live.
    const std::uint32_t generation = generation_of(at.state.load(std::memory_order_acquire));
    if (generation == 0) continue;  // corrupted by another process: leave it claimed
    at.receiver.store(receiver, std::memory_order_release);
    at.state.store(make_state(generation, State::live), std::memory_order_release);
    return {i, generation};
  }
}

void Segment::revoke(HolderRef ref, State from) {
  HolderEntry& entry = *this->entry(ref.index);
  std::uint32_t expected = make_state(ref.generation, from);
  const bool last = ref.generation == kLastGeneration;
  // No generation can follow the last one. The state alone ends it, permanently.
  const std::uint32_t next = make_state(last ? kLastGeneration : ref.generation + 1, State::free);
  if (!entry.state.compare_exchange_strong(expected, next, std::memory_order_seq_cst)) return;
  entry.receiver.store(0, std::memory_order_release);
  entry.via.store(last ? kRetired : 0, std::memory_order_release);
}

void Segment::mark_done(HolderRef ref) {
  std::uint32_t expected = make_state(ref.generation, State::live);
  entry(ref.index)->state.compare_exchange_strong(expected, make_state(ref.generation, State::done),
                                                  std::memory_order_seq_cst);
}

void Segment::sweep(const std::function<bool(std::uint64_t)>& is_dead) {
  const std::uint32_t all = entries();
  for (std::uint32_t i = 0; i < all; ++i) {
    HolderEntry& entry = *this->entry(i);
    const std::uint64_t via = entry.via.load(std::memory_order_acquire);
    if (via == 0 || via == kRetired) continue;
    const std::uint32_t state = entry.state.load(std::memory_order_acquire);
    const std::uint32_t generation = generation_of(state);
    if (state == make_state(generation, State::live)) {
      const std::uint64_t receiver = entry.receiver.load(std::memory_order_acquire);
      // A receiver of 0 means that the entry is just being ended.
      if (receiver != 0 && is_dead(receiver)) revoke({i, generation}, State::live);
    } else if (state == make_state(generation, State::done)) {
      revoke({i, generation}, State::done);
    } else if (is_dead(via)) {
      // The claimer died between claiming and using the entry, or while it was ending the entry.
      entry.via.store(generation == kLastGeneration ? kRetired : 0, std::memory_order_release);
    }
  }
}

// The functions below call their further-group versions only at the end, so up to 64 receivers cost
// nothing extra.
HYPHOS_HOT bool Segment::add_hold(std::uint32_t slot, HolderRef entry, bool count_in_adds) {
  assert(slot < slots() && entry.index < kMaxHolders);
  if (entry.index >= kGroupHolders) [[unlikely]] {
    return add_further(slot, entry, count_in_adds);
  }
  SlotControl& at = control(slot);
  const std::uint64_t bit = std::uint64_t{1} << entry.index;
  if ((at.maybe.load(std::memory_order_relaxed) & bit) == 0) {
    at.maybe.fetch_or(bit, std::memory_order_acq_rel);
  }
  if (!count_up(at.holds[entry.index], entry.generation)) return false;
  if (count_in_adds) at.adds.fetch_add(1, std::memory_order_acq_rel);
  return true;
}

bool Segment::add_further(std::uint32_t slot, HolderRef entry, bool count_in_adds) {
  const std::uint32_t number = entry.index / kGroupHolders;
  SlotHolds* const of = further(slot, number);
  if (of == nullptr) return false;
  SlotControl& at = control(slot);
  at.more.fetch_or(std::uint32_t{1} << (number - 1), std::memory_order_acq_rel);
  const std::uint32_t place = entry.index % kGroupHolders;
  of->maybe.fetch_or(std::uint64_t{1} << place, std::memory_order_acq_rel);
  if (!count_up(of->holds[place], entry.generation)) return false;
  if (count_in_adds) at.adds.fetch_add(1, std::memory_order_acq_rel);
  return true;
}

HYPHOS_HOT bool Segment::release_hold(std::uint32_t slot, HolderRef entry) {
  assert(slot < slots() && entry.index < kMaxHolders);
  if (entry.index >= kGroupHolders) [[unlikely]]
    return release_further(slot, entry);
  return count_down(control(slot).holds[entry.index], entry.generation);
}

bool Segment::release_further(std::uint32_t slot, HolderRef entry) {
  std::atomic<std::uint32_t>* const word = further_word(slot, entry.index);
  return word != nullptr && count_down(*word, entry.generation);
}

void Segment::settle(std::uint32_t slot, HolderRef entry, std::uint32_t count) {
  std::atomic<std::uint32_t>* const word = this->word(slot, entry.index);
  if (word == nullptr) return;
  const std::uint32_t seen = word->load(std::memory_order_acquire);
  if (generation_of(seen) != entry.generation) return;  // never used, or already ended
  word->store(entry.generation << 16 | count, std::memory_order_seq_cst);
}

bool Segment::is_held(std::uint32_t slot) const {
  const SlotControl& at = control(slot);
  const std::uint64_t bits = at.maybe.load(std::memory_order_acquire);
  if (any_counts(bits, at.holds, header().holders)) return true;
  const std::uint32_t more = at.more.load(std::memory_order_acquire);
  return more != 0 && is_held_further(slot, more);
}

bool Segment::is_held_further(std::uint32_t slot, std::uint32_t more) const {
  for (more &= kGroupFlags; more != 0; more &= more - 1) {
    const auto number = static_cast<std::uint32_t>(std::countr_zero(more)) + 1;
    const SlotHolds* const of = further(slot, number);
    if (of == nullptr) return true;
    const std::uint64_t bits = of->maybe.load(std::memory_order_acquire);
    if (any_counts(bits, of->holds, group(number)->holders)) return true;
  }
  return false;
}

void Segment::clear_further(std::uint32_t slot, std::uint32_t more) {
  for (std::uint32_t bits = more & kGroupFlags; bits != 0; bits &= bits - 1) {
    const auto number = static_cast<std::uint32_t>(std::countr_zero(bits)) + 1;
    if (SlotHolds* of = further(slot, number)) of->maybe.store(0, std::memory_order_relaxed);
  }
  control(slot).more.store(0, std::memory_order_relaxed);
}

std::uint32_t Segment::holders() const {
  std::uint32_t used = 0;
  const std::uint32_t all = entries();
  for (std::uint32_t i = 0; i < all; ++i) {
    const HolderEntry* const at = entry(i);
    if (at == nullptr) break;
    const std::uint64_t via = at->via.load(std::memory_order_relaxed);
    used += via != 0 && via != kRetired ? 1 : 0;
  }
  return used;
}

HYPHOS_HOT bool Segment::find_free(std::uint32_t slot) {
  SlotControl& at = control(slot);
  if (at.more.load(std::memory_order_acquire) != 0) [[unlikely]]
    return find_free_further(slot);
  const std::uint32_t before = at.adds.load(std::memory_order_acquire);
  const std::uint64_t bits = at.maybe.load(std::memory_order_acquire);
  if (any_counts(bits, at.holds, header().holders)) return false;
  // A concurrent set of a `more` bit is followed by a count in `adds`, or by a hold that is counted
  // (H6). That holds only if `more` is read between the two reads of `adds`.
  if (at.more.load(std::memory_order_acquire) != 0) return false;
  if (at.adds.load(std::memory_order_acquire) != before) return false;
  at.maybe.store(0, std::memory_order_relaxed);
  return true;
}

bool Segment::find_free_further(std::uint32_t slot) {
  SlotControl& at = control(slot);
  const std::uint32_t before = at.adds.load(std::memory_order_acquire);
  if (is_held(slot)) return false;
  if (at.adds.load(std::memory_order_acquire) != before) return false;
  clear_further(slot, at.more.load(std::memory_order_relaxed));
  at.maybe.store(0, std::memory_order_relaxed);
  return true;
}

}  // namespace hyphos::shm
