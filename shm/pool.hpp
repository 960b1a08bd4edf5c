#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/brief_mutex.hpp"
#include "base/fork.hpp"
#include "base/log.hpp"
#include "hyphos/buffer.hpp"
#include "shm/segment.hpp"

namespace hyphos::shm {

class Participant;
class Pool;

/// A slot of our own pool while this process uses it: lent for writing, being sent, or kept.
class OwnedSlot final : public BufferOwner {
 public:
  static const char kKind;
  [[nodiscard]] const void* kind() const noexcept override { return &kKind; }

  [[nodiscard]] Segment& segment() const { return *segment_; }
  [[nodiscard]] std::uint32_t slot() const { return slot_; }
  [[nodiscard]] const Participant* participant() const { return participant_.get(); }
  /// True for the first caller since the slot was taken: the slot's message header is that
  /// caller's.
  [[nodiscard]] bool claim_header() {
    return !header_used_.exchange(true, std::memory_order_acq_rel);
  }

 protected:
  void release() noexcept override;

 private:
  friend class Pool;

  Segment* segment_ = nullptr;
  Pool* pool_ = nullptr;
  OwnedSlot* next_ = nullptr;                 // in the free or in-flight list
  std::shared_ptr<Participant> participant_;  // while in use: keeps the mapping, and this object
  std::uint32_t slot_ = 0;
  std::uint32_t size_class_ = 0;
  std::atomic<bool> header_used_{false};
};

/// The slots that one participant sends from.
///
/// Thread-safe. Slots of one size class lie in segments that are made when they are needed. A slot
/// is in use (here), in flight (released here, held by receivers) or free; the first two become the
/// third without a message: the pool looks at slots in flight when it wants one (Segment, H6).
class Pool {
 public:
  Pool(const Domain& domain, Control& owner, std::uint64_t limit_bytes);

  /// A slot with at least `size` bytes, its reference count 1, or null if the limit is reached or
  /// the file system is full. Typically some 100 ns and no system call; a new segment costs the
  /// kernel's time to clear its pages.
  [[nodiscard]] OwnedSlot* take(std::size_t size, const std::shared_ptr<Participant>& self);
  /// The same, but waits for a slot until `deadline_ns` (0: for ever) or until `cancelled`.
  [[nodiscard]] OwnedSlot* wait(std::size_t size, const std::shared_ptr<Participant>& self,
                                std::int64_t deadline_ns, const std::atomic<bool>& cancelled);

  /// All segments made so far; they stay for the pool's life.
  [[nodiscard]] std::vector<std::shared_ptr<Segment>> segments() const;
  /// One of them, or null. Lock-free.
  [[nodiscard]] Segment* segment(std::uint32_t number) const {
    return number < kMaxSegments ? by_number_[number].load(std::memory_order_acquire) : nullptr;
  }
  [[nodiscard]] std::shared_ptr<Segment> shared_segment(std::uint32_t number) const;
  [[nodiscard]] std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t limit() const { return limit_; }
  /// False: no slot can ever be so large.
  [[nodiscard]] bool fits(std::size_t size) const;
  /// The bytes of the largest slot that fits.
  [[nodiscard]] std::uint64_t largest() const;
  /// Set once by the transport: called after a new segment was made, to tell the receivers.
  void on_growth(std::function<void()> call) { on_growth_ = std::move(call); }

  /// The bytes of the slot that take(size) would give.
  [[nodiscard]] static std::uint64_t slot_size_for(std::size_t size);

 private:
  friend class OwnedSlot;

  // 256 * {1, 1.5, 2, 3, 4, 6, ...} up to 2^40.
  static constexpr std::uint32_t kClasses = 65;
  struct SizeClass {
    BriefMutex mutex;
    OwnedSlot* free = nullptr;  // last in, first out: the warmest memory first
    OwnedSlot* oldest = nullptr;
    OwnedSlot* newest = nullptr;
    std::uint32_t in_flight = 0;
    std::uint32_t total = 0;
    std::vector<std::unique_ptr<OwnedSlot[]>> owners;
  };

  [[nodiscard]] static std::uint32_t class_of(std::size_t size);
  [[nodiscard]] static std::uint64_t class_size(std::uint32_t index);
  static void push_flight(SizeClass& of, OwnedSlot* slot);
  // Looks at up to `most` slots in flight, oldest first, and stops at the first free one if `one`.
  static void harvest(SizeClass& of, std::uint32_t most, bool one);
  [[nodiscard]] OwnedSlot* take_from(std::uint32_t index, bool may_grow);
  [[nodiscard]] bool grow(std::uint32_t index, SizeClass& of);
  void give_back(OwnedSlot* slot);

  const ForkMark mark_;
  const Domain& domain_;
  Control& owner_;
  const std::uint64_t limit_;
  std::atomic<std::uint64_t> bytes_{0};
  std::array<SizeClass, kClasses> classes_;
  mutable std::mutex segments_mutex_;
  std::vector<std::shared_ptr<Segment>> segments_;
  std::array<std::atomic<Segment*>, kMaxSegments> by_number_{};
  std::function<void()> on_growth_;
  log::OncePerSecond growth_log_;
};

}  // namespace hyphos::shm
