#include "trace/recorder.hpp"

#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/hot.hpp"

namespace hyphos::trace {
namespace {

// Flags in the first word, above the 32 bits of the thread id.
constexpr std::uint64_t kReception = std::uint64_t{1} << 32;
constexpr std::uint64_t kReplayed = std::uint64_t{1} << 33;

HYPHOS_HOT std::uint64_t thread_here() {
  // Zero until the first use. A constant initializer needs no guard at each access.
  constinit thread_local std::uint32_t id = 0;
  if (id == 0) [[unlikely]] {
    id = static_cast<std::uint32_t>(::gettid());
  }
  return id;
}

constexpr std::uint64_t word(std::int64_t ns) { return static_cast<std::uint64_t>(ns); }
constexpr std::int64_t ns(std::uint64_t word) { return static_cast<std::int64_t>(word); }

}  // namespace

HYPHOS_HOT Recorder::Slot* Recorder::take(std::uint64_t& mine) noexcept {
  const std::uint64_t ticket = tickets_.fetch_add(1, std::memory_order_relaxed);
  Slot& slot = slots_[ticket % kSlots];
  std::uint64_t seen = slot.turn.load(std::memory_order_relaxed);
  mine = 2 * ticket + 1;
  if (seen % 2 != 0 || seen > mine ||
      !slot.turn.compare_exchange_strong(seen, mine, std::memory_order_acq_rel,
                                         std::memory_order_relaxed)) {
    return nullptr;  // invariant (3)
  }
  return &slot;
}

HYPHOS_HOT void Recorder::published(std::uint64_t endpoint, const Meta& meta, std::uint64_t bytes,
                                    const Cause& cause) noexcept {
  std::uint64_t mine = 0;
  Slot* slot = take(mine);
  if (slot == nullptr) return;
  fill(*slot, thread_here(), endpoint, meta.sender, meta.sequence, bytes, word(meta.stamps.publish),
       word(meta.stamps.encoded), word(meta.stamps.submitted), cause.sender, cause.sequence,
       cause.endpoint);
  slot->turn.store(mine + 1, std::memory_order_release);
}

HYPHOS_HOT void Recorder::received(std::uint64_t endpoint, const Meta& meta, std::uint64_t bytes,
                                   bool replayed, const Stamps& stamps, std::int64_t dequeued_ns,
                                   std::int64_t end_ns) noexcept {
  std::uint64_t mine = 0;
  Slot* slot = take(mine);
  if (slot == nullptr) return;
  const std::uint64_t flags = kReception | (replayed ? kReplayed : 0U);
  fill(*slot, thread_here() | flags, endpoint, meta.sender, meta.sequence, bytes,
       word(stamps.publish), word(stamps.encoded), word(stamps.submitted), word(stamps.arrived),
       word(stamps.scheduled), word(dequeued_ns), word(stamps.decoded), word(stamps.callback),
       word(end_ns));
  slot->turn.store(mine + 1, std::memory_order_release);
}

bool Recorder::copy(std::uint64_t ticket, Words& out, int& patience) const {
  const Slot& slot = slots_[ticket % kSlots];
  const std::uint64_t done = 2 * ticket + 2;
  std::uint64_t turn = slot.turn.load(std::memory_order_acquire);
  // Reserved, but not written yet: the writer needs some nanoseconds, or was just preempted.
  for (; turn < done && patience > 0; --patience) {
    std::this_thread::yield();
    turn = slot.turn.load(std::memory_order_acquire);
  }
  if (turn != done) return false;
  for (std::size_t i = 0; i < kWords; ++i) out[i] = slot.words[i].load(std::memory_order_acquire);
  // Each load above acquires, so this load comes after them.
  return slot.turn.load(std::memory_order_acquire) == done;
}

std::uint64_t Recorder::read(std::uint64_t& next, std::vector<MessageEvent>& out) const {
  const std::uint64_t end = tickets_.load(std::memory_order_acquire);
  if (next > end) next = end;  // not a ticket of this recorder
  const std::uint64_t from = std::max(next, end < kSlots ? 0 : end - kSlots);
  std::uint64_t missed = from - next;
  int patience = 1000;  // for all slots together, because the content is not trusted
  for (std::uint64_t ticket = from; ticket != end; ++ticket) {
    Words w;
    if (!copy(ticket, w, patience)) {
      ++missed;
      continue;
    }
    MessageEvent event{};
    event.thread = static_cast<std::uint32_t>(w[0]);
    event.received = (w[0] & kReception) != 0 ? 1 : 0;
    event.replayed = (w[0] & kReplayed) != 0 ? 1 : 0;
    event.endpoint = w[1];
    event.sender = w[2];
    event.sequence = w[3];
    event.bytes = w[4];
    event.publish_ns = ns(w[5]);
    event.encoded_ns = ns(w[6]);
    event.submitted_ns = ns(w[7]);
    if (event.received != 0) {
      event.arrived_ns = ns(w[8]);
      event.scheduled_ns = ns(w[9]);
      event.dequeued_ns = ns(w[10]);
      event.decoded_ns = ns(w[11]);
      event.callback_ns = ns(w[12]);
      event.end_ns = ns(w[13]);
    } else {
      event.cause_sender = w[8];
      event.cause_sequence = w[9];
      event.cause_endpoint = w[10];
    }
    out.push_back(event);
  }
  next = end;
  return missed;
}

}  // namespace hyphos::trace
