#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "shm/control.hpp"
#include "shm/domain.hpp"
#include "shm/layout.hpp"

namespace hyphos::shm {

/// An entry of a segment's holder table, as one adder or holder knows it.
struct HolderRef {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;  ///< 0: none

  [[nodiscard]] bool valid() const { return generation != 0; }
};

/// A pool segment as one process has it mapped: S slots of one size, and who holds each of them.
///
/// V is the owner of the pool, R a receiver, X whoever gives R the slot: V, or a forwarder.
///
///  H1  A hold is (slot, holder entry). An entry stands for (receiver R, via X) and has a
///  generation.
///      The slot's word for that entry, {generation, count}, counts R's holds that X added.
///  H2  A word counts only while its generation is the entry's, and the entry is in use. To take
///  back
///      all that a dead R held is one increment of the entry's generation. Whoever adds late with
///      the old generation adds nothing.
///  H3  A generation never comes back: after 65,535 receivers an entry is retired for the segment's
///      life. A word is never set to an older generation than it has.
///  H4  Only X adds to its entries' words, while it holds the slot itself (or owns the pool and has
///      it in use). First the slot's `more` bit if the entry is in a further group, then its
///      `maybe` bit, then the word, then `adds` + 1, and only then may X give up its own hold. (The
///      owner need not count in `adds`: it does not look for free slots among those it has in
///      use.)
///  H5  Only R, and X for descriptors that R did not take, release.
///  H6  The owner finds a slot free if, between two equal reads of `adds`, it sees no word that
///      counts among the `maybe` bits. Were there a holder all along: follow the holds back to one
///      counted in the first read of `adds`; its bit was set, so its word was looked at; if that
///      was seen released, everything it had added was counted in `adds` before.
///  H7  `maybe` and `more` bits are cleared by the owner only, when it finds the slot free.
///  H8  When a forwarder X dies, R, having emptied its lanes from X, sets its words of the entry
///      (R, X) to what it really holds: a hold that X added but never sent is gone with that.
///  H9  An entry is claimed by setting its `via` from 0 to the claimer's id, so that the claims of
///      the dead can be told from those of the living.
///  H10 The first group of entries is in the file from its start. A claimer that finds all entries
///      used makes the next group: it reserves its blocks behind the file's end, gives each entry
///      its first generation unless it has one, and counts the group last. Each step may be done
///      twice, so a second claimer may do the same at the same time, or after a death. Groups never
///      go away. A process maps a group when it first needs it; until it can, it takes every slot
///      that may have a holder there as held.
class Segment {
 public:
  enum class State : std::uint32_t { free = 0, live = 1, done = 2 };

  /// Makes `<owner>.<number>.pool`, with its pages faulted in.
  [[nodiscard]] static Result<std::shared_ptr<Segment>> create(const Domain& domain,
                                                               const Control& owner,
                                                               std::uint32_t number,
                                                               const SegmentLayout& layout);
  /// Maps that of another participant: the control part writable, the payloads read-only.
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
  /// True once the owner is known to be dead: nobody can map the segment any more.
  [[nodiscard]] bool orphan() const { return orphan_.load(std::memory_order_relaxed); }
  void set_orphan() { orphan_.store(true, std::memory_order_relaxed); }
  void populate() const { body_.populate(); }

  // Holder entries.
  [[nodiscard]] HolderRef find(std::uint64_t receiver, std::uint64_t via) const;
  /// Finds or makes the entry. `via` is the caller; one thread of it at a time. Invalid: all
  /// kMaxHolders are used, or there is no memory for a further group.
  [[nodiscard]] HolderRef claim(std::uint64_t receiver, std::uint64_t via);
  /// Ends the generation, taking back all its holds. Does nothing if it has ended already.
  void revoke(HolderRef entry, State from = State::live);
  /// R is done with a dead forwarder's entry: it may be used again.
  void mark_done(HolderRef entry);
  /// Owner, after a death: ends every entry whose receiver is dead, and mends what a dead claimer
  /// left half done. `is_dead` may look at the file system.
  void sweep(const std::function<bool(std::uint64_t)>& is_dead);

  // Holds (H4, H5).
  /// False: the generation is over, or 65,535 holds are there already.
  [[nodiscard]] bool add_hold(std::uint32_t slot, HolderRef entry, bool count_in_adds);
  /// False: there was no such hold.
  bool release_hold(std::uint32_t slot, HolderRef entry);
  /// R, when X is dead (H8).
  void settle(std::uint32_t slot, HolderRef entry, std::uint32_t count);
  /// Owner, for a slot it does not have in use itself (H6). Clears `maybe` if it is free.
  [[nodiscard]] bool find_free(std::uint32_t slot);
  /// True if some word counts; for tools.
  [[nodiscard]] bool is_held(std::uint32_t slot) const;
  /// No hold was added since the owner found the slot free.
  [[nodiscard]] bool untouched(std::uint32_t slot) const {
    const SlotControl& at = control(slot);
    return at.maybe.load(std::memory_order_acquire) == 0 &&
           at.more.load(std::memory_order_acquire) == 0;
  }

  /// Entries of the holder table in use; for tools.
  [[nodiscard]] std::uint32_t holders() const;

  /// Tells the owner that a slot may be free, if one of its threads waits for that.
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
  /// The slot's words of a further group; null as above.
  [[nodiscard]] SlotHolds* further(std::uint32_t slot, std::uint32_t group_number) const;
  [[nodiscard]] HolderEntry* entry(std::uint32_t index) const;
  [[nodiscard]] std::atomic<std::uint32_t>* word(std::uint32_t slot, std::uint32_t index) const {
    return index < kGroupHolders ? &control(slot).holds[index] : further_word(slot, index);
  }
  [[nodiscard]] std::atomic<std::uint32_t>* further_word(std::uint32_t slot,
                                                         std::uint32_t index) const;
  /// Reachable entries, of all existing groups.
  [[nodiscard]] std::uint32_t entries() const;
  /// The same as the public ones, for the further groups alone.
  [[nodiscard]] bool is_held_further(std::uint32_t slot, std::uint32_t more) const;
  void clear_further(std::uint32_t slot, std::uint32_t more);
  [[nodiscard]] bool find_free_further(std::uint32_t slot);
  [[nodiscard]] bool add_further(std::uint32_t slot, HolderRef entry, bool count_in_adds);
  bool release_further(std::uint32_t slot, HolderRef entry);

  const Domain* domain_ = nullptr;  // of the participant, which outlives the segment's use
  Mapping head_;                    // header and slot controls
  Mapping body_;                    // payloads
  Mapping owner_page_;
  ControlHeader* owner_control_ = nullptr;
  std::byte* payload_ = nullptr;
  SegmentLayout layout_;
  std::uint64_t owner_ = 0;
  std::uint32_t number_ = 0;
  std::atomic<bool> orphan_{false};
  // Further groups, from 1. Set once, under the mutex.
  mutable std::array<std::atomic<HolderGroup*>, kMaxHolderGroups> groups_{};
  mutable std::mutex groups_mutex_;
  mutable std::vector<Mapping> group_maps_;
};

}  // namespace hyphos::shm
