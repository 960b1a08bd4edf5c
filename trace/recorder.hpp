#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hyphos/inspect.hpp"

namespace hyphos::trace {

/// The message that causes a publish(): the message whose callback is running. All zero: none.
struct Cause {
  std::uint64_t sender = 0;
  std::uint64_t sequence = 0;
  std::uint64_t endpoint = 0;  // of the subscription, see end_id()
};

/// The id of an endpoint in events. 0: an endpoint that tools do not see.
[[nodiscard]] constexpr std::uint64_t end_id(std::uint32_t index, std::uint32_t generation) {
  return std::uint64_t{generation} << 32 | (index + 1);
}

/// The last kSlots events of one process: the end of every publish and of every callback. It is a
/// flight recorder: always on, and readers in other processes do not disturb it.
///
/// Lives in memory that starts as zeros. Invariants:
///  (1) An event has a ticket, counted from 0. Its slot is ticket % kSlots.
///  (2) A slot's `turn` is 2 * ticket + 1 while that event is written, and 2 * ticket + 2
///  afterwards.
///      It never decreases.
///  (3) Only the writer that raised `turn` to an odd value writes the words, and there is only one.
///      A writer that finds an odd turn, finds a later one, or loses the exchange, drops its event.
///      So a writer never waits. A writer that is stopped in the middle costs the others one slot.
///  (4) A reader accepts the words only if `turn` was that of its ticket before and after.
///      Overwritten, dropped or unfinished events count as missed.
class Recorder {
 public:
  static constexpr std::size_t kSlots = 4096;

  /// Any thread. Wait-free. About 20 ns with warm caches (bench/micro.cpp).
  void published(std::uint64_t endpoint, const Meta& meta, std::uint64_t bytes,
                 const Cause& cause) noexcept;
  /// Called after the callback, which ended at `end_ns`. `stamps` are those of this subscription.
  void received(std::uint64_t endpoint, const Meta& meta, std::uint64_t bytes, bool replayed,
                const Stamps& stamps, std::int64_t dequeued_ns, std::int64_t end_ns) noexcept;

  /// Appends the events from ticket `next` on to `out`, advances `next` past them and returns the
  /// number of missed events. Safe for any content of the memory, because another process writes
  /// it.
  std::uint64_t read(std::uint64_t& next, std::vector<MessageEvent>& out) const;

 private:
  static constexpr std::size_t kWords = 15;
  using Words = std::array<std::uint64_t, kWords>;
  struct alignas(64) Slot {
    std::atomic<std::uint64_t> turn;
    std::array<std::atomic<std::uint64_t>, kWords> words;
  };

  /// The slot of the next event, with `turn` set to `mine`. Null if the event must be dropped.
  [[nodiscard]] Slot* take(std::uint64_t& mine) noexcept;
  /// Stores words directly into the slot, without an intermediate copy. The remaining words keep
  /// their old values and are not read. Uses releases instead of fences, as in
  /// Registry::set_peer_clock(): a reader that sees one of these words also sees the odd turn.
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
