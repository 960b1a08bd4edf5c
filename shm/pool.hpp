#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/brief_mutex.hpp"
#include "base/fork.hpp"
#include "base/log.hpp"
#include "base/mutex.hpp"
#include "hyphos/buffer.hpp"
#include "shm/segment.hpp"

namespace hyphos::shm {

class Participant;
class Pool;

/// A slot of our own pool while this process uses it: loaned for writing, being sent, or cached.
class OwnedSlot final : public BufferOwner {
 public:
  static const char kKind;
  [[nodiscard]] const void* kind() const noexcept override { return &kKind; }

  [[nodiscard]] Segment& segment() const { return *segment_; }
  [[nodiscard]] std::uint32_t slot() const { return slot_; }
  [[nodiscard]] const Participant* participant() const { return participant_.get(); }
  /// True for the first caller since the slot was taken. That caller owns the slot's message
  /// header.
  [[nodiscard]] bool claim_header() {
    return !header_used_.exchange(true, std::memory_order_acq_rel);
  }

 protected:
  void release() noexcept override;

 private:
  friend class Pool;

  Segment* segment_ = nullptr;
  Pool* pool_ = nullptr;
  OwnedSlot* next_ = nullptr;                 // in the free list or the in-flight list
  std::shared_ptr<Participant> participant_;  // while in use: keeps mapping and object
  std::uint32_t slot_ = 0;
  std::uint32_t size_class_ = 0;
  std::atomic<bool> header_used_{false};
};

/// The slots from which one participant sends.
///
/// Thread-safe. Slots of one size class are in segments that are created on demand. A slot is in
/// use (by this process), in flight (released by this process, held by receivers) or free. No
/// message announces that a slot became free. Instead, the pool checks the slots in flight when it
/// needs a slot (Segment, H6).
class Pool {
 public:
  Pool(const Domain& domain, Control& owner, std::uint64_t limit_bytes);

  /// A slot with at least `size` bytes and a reference count of 1, or null if the limit is reached
  /// or the file system is full. Typically about 100 ns and no system call. A new segment costs the
  /// time in which the kernel clears its pages.
  [[nodiscard]] OwnedSlot* take(std::size_t size, const std::shared_ptr<Participant>& self);
  /// The same, but waits for a slot until `deadline_ns` (0: no deadline) or until `cancelled`.
  [[nodiscard]] OwnedSlot* wait(std::size_t size, const std::shared_ptr<Participant>& self,
                                std::int64_t deadline_ns, const std::atomic<bool>& cancelled);

  /// All segments created so far. They stay for the life of the pool.
  [[nodiscard]] std::vector<std::shared_ptr<Segment>> segments() const;
  /// One of the segments, or null. Lock-free.
  [[nodiscard]] Segment* segment(std::uint32_t number) const {
    return number < kMaxSegments ? by_number_[number].load(std::memory_order_acquire) : nullptr;
  }
  [[nodiscard]] std::shared_ptr<Segment> shared_segment(std::uint32_t number) const;
  [[nodiscard]] std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t limit() const { return limit_; }
  /// False: no slot can ever be this large.
  [[nodiscard]] bool fits(std::size_t size) const;
  /// The size in bytes of the largest slot that fits.
  [[nodiscard]] std::uint64_t largest() const;
  /// Set once by the transport. Called after a new segment was created, to notify the receivers.
  void on_growth(std::function<void()> call) { on_growth_ = std::move(call); }

  /// The size in bytes of the slot that take(size) would return.
  [[nodiscard]] static std::uint64_t slot_size_for(std::size_t size);

 private:
  friend class OwnedSlot;

  // 256 * {1, 1.5, 2, 3, 4, 6, ...} up to 2^40.
  static constexpr std::uint32_t kClasses = 65;
  struct SizeClass {
    BriefMutex mutex;
    OwnedSlot* free HYPHOS_GUARDED_BY(mutex) = nullptr;  // last in, first out, for warm caches
    OwnedSlot* oldest HYPHOS_GUARDED_BY(mutex) = nullptr;
    OwnedSlot* newest HYPHOS_GUARDED_BY(mutex) = nullptr;
    std::uint32_t in_flight HYPHOS_GUARDED_BY(mutex) = 0;
    std::uint32_t total HYPHOS_GUARDED_BY(mutex) = 0;
    std::vector<std::unique_ptr<OwnedSlot[]>> owners HYPHOS_GUARDED_BY(mutex);
  };

  [[nodiscard]] static std::uint32_t class_of(std::size_t size);
  [[nodiscard]] static std::uint64_t class_size(std::uint32_t index);
  static void push_flight(SizeClass& of, OwnedSlot* slot) HYPHOS_REQUIRES(of.mutex);
  // Checks up to `most` slots in flight, oldest first. With `one`, stops at the first free slot.
  static void harvest(SizeClass& of, std::uint32_t most, bool one) HYPHOS_REQUIRES(of.mutex);
  [[nodiscard]] OwnedSlot* take_from(std::uint32_t index, bool may_grow);
  [[nodiscard]] bool grow(std::uint32_t index, SizeClass& of) HYPHOS_REQUIRES(of.mutex);
  void give_back(OwnedSlot* slot);

  const ForkMark mark_;
  const Domain& domain_;
  Control& owner_;
  const std::uint64_t limit_;
  std::atomic<std::uint64_t> bytes_{0};
  std::array<SizeClass, kClasses> classes_;
  mutable Mutex segments_mutex_;
  std::vector<std::shared_ptr<Segment>> segments_ HYPHOS_GUARDED_BY(segments_mutex_);
  std::array<std::atomic<Segment*>, kMaxSegments> by_number_{};
  std::function<void()> on_growth_;
  log::OncePerSecond growth_log_;
};

}  // namespace hyphos::shm
