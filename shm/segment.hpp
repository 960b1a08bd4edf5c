#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.hpp"
#include "shm/control.hpp"
#include "shm/domain.hpp"
#include "shm/layout.hpp"

namespace hyphos::shm {

/// An entry of a segment's holder table, as cached by its claimer or its receiver.
struct HolderRef {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;  ///< 0: none

  [[nodiscard]] bool valid() const { return generation != 0; }
};

/// A pool segment as mapped by one process: slots of one size, with the holders of each slot.
///
/// V is the owner of the pool, R a receiver, and X the process that gives R the slot: V or a
/// relaying process.
///
///  H1  A hold is (slot, holder entry). An entry stands for (receiver R, via X) and has a
///      generation. The slot's word for that entry, {generation, count}, counts R's holds that X
///      added.
///  H2  A word counts only while its generation equals the entry's and the entry is in use. So one
///      increment of the entry's generation takes back all holds of a dead R. A late add with the
///      old generation has no effect.
///  H3  A generation never repeats: after 65,535 receivers an entry is retired for the life of the
///      segment. A word is never set to an older generation than its current one.
///  H4  Only X adds to its entries' words, and only while it holds the slot itself (or owns the
///      pool and uses the slot). The order is: the slot's `more` bit if the entry is in a further
///      group, the `maybe` bit, the word, then `adds` + 1. Only then may X release its own hold.
///      The owner need not count in `adds`, because it does not search for free slots among those
///      it uses.
///  H5  Only R releases holds, except that X releases those of descriptors that R did not take.
///  H6  The owner finds a slot free if it sees no counting word among the `maybe` bits between two
///      equal reads of `adds`. Proof: suppose that the slot had a holder all the time. Follow the
///      holds back to one that the first read of `adds` counted. Its bit was set, so its word was
///      read. If that read saw it released, then all holds that it had added were counted in `adds`
///      before its release.
///  H7  Only the owner clears `maybe` and `more` bits, when it finds the slot free.
///  H8  When a relaying process X dies, R first empties its rings from X. R then sets its words of
///      the entry (R, X) to its true number of holds. This removes a hold that X added but never
///      sent.
///  H9  A process claims an entry by setting its `via` from 0 to its own id. So the claims of dead
///      processes can be distinguished from those of live ones.
///  H10 The first group of entries is in the file from its creation. A claimer that finds all
///      entries used creates the next group. It reserves the blocks behind the file's end, gives
///      each entry its first generation unless the entry has one, and increments the group count
///      last. Each step may run twice, so a second claimer may do the same concurrently or after a
///      death. Groups are never removed. A process maps a group when it first needs it. While it
///      cannot map the group, it treats every slot that may have a holder there as held.
class Segment {
 public:
  enum class State : std::uint32_t { free = 0, live = 1, done = 2 };

  /// Creates `<owner>.<number>.pool`, with its pages faulted in.
  [[nodiscard]] static Result<std::shared_ptr<Segment>> create(const Domain& domain,
                                                               const Control& owner,
                                                               std::uint32_t number,
                                                               const SegmentLayout& layout);
  /// Maps another participant's segment: the control part writable, the payloads read-only.
  [[nodiscard]] static Result<std::shared_ptr<Segment>> open(const Domain& domain,
                                                             std::uint64_t owner,
                                                             std::uint32_t number);

  [[nodiscard]] std::uint64_t owner() const { return owner_; }
  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] std::uint32_t slots() const { return layout_.slots; }
  [[nodiscard]] std::uint64_t slot_size() const { return layout_.slot_size; }
  [[nodiscard]] std::uint64_t file_size() const { return layout_.size; }
  [[nodiscard]] std::byte* payload(std::uint32_t slot) const {
    return payload_ + slot * layout_.slot_size;
  }
  [[nodiscard]] MessageHeader& message(std::uint32_t slot) const { return control(slot).message; }
  [[nodiscard]] SlotControl& control(std::uint32_t slot) const {
    return reinterpret_cast<SlotControl*>(head_.data() + layout_.control_offset)[slot];
  }
  /// True once the owner is known to be dead. Then no process can map the segment any more.
  [[nodiscard]] bool orphan() const { return orphan_.load(std::memory_order_relaxed); }
  void set_orphan() { orphan_.store(true, std::memory_order_relaxed); }
  void populate() const { body_.populate(); }

