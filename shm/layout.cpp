#include "shm/layout.hpp"

#include <algorithm>

#include "base/hot.hpp"

namespace hyphos::shm {
namespace {

// The compiler could merge a plain copy with later reads of the same memory. It cannot merge this
// copy, so the checked value is the used value.
template <typename T>
T copy_once(const T& shared) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 8 == 0 && alignof(T) >= 8);
  std::array<std::uint64_t, sizeof(T) / 8> words;
  const auto* from = reinterpret_cast<const std::uint64_t*>(&shared);
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
  }
  T copy;
  std::memcpy(&copy, words.data(), sizeof copy);
  return copy;
}

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}

}  // namespace

HYPHOS_HOT bool read_message(const MessageHeader& shared, MessageHeader& copy) {
  constexpr std::size_t kFixedWords = offsetof(MessageHeader, part) / 8;
  const auto* from = reinterpret_cast<const std::uint64_t*>(&shared);
  auto load = [&](std::size_t i) { return __atomic_load_n(from + i, __ATOMIC_RELAXED); };
  std::array<std::uint64_t, sizeof(MessageHeader) / 8> words;
  for (std::size_t i = 0; i < kFixedWords; ++i) words[i] = load(i);
  std::memcpy(static_cast<void*>(&copy), words.data(), kFixedWords * 8);
  if (copy.parts == 0 || copy.parts > kMaxParts) return false;
  if ((copy.flags & kSimple) != 0) {
    if (copy.parts != 1) return false;
    copy.part[0] = {0, 0, 0, 0, copy.simple_size};
    return true;
  }
  const std::size_t all = kFixedWords + copy.parts * sizeof(Part) / 8;
  for (std::size_t i = kFixedWords; i < all; ++i) words[i] = load(i);
  std::memcpy(copy.part.data(), words.data() + kFixedWords, copy.parts * sizeof(Part));
  return true;
}

std::optional<SegmentLayout> segment_layout(std::uint64_t slots, std::uint64_t slot_size) {
  constexpr std::uint64_t kMaxSlots = 1 << 20;
  constexpr std::uint64_t kMaxSlotSize = std::uint64_t{1} << 40;
  if (slots == 0 || slots > kMaxSlots) return {};
  if (slot_size == 0 || slot_size > kMaxSlotSize || slot_size % kCacheLine != 0) return {};
  SegmentLayout layout;
  layout.slots = static_cast<std::uint32_t>(slots);
  layout.slot_size = slot_size;
  layout.control_offset = round_up(sizeof(SegmentHeader), kCacheLine);
  layout.payload_offset = round_up(layout.control_offset + slots * sizeof(SlotControl), kPage);
  layout.size = round_up(layout.payload_offset + slots * slot_size, kPage);  // < 2^62
  layout.group_size = round_up(sizeof(HolderGroup) + slots * sizeof(SlotHolds), kPage);
  return layout;
}

std::optional<SegmentLayout> check_segment(const SegmentHeader& shared, std::uint64_t owner,
                                           std::uint32_t number, std::uint64_t file_size) {
  if (file_size < sizeof(SegmentHeader)) return {};
  const auto file = copy_once(shared.file);
  if (!file.matches(FileKind::pool, owner, file.size)) return {};
  if (__atomic_load_n(&shared.number, __ATOMIC_RELAXED) != number) return {};
  const auto layout = segment_layout(__atomic_load_n(&shared.slots, __ATOMIC_RELAXED),
                                     __atomic_load_n(&shared.slot_size, __ATOMIC_RELAXED));
  if (!layout || layout->size != file.size || file_size < file.size) return {};
  // Groups of holders are at the end of the file, and each is complete.
  const std::uint64_t behind = file_size - file.size;
  const bool whole =
      behind % layout->group_size == 0 && behind / layout->group_size < kMaxHolderGroups;
  return whole ? layout : std::nullopt;
}

std::uint32_t check_ring(const RingHeader& shared, std::uint64_t receiver, std::uint64_t sender,
                         std::uint64_t file_size) {
  if (file_size < sizeof(RingHeader)) return 0;
  const auto file = copy_once(shared.file);
  if (!file.matches(FileKind::ring, receiver, file_size)) return 0;
  const std::uint32_t depth = __atomic_load_n(&shared.depth, __ATOMIC_RELAXED);
  if (depth == 0 || depth > kMaxDepth || ring_size(depth) != file_size) return 0;
  if (__atomic_load_n(&shared.sender, __ATOMIC_RELAXED) != sender) return 0;
  return __atomic_load_n(&shared.index, __ATOMIC_RELAXED) < kMaxRings ? depth : 0;
}

}  // namespace hyphos::shm
