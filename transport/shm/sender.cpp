#include "transport/shm/sender.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <list>

#include "base/hot.hpp"
#include "base/log.hpp"
#include "hyphos/time.hpp"

namespace hyphos::transport::shm_detail {
namespace {

constexpr std::size_t aligned(std::size_t size) {
  return (size + shm::kCacheLine - 1) / shm::kCacheLine * shm::kCacheLine;
}

// How a part of a message gets into shared memory.
enum class Way { nothing, copy, owned, held };

HYPHOS_HOT Way way_of(const Buffer& buffer, const shm::Participant* self) {
  if (buffer.empty()) return Way::nothing;
  const BufferOwner* owner = buffer.owner();
  if (owner == nullptr) return Way::copy;
  if (owner->kind() == &shm::OwnedSlot::kKind) {
    return static_cast<const shm::OwnedSlot*>(owner)->participant() == self ? Way::owned
                                                                            : Way::copy;
  }
  if (owner->kind() == &shm::SlotRef::kKind) {
    const auto* held = static_cast<const shm::SlotRef*>(owner);
    // The segments of a dead owner can no longer be mapped by others, so the bytes are copied.
    return held->participant() == self && !held->segment().orphan() ? Way::held : Way::copy;
  }
  return Way::copy;
}

constexpr Duration kLookAtTools = Duration::from_ms(20);  // whether they were stopped

std::int64_t deadline_of(const Policy& policy) {
  return policy.block_timeout_ms > 0
             ? monotonic_now().ns + Duration::from_ms(policy.block_timeout_ms).ns
             : 0;
}

}  // namespace

HYPHOS_HOT shm::OwnedSlot* Sender::take_slot(std::size_t size, bool wait,
                                             std::int64_t deadline_ns) {
  return wait ? self_->pool().wait(size, self_, deadline_ns, ports_.stopping())
              : self_->pool().take(size, self_);
}

HYPHOS_HOT WritableBuffer Sender::loan(PortId id, std::size_t size) {
  const CallGate::Entry inside(ports_.gate());
  Port* const port = ports_.find(id);
  if (!inside || !ports_.started() || port == nullptr) return {};
  const bool wait = port->blocks();
  shm::OwnedSlot* slot = take_slot(size, wait, wait ? deadline_of(port->spec.policy) : 0);
  if (slot == nullptr) return {};
  return {slot->segment().payload(slot->slot()), size, slot};
}

bool Sender::has_room(PortId id, std::size_t size) {
  const CallGate::Entry inside(ports_.gate());
  Port* const port = ports_.find(id);
  if (!inside || !ports_.started() || port == nullptr) return true;
  const auto rings = port->tx_rings();
  if (rings->empty()) return true;
  for (const auto& ring : *rings) {
    if (ring->full() && !ring->gone.load(std::memory_order_acquire)) return false;
  }
  if (!port->blocks()) return true;  // without memory it drops instead of waiting
  shm::OwnedSlot* const slot = take_slot(std::max<std::size_t>(size, 1), false, 0);
  if (slot == nullptr) return false;
  (void)WritableBuffer(slot->segment().payload(slot->slot()), size, slot);  // returns the slot
  return true;
}

HYPHOS_HOT bool Sender::prepare(const Envelope& message, bool wait, std::int64_t deadline_ns,
                                Prepared& out) {
  const std::size_t parts = 1 + message.buffers.size();
  const auto buffer_at = [&](std::size_t i) -> const Buffer& {
    return i == 0 ? message.payload : message.buffers[i - 1];
  };
  std::array<Way, shm::kMaxParts> ways{};
  std::size_t to_copy = 0;
  bool copies = false;
  for (std::size_t i = 0; i < parts; ++i) {
    ways[i] = way_of(buffer_at(i), self_.get());
    if (ways[i] == Way::copy) to_copy += aligned(buffer_at(i).size()), copies = true;
  }
  // The payload's own slot also holds the header, if no other message has claimed it.
  shm::OwnedSlot* slot = nullptr;
  if (ways[0] == Way::owned && !copies) {
    slot = static_cast<shm::OwnedSlot*>(message.payload.owner());
    if (slot->claim_header()) {
      slot->add_ref();
    } else {
      slot = nullptr;
    }
  }
  if (slot == nullptr) {
    slot = take_slot(std::max<std::size_t>(to_copy, 1), wait, deadline_ns);
    if (slot == nullptr) return false;
    (void)slot->claim_header();
  }
  out.segment = &slot->segment();
  out.slot = slot->slot();
  std::byte* const memory = out.segment->payload(out.slot);
  out.primary = Buffer(memory, 0, slot);
  shm::MessageHeader& header = out.segment->message(out.slot);
  header.type_hash = message.meta.type_hash;
  header.sequence = message.meta.sequence;
  header.sender = message.meta.sender;
  header.publish = message.meta.stamps.publish;
  header.encoded = message.meta.stamps.encoded;
  header.submitted = message.meta.stamps.submitted;
  header.parts = static_cast<std::uint32_t>(parts);
  header.flags = message.meta.replayed ? shm::kReplayed : 0;
  if (message.meta.latch != Latch::none) {
    header.flags |= message.meta.latch == Latch::last ? shm::kLatched : shm::kPublisherGone;
    header.flags |= (message.meta.latched_depth - 1U) << shm::kLatchedDepthShift;
  }
  if (message.meta.call.kind != 0) {
    header.flags |= shm::kCall;
    header.call_client = message.meta.call.client;
    header.call_id = message.meta.call.id;
    header.call_kind = message.meta.call.kind;
  }
  const bool at_start = ways[0] == Way::copy || ways[0] == Way::nothing ||
                        (message.payload.owner() == slot && message.payload.data() == memory);
  if (parts == 1 && at_start) {
    header.flags |= shm::kSimple;
    header.simple_size = message.payload.size();
    if (ways[0] == Way::copy) std::memcpy(memory, message.payload.data(), message.payload.size());
    return true;
  }
  std::size_t used = 0;
  for (std::size_t i = 0; i < parts; ++i) {
    const Buffer& buffer = buffer_at(i);
    shm::Part& part = header.part[i];
    part = {0, 0, 0, 0, buffer.size()};
    Prepared::External external;
    if (ways[i] == Way::nothing) continue;
    if (ways[i] == Way::copy) {
      part.offset = used;
      std::memcpy(memory + used, buffer.data(), buffer.size());
      used += aligned(buffer.size());
      continue;
    }
    if (ways[i] == Way::owned) {
      const auto* owner = static_cast<const shm::OwnedSlot*>(buffer.owner());
      external.segment = &owner->segment();
      external.slot = owner->slot();
    } else {
      const auto* owner = static_cast<const shm::SlotRef*>(buffer.owner());
      external.segment = &owner->segment();
      external.shared = &owner->shared_segment();
      external.slot = owner->slot();
    }
    part.offset =
        static_cast<std::uint64_t>(buffer.data() - external.segment->payload(external.slot));
    if (external.segment == out.segment && external.slot == out.slot) continue;  // own slot
    part.owner = external.segment->owner();
    part.segment = external.segment->number();
    part.slot = external.slot;
    out.external[out.externals++] = external;
  }
  return true;
}

HYPHOS_HOT bool Sender::add_holds(Peer& peer, const Prepared& message) {
  const auto add = [&](const Prepared::External& to) {
    const bool own = to.segment->owner() == self_->id();
    const shm::HolderRef entry =
        own ? peer.entry(*to.segment, self_->id()) : peer.foreign_entry(*to.shared, self_->id());
    return entry.valid() && to.segment->add_hold(to.slot, entry, to.shared != nullptr);
  };
  const auto take_back = [&](const Prepared::External& to) {
    const bool own = to.segment->owner() == self_->id();
    to.segment->release_hold(to.slot, own ? peer.entry(*to.segment, self_->id())
                                          : peer.foreign_entry(*to.shared, self_->id()));
  };
  const Prepared::External primary{message.segment, nullptr, message.slot};
  if (!add(primary)) return false;
  for (std::size_t i = 0; i < message.externals; ++i) {
    if (add(message.external[i])) continue;
    while (i-- > 0) take_back(message.external[i]);
    take_back(primary);
    return false;
  }
  return true;
}

HYPHOS_HOT void Sender::wake(const TxRing& ring) {
  shm::ControlHeader& header = *ring.doorbell;
  const std::uint32_t index = ring.ring.index();
  header.ready[index / 64].fetch_or(std::uint64_t{1} << (index % 64), std::memory_order_seq_cst);
  shm::wake(header.asleep);
}

HYPHOS_HOT Sender::Pushed Sender::push(TxRing& ring, const Prepared& message, As as,
                                       bool drop_oldest, std::uint64_t& overflowed) {
  const bool replayed = as == As::replay;
  {
    const MutexLock lock(ring.producer);
    if (ring.gone.load(std::memory_order_relaxed)) return Pushed::gone;
    // Only this thread pushes, so room that is free here is still free below.
    while (as == As::live ? ring.full() : ring.ring.full()) {
      if (!drop_oldest) return Pushed::full;
      shm::Descriptor oldest;
      if (ring.ring.pop(oldest) != shm::DescriptorRing::Outcome::ok) continue;
      release_holds(*ring.peer, oldest);
      ring.ring.count_drop(static_cast<std::size_t>(Drop::overflow), 1);
      ++overflowed;
    }
    if (!add_holds(*ring.peer, message)) {
      return ring.peer->dead() ? Pushed::gone : Pushed::no_holder;
    }
    if (ring.ring.push({message.segment->number(), message.slot, replayed}) !=
        shm::DescriptorRing::Outcome::ok) {
      ring.gone.store(true);  // L5
      release_holds(*ring.peer, {message.segment->number(), message.slot, replayed});
      return Pushed::gone;
    }
    if (replayed) ring.replays.fetch_add(1, std::memory_order_relaxed);
  }
  wake(ring);
  return Pushed::yes;
}

// A tool that is stopped, by Ctrl-Z or a debugger, must not make a robot wait. Its messages are
// dropped and counted. A slow tool makes a `block` channel wait, as any subscriber does.
bool Sender::is_stopped_tool(const TxRing& ring) const {
  if (!ring.tool) return false;
  const shm::Control& peer = ring.peer->control;
  return peer.pid_space() == self_->control().pid_space() && shm::is_stopped(peer.pid());
}

Sender::Pushed Sender::push_blocking(TxRing& ring, const Prepared& message,
                                     std::int64_t deadline_ns) {
  std::atomic<std::uint32_t>& waiters = ring.ring.header().space_waiters;
  std::uint64_t unused = 0;
  for (;;) {
    const Pushed result = push(ring, message, As::live, false, unused);
    if (result != Pushed::full) return result;
    if (deadline_ns != 0 && monotonic_now().ns >= deadline_ns) return Pushed::full;
    if (is_stopped_tool(ring)) return Pushed::full;
    std::int64_t until_ns = deadline_ns;
    if (ring.tool) {  // it may be stopped while this thread waits
      const std::int64_t next_look_ns = monotonic_now().ns + kLookAtTools.ns;
      until_ns = deadline_ns == 0 ? next_look_ns : std::min(deadline_ns, next_look_ns);
    }
    waiters.store(1, std::memory_order_seq_cst);
    if (ring.full() && !ring.gone.load(std::memory_order_seq_cst)) {
      shm::futex_wait(waiters, 1, until_ns);
    }
  }
}

// One call of send().
namespace {

/// Indexes of rings that were full. Up to `few_` entries need no heap memory.
class FullRings {
 public:
  void add(std::size_t ring) {
    if (count_ < few_.size()) {
      few_[count_] = ring;
    } else {
      more_.push_back(ring);
    }
    ++count_;
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::size_t operator[](std::size_t i) const {
    return i < few_.size() ? few_[i] : more_[i - few_.size()];
  }

 private:
  std::size_t count_ = 0;
  std::array<std::size_t, 16> few_;  // not initialised: only the first `count_` are read
  std::vector<std::size_t> more_;
};

}  // namespace

struct Sender::Sending {
  SendReport report;
  Prepared message;
  bool blocks = false;
  std::uint64_t only = 0;  ///< Meta::peer
  std::int64_t deadline = 0;
  std::array<std::uint64_t, kDropReasons> lost{};
  std::uint64_t overflowed = 0;
  bool too_large = false;  ///< the message could not be prepared, and never can be
  FullRings waiting;
};

HYPHOS_HOT void Sender::note(Sending& now, Pushed result, TxRing& ring) {
  const auto lose = [&](Drop why) {
    ++now.lost[static_cast<std::size_t>(why)];
    ++now.report.dropped;
    if (why == Drop::overflow || why == Drop::timeout) {
      ring.ring.count_drop(static_cast<std::size_t>(why), 1);
    }
  };
  switch (result) {
    case Pushed::yes:
      ++now.report.accepted;
      break;
    case Pushed::no_memory:
      lose(Drop::no_memory);
      break;
    case Pushed::no_holder:
      lose(Drop::too_many);
      break;
    case Pushed::too_large:
      lose(Drop::too_large);
      break;
    case Pushed::gone:
      lose(Drop::disconnected);
      break;
    case Pushed::full:
      lose(now.blocks ? Drop::timeout : Drop::overflow);
  }
}

// Pushes to every ring with room. Under the latch, if the channel is latched.
HYPHOS_HOT void Sender::push_to_all(Sending& now, const TxRings& rings, bool drop_oldest) {
  for (std::size_t i = 0; i < rings.size(); ++i) {
    TxRing& ring = *rings[i];
    if (now.only != 0 && ring.peer->id != now.only) continue;
    if (now.message.segment == nullptr) {
      note(now, now.too_large ? Pushed::too_large : Pushed::no_memory, ring);
      now.report.failure = now.too_large ? Code::too_large : Code::overloaded;
      continue;
    }
    const Pushed result = push(ring, now.message, As::live, drop_oldest, now.overflowed);
    if (result == Pushed::full && now.blocks) {
      now.waiting.add(i);
    } else {
      note(now, result, ring);
    }
  }
}

// Pushes to the full rings, after all others have the message.
void Sender::push_to_waiting(Sending& now, const TxRings& rings) {
  for (std::size_t at = 0; at < now.waiting.size(); ++at) {
    const std::size_t i = now.waiting[at];
    const Pushed result =
        now.blocks ? push_blocking(*rings[i], now.message, now.deadline) : Pushed::full;
    note(now, result, *rings[i]);
    if (result == Pushed::full) now.report.failure = now.blocks ? Code::timeout : Code::overloaded;
  }
}

// False if one copy of the message can never fit into the pool.
bool Sender::can_fit(const Envelope& message) const {
  std::size_t to_copy = 0;
  const auto add = [&](const Buffer& buffer) {
    if (way_of(buffer, self_.get()) == Way::copy) to_copy += aligned(buffer.size());
  };
  add(message.payload);
  for (const Buffer& buffer : message.buffers) add(buffer);
  return self_->pool().fits(std::max<std::size_t>(to_copy, 1));
}

// Called when prepare() found no slot.
void Sender::explain(Sending& now, Port& port, const Envelope& message) {
  now.too_large = !can_fit(message);
  std::uint64_t suppressed = 0;
  if (!now.too_large || !port.limit_log.allow(suppressed)) return;
  std::size_t size = message.payload.size();
  for (const Buffer& buffer : message.buffers) size += buffer.size();
  log::error(kName, "channel '" + port.spec.name + "': cannot send a message of " +
                        std::to_string(size) + " bytes: the largest message in shared memory has " +
                        std::to_string(self_->pool().largest()) + " bytes, by the pool limit of " +
                        std::to_string(self_->pool().limit()) +
                        " bytes. Send it in parts, or enlarge the file system of " +
                        self_->domain().path() + " [too_large]");
}

// Relaying processes also use entries of a holder table, so it can be full in spite of
// kMaxReceivers.
void Sender::log_too_many(Port& port) {
  std::uint64_t suppressed = 0;
  if (!port.limit_log.allow(suppressed)) return;
  log::error(kName, "channel '" + port.spec.name + "': a receiver gets no messages: all " +
                        std::to_string(shm::kMaxHolders) +
                        " holder entries of the pool are in use, or /dev/shm is full. End some "
                        "receivers, or let fewer processes relay messages [exhausted]");
}

// Reports the losses to the caller and to the channel's counters.
HYPHOS_HOT void Sender::settle(Sending& now, Port& port) {
  auto& lost = now.lost;
  const auto lost_by = [&](Drop why) { return lost[static_cast<std::size_t>(why)] != 0; };
  if (lost_by(Drop::too_many)) log_too_many(port);
  if (port.spec.policy.reliability == Reliability::reliable && now.report.dropped != 0 &&
      !now.report.failure) {
    now.report.failure = lost_by(Drop::disconnected) ? Code::disconnected
                         : lost_by(Drop::too_many)   ? Code::exhausted
                                                     : Code::overloaded;
  }
  // The older messages that made room were counted as accepted once, and are lost now.
  lost[static_cast<std::size_t>(Drop::overflow)] += now.overflowed;
  for (std::size_t why = 0; why < lost.size(); ++why) {
    if (lost[why] == 0) continue;
    if (const CallGate::Entry call(port.gate); call) {
      port.send_events->dropped(kName, static_cast<Drop>(why), lost[why]);
    }
  }
}

// Announces the end of a publisher of a latched channel.
void Sender::send_notice(Port& port, const Envelope& notice) {
  Prepared prepared;
  std::list<KeptMessage> before;  // destroyed after the unlock, as it may free slots
  const MutexLock latch(port.latch);
  before = port.kept.forget(notice.meta.sender);
  const auto rings = port.tx_rings();
  if (rings->empty() || !prepare(notice, false, 0, prepared)) return;
  std::uint64_t overflowed = 0;
  for (const auto& ring : *rings) (void)push(*ring, prepared, As::notice, false, overflowed);
}

HYPHOS_HOT SendReport Sender::send(PortId id, const Envelope& message) {
  Sending now;
  const CallGate::Entry inside(ports_.gate());
  Port* const port = ports_.find(id);
  if (!inside || !ports_.started() || port == nullptr) {
    now.report.failure = Code::disconnected;
    return now.report;
  }
  assert(port->send_events != nullptr && "only a publisher port sends");
  if (message.meta.latch == Latch::gone) {
    send_notice(*port, message);
    return now.report;
  }
  const Policy& policy = port->spec.policy;
  now.blocks = port->blocks();
  now.deadline = now.blocks ? deadline_of(policy) : 0;
  std::shared_ptr<const TxRings> rings = port->tx_rings();
  now.only = message.meta.to;
  const auto is_meant = [&now](const auto& ring) { return ring->peer->id == now.only; };
  if (now.only != 0 && std::none_of(rings->begin(), rings->end(), is_meant)) return now.report;
  // Prefetches the cache lines that receivers wrote last, while the message is prepared.
  constexpr std::size_t kPrefetched = 8;
  for (std::size_t i = 0; i < std::min(rings->size(), kPrefetched); ++i) {
    (*rings)[i]->ring.prefetch();
    __builtin_prefetch(&(*rings)[i]->doorbell->asleep, 1);
  }
  // The wait for memory happens before the latch is locked, and only if there is a receiver.
  const bool waits = now.blocks && !message.meta.no_wait;
  if (!rings->empty() && !prepare(message, waits, now.deadline, now.message)) {
    explain(now, *port, message);
  }
  if (policy.latched) {
    KeptMessage before;  // destroyed after the unlock, as it may free slots
    const MutexLock latch(port->latch);
    rings = port->tx_rings();  // no receiver joins from here until all receivers have the message
    if (!rings->empty() && now.message.segment == nullptr) {
      // The first receiver joined just now.
      if (!prepare(message, false, 0, now.message)) explain(now, *port, message);
    }
    before =
        port->kept.keep({message, now.message}, message.meta.sequence, message.meta.latched_depth);
    push_to_all(now, *rings, policy.overflow == Overflow::drop_oldest);
  } else {
    push_to_all(now, *rings, policy.overflow == Overflow::drop_oldest);
  }
  if (!now.waiting.empty()) {
    now.blocks = waits;
    push_to_waiting(now, *rings);
  }
  settle(now, *port);
  return now.report;
}

}  // namespace hyphos::transport::shm_detail
