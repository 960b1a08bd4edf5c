#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hyphos/inspect.hpp"

namespace hyphos::trace {

/// Which message was being worked on: the one whose callback runs. All zero: none.
struct Cause {
  std::uint64_t sender = 0;
  std::uint64_t sequence = 0;
  std::uint64_t endpoint = 0;  // of the subscription, as end_id()
};

/// An end of a channel in the words of an event. 0: one that tools do not see.
[[nodiscard]] constexpr std::uint64_t end_id(std::uint32_t index, std::uint32_t generation) {
  return std::uint64_t{generation} << 32 | (index + 1);
}

/// The last kSlots events of one process: every publish and every callback that ended. A flight
/// recorder: always on, nobody switches it on, and readers in other processes do not disturb it.
///
/// Lives in memory that starts as zeros. Invariants:
///  (1) An event has a ticket, counted from 0; its place is slot ticket % kSlots.
///  (2) A slot's `turn` is 2 * ticket + 1 while that event is written and 2 * ticket + 2 from then
///      on. It never falls.
///  (3) Only who has raised `turn` to an odd value writes the words, and only one does: a writer
///      that finds an odd turn, a later one, or loses the exchange, leaves its event out. So a
///      writer never waits, and one that is stopped in the middle costs the others one slot.
///  (4) A reader believes the words only if `turn` was that of its ticket before and after; what is
///      overwritten, left out or unfinished counts as missed.
class Recorder {
 public:
  static constexpr std::size_t kSlots = 4096;

  /// Any thread; wait-free. About 20 ns with warm caches (bench/micro.cpp).
  void published(std::uint64_t endpoint, const Meta& meta, std::uint64_t bytes,
                 const Cause& cause) noexcept;
  /// After the callback, which ended at `end_ns`. `stamps` of this subscription.
  void received(std::uint64_t endpoint, const Meta& meta, std::uint64_t bytes, bool replayed,
                const Stamps& stamps, std::int64_t dequeued_ns, std::int64_t end_ns) noexcept;

  /// Appends the events from ticket `next` on to `out`, moves `next` behind them and returns how
  /// many are missed. For memory that somebody else writes, whatever is in it.
  std::uint64_t read(std::uint64_t& next, std::vector<MessageEvent>& out) const;

 private:
  static constexpr std::size_t kWords = 15;
  using Words = std::array<std::uint64_t, kWords>;
  struct alignas(64) Slot {
    std::atomic<std::uint64_t> turn;
    std::array<std::atomic<std::uint64_t>, kWords> words;
  };

  /// The slot of the next event, turned to `mine`; nullptr: its event is left out.
  [[nodiscard]] Slot* take(std::uint64_t& mine) noexcept;
  /// Words straight into the slot, without a copy between; those behind them stay as they were,
  /// and nobody reads them. Releases in place of fences, as in Registry::set_peer_clock(): who sees
  /// one of these words sees the odd turn, too.
  template <typename... Word>
  static void fill(Slot& slot, Word... words) noexcept {
    static_assert(sizeof...(words) <= kWords);
    auto* next = slot.words.data();
    (next++->store(words, std::memory_order_release), ...);
  }
  [[nodiscard]] bool copy(std::uint64_t ticket, Words& out, int& patience) const;

  alignas(64) std::atomic<std::uint64_t> tickets_;
  std::array<Slot, kSlots> slots_;
};

}  // namespace hyphos::trace
