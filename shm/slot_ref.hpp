#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/brief_mutex.hpp"
#include "base/fork.hpp"
#include "base/mutex.hpp"
#include "hyphos/buffer.hpp"
#include "shm/segment.hpp"

namespace hyphos::shm {

class Participant;

/// The relayed holds of this process (R) on one segment through one relaying process (X). They are
/// counted here as well, so that the counts survive the death of X (Segment, H8). Thread-safe.
class RelayedHold {
 public:
  RelayedHold(std::shared_ptr<Segment> segment, std::uint64_t via, HolderRef entry)
      : segment_(std::move(segment)), via_(via), entry_(entry), counts_(segment_->slots()) {}

  [[nodiscard]] HolderRef entry() const { return entry_; }
  [[nodiscard]] std::uint64_t via() const { return via_; }
  [[nodiscard]] const Segment* segment() const { return segment_.get(); }
  void received(std::uint32_t slot);
  void release(std::uint32_t slot);
  /// Called when the relaying process is dead and our rings hold nothing from it.
  void settle();

 private:
  const std::shared_ptr<Segment> segment_;
  const std::uint64_t via_;
  const HolderRef entry_;
  BriefMutex mutex_;
  std::vector<std::uint32_t> counts_ HYPHOS_GUARDED_BY(mutex_);
  std::uint64_t total_ HYPHOS_GUARDED_BY(mutex_) = 0;
  bool settled_ HYPHOS_GUARDED_BY(mutex_) = false;
};

/// The basis on which slots of one segment are held. Shared by all holds of one kind.
struct SegmentHold {
  std::shared_ptr<Segment> segment;
  std::shared_ptr<Participant> participant;  ///< the death of this participant would end the holds
  HolderRef entry;
  std::shared_ptr<RelayedHold> relayed;  ///< set if the sender does not own the segment
};

/// One reference to a slot that arrived in a message. Recycled: taking one allocates only while the
/// number of concurrent references still grows.
class alignas(kCacheLine) SlotRef final : public BufferOwner {
 public:
  static const char kKind;
  [[nodiscard]] const void* kind() const noexcept override { return &kKind; }

  [[nodiscard]] Segment& segment() const { return *hold_->segment; }
  [[nodiscard]] const std::shared_ptr<Segment>& shared_segment() const { return hold_->segment; }
  [[nodiscard]] std::uint32_t slot() const { return slot_; }
  [[nodiscard]] const Participant* participant() const { return hold_->participant.get(); }

 protected:
  void release() noexcept override;

 private:
  friend class SlotRefs;

  std::shared_ptr<const SegmentHold> hold_;
  SlotRef* next_ = nullptr;
  std::uint32_t slot_ = 0;
};

/// The supply of SlotRefs of one participant. Thread-safe.
class SlotRefs {
 public:
  /// Takes over a hold that the sender has added. The result has one reference.
  [[nodiscard]] SlotRef* take(const std::shared_ptr<const SegmentHold>& segment_hold,
                              std::uint32_t slot);
  /// Creates `count` more in advance.
  void reserve_more(std::size_t count);

 private:
  friend class SlotRef;

  void give_back(SlotRef* held);
  void grow(std::size_t count) HYPHOS_REQUIRES(mutex_);

  const ForkMark mark_;
  BriefMutex mutex_;
  SlotRef* free_ HYPHOS_GUARDED_BY(mutex_) = nullptr;
  std::size_t total_ HYPHOS_GUARDED_BY(mutex_) = 0;
  std::vector<std::unique_ptr<SlotRef[]>> blocks_ HYPHOS_GUARDED_BY(mutex_);
};

/// The segments of other participants that this process has mapped. Thread-safe. Not for every
/// message: the receiving side has its own short table.
class Segments {
 public:
  /// Maps the segment unless it is already mapped.
  [[nodiscard]] Result<std::shared_ptr<Segment>> get(const Domain& domain, std::uint64_t owner,
                                                     std::uint32_t number);
  /// The record of the slots of `segment` that arrived through `via`. Null if `via` has no entry
  /// for us.
  [[nodiscard]] std::shared_ptr<RelayedHold> relayed(const std::shared_ptr<Segment>& segment,
                                                     std::uint64_t via, std::uint64_t self);
  /// Removes the records of `via` from the table and returns them.
  [[nodiscard]] std::vector<std::shared_ptr<RelayedHold>> take_relayed(std::uint64_t via);
  [[nodiscard]] std::vector<std::shared_ptr<Segment>> all() const;
  /// The owner is dead: its segments are unmapped as soon as none of their slots is held.
  void abandon(std::uint64_t owner);
  void clear();

 private:
  mutable Mutex mutex_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::shared_ptr<Segment>> segments_
      HYPHOS_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<RelayedHold>> relayed_ HYPHOS_GUARDED_BY(mutex_);
};

}  // namespace hyphos::shm
