#pragma once

#include <cstdint>
#include <string_view>

#include "base/hot.hpp"
#include "shm/domain.hpp"
#include "shm/layout.hpp"

namespace hyphos::shm {

/// The content of a ring cell: a message slot in the sender's pool.
struct Descriptor {
  std::uint32_t segment = 0;
  std::uint32_t slot = 0;
  bool replayed = false;
};

/// A bounded ring buffer of descriptors from one sender to one receiver. The receiver creates it.
///
///  L1  head and tail only grow, with head <= tail <= head + depth. Cell i is at index i % depth.
///  L2  Only the sender (one thread at a time) writes tail and cells. It writes a cell only after
///      it has seen head beyond that cell's former message.
///  L3  head is moved by compare-and-swap: by the receiver to take a message, by the sender to
///      discard the oldest one. The side that moves it from i to i+1 owns message i and its hold. A
///      cell read before a successful move cannot have been overwritten (L2).
///  L4  A push is one store to tail. Before it, nothing has happened. After it, the message is
///      complete. A process may die before or after this store, never within it.
///  L5  Numbers that violate L1 show that the other side is broken. The ring is not used again.
class DescriptorRing {
 public:
  enum class Outcome { ok, full, empty, corrupt };

  DescriptorRing() = default;
  /// The receiver's side: creates `<receiver>.<serial>.lane`.
  [[nodiscard]] static Result<DescriptorRing> create(const Domain& domain, std::uint64_t receiver,
                                                     std::uint64_t serial, std::uint64_t sender,
                                                     std::uint32_t depth, std::uint32_t index,
                                                     std::uint64_t type_hash,
                                                     std::string_view channel);
  /// The sender's side (or a tool's).
  [[nodiscard]] static Result<DescriptorRing> open(const Domain& domain, std::uint64_t receiver,
                                                   std::uint64_t serial, std::uint64_t sender);

  /// Sender only, one thread at a time.
  [[nodiscard]] Outcome push(const Descriptor& message);
  /// Either side, any thread. `prepare(message)` runs before the message is taken. It acquires
  /// resources of the sender, which may leave once its rings are empty. It may also run for a
  /// message that the other side then takes, or whose cell is being rewritten.
  template <class Prepare>
  [[nodiscard]] Outcome pop(Descriptor& message, Prepare&& prepare);
  [[nodiscard]] Outcome pop(Descriptor& message) {
    return pop(message, [](const Descriptor&) {});
  }
  /// Wakes senders that wait for room. The receiver calls it after its pops.
  void made_room() { wake(header().space_waiters); }

  /// Prefetches the two cache lines of a push or pop, both at once.
  void prefetch() const {
    __builtin_prefetch(&header().tail, 1);
    __builtin_prefetch(&header().head, 1);
  }

  /// Messages waiting. More than depth() if the ring is corrupt.
  [[nodiscard]] std::uint64_t waiting() const;
  /// Sequentially consistent with wake(): a sender checks this once more before it sleeps.
  [[nodiscard]] bool full() const {
    return header().tail.load(std::memory_order_relaxed) -
               header().head.load(std::memory_order_seq_cst) ==
           depth_;
  }
  /// The same for a sender that leaves `spare` cells free after the receiver has taken the first
  /// `replays` messages.
  [[nodiscard]] bool full(std::uint64_t spare, std::uint64_t replays) const {
    const std::uint64_t head = header().head.load(std::memory_order_seq_cst);
    const std::uint64_t used = header().tail.load(std::memory_order_relaxed) - head;
    // Beyond depth_, the ring is broken (L5). push() detects it.
    return used <= depth_ && used + (head < replays ? 0 : spare) >= depth_;
  }
  void count_drop(std::size_t reason, std::uint64_t count) {
    header().drops[reason].fetch_add(count, std::memory_order_relaxed);
  }
  [[nodiscard]] bool empty() const { return waiting() == 0; }
  [[nodiscard]] std::uint32_t depth() const { return depth_; }
  [[nodiscard]] std::uint32_t index() const { return index_; }
  [[nodiscard]] RingHeader& header() const {
    return *reinterpret_cast<RingHeader*>(mapping_.data());
  }

 private:
  [[nodiscard]] RingCell& cell(std::uint64_t i) const {
    return reinterpret_cast<RingCell*>(mapping_.data() + sizeof(RingHeader))[i % depth_];
  }

  Mapping mapping_;
  std::uint32_t depth_ = 0;  // checked copies: the file may change at any time
  std::uint32_t index_ = 0;
};

template <class Prepare>
HYPHOS_HOT DescriptorRing::Outcome DescriptorRing::pop(Descriptor& message, Prepare&& prepare) {
  std::uint64_t head = header().head.load(std::memory_order_acquire);
  for (;;) {
    const std::uint64_t used = header().tail.load(std::memory_order_acquire) - head;
    if (used == 0) return Outcome::empty;
    if (used > depth_) {
      // Either the ring is broken, or head moved between the two loads.
      const std::uint64_t again = header().head.load(std::memory_order_acquire);
      if (again == head) return Outcome::corrupt;
      head = again;
      continue;
    }
    const RingCell& at = cell(head);
    const std::uint64_t where = at.where.load(std::memory_order_relaxed);
    const std::uint64_t flags = at.flags.load(std::memory_order_relaxed);
    const Descriptor read{static_cast<std::uint32_t>(where >> 32),
                          static_cast<std::uint32_t>(where), (flags & kReplayed) != 0};
    prepare(read);
    if (header().head.compare_exchange_weak(head, head + 1, std::memory_order_seq_cst,
                                            std::memory_order_acquire)) {
      message = read;
      return Outcome::ok;
    }
  }
}

}  // namespace hyphos::shm