  // Holder entries.
  [[nodiscard]] HolderRef find(std::uint64_t receiver, std::uint64_t via) const;
  /// Finds or creates the entry. `via` is the caller. Only one thread per `via` at a time. Invalid:
  /// all kMaxHolders are used, or there is no memory for a further group.
  [[nodiscard]] HolderRef claim(std::uint64_t receiver, std::uint64_t via);
  /// Ends the generation, and so all its holds. Does nothing if it has already ended.
  void revoke(HolderRef entry, State from = State::live);
  /// R has finished with a dead relaying process's entry, so the entry can be reused.
  void mark_done(HolderRef entry);
  /// For the owner, after a death: ends every entry whose receiver is dead, and repairs the
  /// half-finished entries of a dead claimer. `is_dead` may access the file system.
  void sweep(const std::function<bool(std::uint64_t)>& is_dead);

  // Holds (H4, H5).
  /// False: the generation has ended, or the count is at its limit of 65,535.
  [[nodiscard]] bool add_hold(std::uint32_t slot, HolderRef entry, bool count_in_adds);
  /// False: there was no such hold.
  bool release_hold(std::uint32_t slot, HolderRef entry);
  /// For R, when X is dead (H8).
  void settle(std::uint32_t slot, HolderRef entry, std::uint32_t count);
  /// For the owner, on a slot that it does not use itself (H6). Clears `maybe` if the slot is free.
  [[nodiscard]] bool find_free(std::uint32_t slot);
  /// True if some word counts. For tools.
  [[nodiscard]] bool is_held(std::uint32_t slot) const;
  /// True if no hold was added since the owner found the slot free.
  [[nodiscard]] bool untouched(std::uint32_t slot) const {
    const SlotControl& at = control(slot);
    return at.maybe.load(std::memory_order_acquire) == 0 &&
           at.more.load(std::memory_order_acquire) == 0;
  }

  /// Entries of the holder table in use. For tools.
  [[nodiscard]] std::uint32_t holders() const;

  /// Notifies the owner that a slot may be free, if one of its threads waits.
  void wake_owner() const {
    if (owner_control_ != nullptr) wake(owner_control_->pool_waiters);
  }

 private:
  [[nodiscard]] SegmentHeader& header() const {
    return *reinterpret_cast<SegmentHeader*>(head_.data());
  }
  /// Null: the group cannot be mapped.
  [[nodiscard]] HolderGroup* group(std::uint32_t number) const;
  [[nodiscard]] HolderGroup* map_group(std::uint32_t number) const;
  [[nodiscard]] bool add_group(std::uint32_t number);
  /// The slot's words of a further group. Null as above.
  [[nodiscard]] SlotHolds* further(std::uint32_t slot, std::uint32_t group_number) const;
  [[nodiscard]] HolderEntry* entry(std::uint32_t index) const;
  [[nodiscard]] std::atomic<std::uint32_t>* word(std::uint32_t slot, std::uint32_t index) const {
    return index < kGroupHolders ? &control(slot).holds[index] : further_word(slot, index);
  }
  [[nodiscard]] std::atomic<std::uint32_t>* further_word(std::uint32_t slot,
                                                         std::uint32_t index) const;
  /// The number of reachable entries, in all existing groups.
  [[nodiscard]] std::uint32_t entries() const;
  /// The counterparts of the public functions, for the further groups alone.
  [[nodiscard]] bool is_held_further(std::uint32_t slot, std::uint32_t more) const;
  void clear_further(std::uint32_t slot, std::uint32_t more);
  [[nodiscard]] bool find_free_further(std::uint32_t slot);
  [[nodiscard]] bool add_further(std::uint32_t slot, HolderRef entry, bool count_in_adds);
  bool release_further(std::uint32_t slot, HolderRef entry);

  const Domain* domain_ = nullptr;  // of the participant, which outlives every use of the segment
  Mapping head_;                    // header and slot controls
  Mapping body_;                    // payloads
  Mapping owner_page_;
  ControlHeader* owner_control_ = nullptr;
  std::byte* payload_ = nullptr;
  SegmentLayout layout_;
  std::uint64_t owner_ = 0;
  std::uint32_t number_ = 0;
  std::atomic<bool> orphan_{false};
  // Further groups, from 1. Set once, under groups_mutex_.
  mutable std::array<std::atomic<HolderGroup*>, kMaxHolderGroups> groups_{};
  mutable Mutex groups_mutex_;
  mutable std::vector<Mapping> group_maps_ HYPHOS_GUARDED_BY(groups_mutex_);
};

}  // namespace hyphos::shm
