#include "transport/shm/receiver.hpp"

#include <pthread.h>

#include <bit>
#include <chrono>
#include <thread>

#include "base/hot.hpp"
#include "hyphos/time.hpp"

namespace hyphos::transport::shm_detail {
namespace {

constexpr int kBatch = 32;  // messages from one ring before the next ring is served
// A message that arrives at least this long after the previous one may be processed by the thread
// that received it. At a higher rate, the pool takes several messages per wake-up. With 0 or 20 us
// here, chains of processes carried one sixth fewer messages.
constexpr std::int64_t kApartNs = 100'000;

}  // namespace

// Leader/followers (Schmidt et al., POSA2, 2000). A ring is visited while its bit is set in the
// shared ready words or in `leftover_`.
//  R1  A sender pushes first and then sets the bit. The leader clears the bit first and then reads
//      the ring. So this visit sees the push, or the push causes another visit.
//  R2  Before sleeping, the leader sets the sleep flag and then reads the bits once more. A sender
//      sets the bit and then reads the flag. So one of the two sees the other.
//  R3  A sender may die after it cleared the sleep flag and before it woke the sleeper. The
//      receiver then sleeps with the flag clear, so the control thread wakes it after every death.
//  R4  Rings that wait for room are served first, the longest waiting before the others. Otherwise
//      rings with low numbers would take all the room.
// One thread at a time is the leader (`active_`) and scans the rings. In a receive pool, a second
// thread is the follower:
//  R5  Both threads sleep on the doorbell. The doorbell names the thread that senders wake: the
//      last leader, because its caches are warm. A leader with a callback to run may leave if a
//      follower stands by. It then names the follower in the doorbell and reads the bits once more.
//  R6  A follower may sleep while a leader is active and the sleep flag is clear, because the
//      leader reads all bits before it sleeps. The generation number next to the flag detects a
//      set-and-clear in between. One case remains: a leaving leader sets the flag, and a sender
//      clears it before the leader has reset `active_`. That sender finds no sleeper to wake, and
//      the follower still sees an active leader. So a leaving leader resets `active_` and then
//      checks the doorbell. If the doorbell has changed, the leader polls again.
HYPHOS_HOT Poll Receiver::poll(int thread, ReadyList* ready) {
  if (polls_end_.load(std::memory_order_seq_cst)) return Poll::over;
  const std::uint32_t self = thread == 0 ? 0b010 : 0b100;
  std::atomic<std::uint32_t>& asleep = self_->control().header().asleep;
  const auto sleep_while = [&](std::uint32_t seen) { shm::futex_wait(asleep, seen, 0, self); };
  if (active_.exchange(true, std::memory_order_seq_cst)) {
    standing_by_.fetch_add(1, std::memory_order_seq_cst);
    const std::uint32_t seen = asleep.load(std::memory_order_seq_cst);
    if (active_.load(std::memory_order_seq_cst)) sleep_while(seen);
    standing_by_.fetch_sub(1, std::memory_order_seq_cst);
    return Poll::again;
  }
  asleep.fetch_and(~1U, std::memory_order_seq_cst);
  for (;;) {
    const bool busy = go_round(ready);
    if (ready != nullptr && !ready->empty()) {
      const bool other = apart_ && standing_by_.load(std::memory_order_seq_cst) != 0;
      const std::uint32_t flag = other ? fall_asleep(shm::kSleepers & ~self) : 0;
      active_.store(false, std::memory_order_seq_cst);
      const bool promoted = flag != 0 && asleep.load(std::memory_order_seq_cst) == flag;
      return promoted ? Poll::promoted : Poll::again;
    }
    const std::uint32_t flag = busy ? 0 : fall_asleep(self);
    if (flag != 0) {
      standing_by_.fetch_add(1, std::memory_order_seq_cst);
      active_.store(false, std::memory_order_seq_cst);
      sleep_while(flag);
      standing_by_.fetch_sub(1, std::memory_order_seq_cst);
      return Poll::again;
    }
    if (polls_end_.load(std::memory_order_seq_cst)) {
      active_.store(false, std::memory_order_seq_cst);
      return Poll::over;
    }
  }
}

// Serves all rings once. Returns false if there was nothing to do.
HYPHOS_HOT bool Receiver::go_round(ReadyList* ready) {
  if (rings_retired_.load(std::memory_order_relaxed)) {
    // Here, between visits, no ring is in use.
    std::vector<std::shared_ptr<RxRing>> retired;
    const MutexLock lock(mutex_);
    retired.swap(retired_);
    rings_retired_.store(false, std::memory_order_relaxed);
  }
  const auto serve = [&](std::uint32_t index) {
    switch (visit(index, ready)) {
      case Visit::done:
        break;
      case Visit::more:
        leftover_[index / 64] |= std::uint64_t{1} << (index % 64);
        break;
      case Visit::waits:
        waiting_.push_back(index);
        break;
      case Visit::took_and_waits:
        behind_.push_back(index);
    }
  };
  shm::ControlHeader& header = self_->control().header();
  bool busy = false;
  const std::uint32_t words = words_.load(std::memory_order_seq_cst);
  for (std::uint32_t word = 0; word < words; ++word) {
    due_[word] = std::exchange(leftover_[word], 0);
    if (header.ready[word].load(std::memory_order_relaxed) != 0) {
      due_[word] |= header.ready[word].exchange(0, std::memory_order_seq_cst);
    }
    busy |= due_[word] != 0;
  }
  called_.swap(waiting_);
  for (const std::uint32_t index : called_) {
    const std::uint64_t bit = std::uint64_t{1} << (index % 64);
    if ((due_[index / 64] & bit) != 0) {
      due_[index / 64] ^= bit;
      serve(index);
    } else {
      waiting_.push_back(index);
    }
  }
  called_.clear();
  for (std::uint32_t word = 0; word < words; ++word) {
    for (std::uint64_t bits = due_[word]; bits != 0; bits &= bits - 1) {
      serve(word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits)));
    }
  }
  waiting_.insert(waiting_.end(), behind_.begin(), behind_.end());
  behind_.clear();
  return busy;
}

// Sets the sleep flag for the named thread. Returns the value of the doorbell until a sender rings
// it. Returns 0 if there is work, so that a leader is needed (R2).
HYPHOS_HOT std::uint32_t Receiver::fall_asleep(std::uint32_t named) {
  constexpr std::uint32_t kBits = shm::kSleepers | 1;
  shm::ControlHeader& header = self_->control().header();
  const std::uint32_t number = (header.asleep.load(std::memory_order_relaxed) & ~kBits) + kBits + 1;
  const std::uint32_t flag = number | named | 1;
  header.asleep.store(flag, std::memory_order_seq_cst);
  bool work = polls_end_.load(std::memory_order_seq_cst) || rings_retired_.load();
  const std::uint32_t words = words_.load(std::memory_order_seq_cst);
  for (std::uint32_t word = 0; word < words; ++word) {
    work |= leftover_[word] != 0 || header.ready[word].load(std::memory_order_seq_cst) != 0;
  }
  if (!work) return flag;
  header.asleep.fetch_and(~1U, std::memory_order_seq_cst);
  return 0;
}

void Receiver::start() {
  receiver_ = std::thread([this] {
    ::pthread_setname_np(::pthread_self(), "hyphos-rx");
    const CallGate::Entry inside(*polls_);
    while (poll(0, nullptr) != Poll::over) {
    }
  });
}

void Receiver::stop() {
  end_polls();
  segments_.clear();
  const MutexLock lock(mutex_);
  retired_.clear();
}

// After the return, no thread polls.
void Receiver::end_polls() {
  polls_end_.store(true, std::memory_order_seq_cst);
  // A thread may be about to sleep. Until it sleeps, a wake-up has no effect.
  for (; !polls_->idle(); std::this_thread::sleep_for(std::chrono::microseconds(100))) {
    shm::wake_all(self_->control().header().asleep);
  }
  polls_->close();
  if (receiver_.joinable()) receiver_.join();
}

PollFunction Receiver::receive_by_polling() {
  end_polls();
  polls_end_.store(false, std::memory_order_seq_cst);
  polls_ = std::make_shared<CallGate>();
  // A thread that runs a callback while polling ends may poll once more after this object is gone.
  // The closed gate rejects that poll.
  return [this, polls = polls_](int thread, ReadyList* ready) {
    const CallGate::Entry inside(*polls);
    return inside ? poll(thread, ready) : Poll::over;
  };
}

// Takes up to kBatch messages.
HYPHOS_HOT Receiver::Visit Receiver::visit(std::uint32_t index, ReadyList* ready) {
  RxRing* const found = by_index_[index].load(std::memory_order_seq_cst);
  if (found == nullptr) return Visit::done;
  RxRing& ring = *found;
  ring.ring.prefetch();
  Port& port = *ring.port;
  // After the call gate is closed, no message is taken. The sender counts the rest.
  const CallGate::Entry call(port.gate);
  if (!call) return Visit::done;
  // A finished ring was counted and is about to be removed. Late wake-ups for it have no effect.
  if (ring.finished.load(std::memory_order_relaxed)) return Visit::done;
  const bool gone = ring.sender_gone.load(std::memory_order_acquire);
  Visit full = Visit::waits;
  if (ring.kept.has_value()) {
    if (port.space_epoch.load(std::memory_order_seq_cst) == ring.kept_epoch) return full;
    port.paused.fetch_sub(1, std::memory_order_seq_cst);
    Envelope message = std::move(*ring.kept);
    ring.kept.reset();
    if (!deliver(ring, message, ready)) return full;
    full = Visit::took_and_waits;
    ring.ring.header().kept.store(0, std::memory_order_release);
  }
  const std::uint64_t half = (ring.ring.depth() - ring.spare) / 2;
  for (int i = 0; i < kBatch; ++i) {
    shm::Descriptor next;
    // A leaving sender deletes its files once its rings are empty, because it then assumes that all
    // messages were received. So the memory of a message is mapped before the message is taken.
    const shm::DescriptorRing::Outcome outcome =
        ring.ring.pop(next, [&](const shm::Descriptor& message) {
          if (!ring.has_hold(message.segment)) (void)this->segment_hold(ring, message.segment);
        });
    if (outcome != shm::DescriptorRing::Outcome::ok) {
      // A ring that breaks its rules is finished, whichever side broke it (L5).
      if (outcome == shm::DescriptorRing::Outcome::corrupt)
        port.sink->dropped(kName, Drop::corrupt, 1);
      ring.ring.made_room();
      if ((gone || outcome == shm::DescriptorRing::Outcome::corrupt) &&
          !ring.finished.exchange(true)) {
        events_.ring_finished();
      }
      return Visit::done;
    }
    if (ring.ring.waiting() <= half) ring.ring.made_room();
    Envelope message;
    if (const auto lost = resolve(ring, next, message)) {
      ring.ring.count_drop(static_cast<std::size_t>(*lost), 1);
      port.sink->dropped(kName, *lost, 1);
      continue;
    }
    if (!deliver(ring, message, ready)) return full;
    full = Visit::took_and_waits;
  }
  ring.ring.made_room();
  return Visit::more;
}

// Returns false if the queue behind the receive sink is full: the ring then waits for on_space().
// on_space() may run just before the message is stored in `kept`, and the epoch detects this case.
// hand_over() counts the ring as paused and then reads the epoch again. on_space() changes the
// epoch and then looks for paused rings.
HYPHOS_HOT bool Receiver::deliver(RxRing& ring, Envelope& message, ReadyList* ready) {
  Port& port = *ring.port;
  if (ready != nullptr) ready->hand_over();
  const std::int64_t arrived = message.meta.stamps.arrived;
  apart_ = arrived - std::exchange(last_arrived_, arrived) >= kApartNs;
  for (;;) {
    const std::uint64_t epoch = port.space_epoch.load(std::memory_order_seq_cst);
    if (port.sink->deliver(message, ready)) return true;
    ring.kept_epoch = epoch;
    port.paused.fetch_add(1, std::memory_order_seq_cst);
    if (port.space_epoch.load(std::memory_order_seq_cst) == epoch) {
      ring.ring.header().kept.store(1, std::memory_order_release);
      ring.kept = std::move(message);
      return false;
    }
    port.paused.fetch_sub(1, std::memory_order_seq_cst);
  }
}

HYPHOS_HOT void Receiver::on_space(PortId id) {
  const CallGate::Entry inside(ports_.gate());
  Port* const port = ports_.find(id);
  if (!inside || port == nullptr) return;
  port->space_epoch.fetch_add(1, std::memory_order_seq_cst);
  if (port->paused.load(std::memory_order_seq_cst) == 0) return;
  shm::ControlHeader& header = self_->control().header();
  const MutexLock lock(mutex_);
  const std::uint32_t words = words_.load(std::memory_order_relaxed);
  for (std::uint32_t word = 0; word < words; ++word) {
    std::uint64_t mine = 0;
    for (std::uint32_t i = 0; i < 64; ++i) {
      const RxRing* const ring = rings_[word * 64 + i].get();
      if (ring != nullptr && ring->port.get() == port) mine |= std::uint64_t{1} << i;
    }
    if (mine != 0) header.ready[word].fetch_or(mine, std::memory_order_seq_cst);
  }
  shm::wake(header.asleep);  // R1 to R3 hold as for a sender
}

HYPHOS_HOT std::shared_ptr<const shm::SegmentHold> Receiver::segment_hold(RxRing& ring,
                                                                          std::uint32_t number) {
  if (ring.has_hold(number)) return ring.segments[number];
  if (number >= shm::kMaxSegments) return nullptr;
  auto segment = segments_.get(self_->domain(), ring.peer->id, number);
  if (!segment) return nullptr;
  const shm::HolderRef entry = (*segment)->find(self_->id(), ring.peer->id);
  if (!entry.valid()) return nullptr;
  if (number >= ring.segments.size()) ring.segments.resize(number + 1);
  ring.segments[number] =
      std::make_shared<const shm::SegmentHold>(shm::SegmentHold{*segment, self_, entry, nullptr});
  return ring.segments[number];
}

std::shared_ptr<const shm::SegmentHold> Receiver::relayed_hold(RxRing& ring, std::uint64_t owner,
                                                               std::uint32_t number) {
  for (const KnownRelay& known : ring.forwards) {
    if (known.owner == owner && known.number == number) return known.segment_hold;
  }
  if (number >= shm::kMaxSegments) return nullptr;
  std::shared_ptr<shm::Segment> segment;
  if (owner == self_->id()) {
    segment = self_->pool().shared_segment(number);  // one of our own messages comes back
  } else if (auto mapped = segments_.get(self_->domain(), owner, number)) {
    segment = *mapped;
  }
  if (segment == nullptr) return nullptr;
  auto record = segments_.relayed(segment, ring.peer->id, self_->id());
  if (record == nullptr) return nullptr;
  const shm::HolderRef entry = record->entry();
  ring.forwards.push_back({owner, number,
                           std::make_shared<const shm::SegmentHold>(shm::SegmentHold{
                               std::move(segment), self_, entry, std::move(record)})});
  return ring.forwards.back().segment_hold;
}

// Takes over the hold of a part that is in another slot than the header.
std::optional<Drop> Receiver::take_external(RxRing& ring, const shm::Part& part, Buffer& out) {
  const auto right = part.owner == ring.peer->id ? this->segment_hold(ring, part.segment)
                                                 : relayed_hold(ring, part.owner, part.segment);
  if (right == nullptr) return Drop::disconnected;  // the pool's owner died meanwhile
  shm::Segment* const segment = right->segment.get();
  if (part.slot >= segment->slots()) return Drop::corrupt;
  shm::SlotRef* held = self_->held().take(right, part.slot);
  out = Buffer(segment->payload(part.slot), 0, held);
  if (part.offset > segment->slot_size() || part.size > segment->slot_size() - part.offset) {
    return Drop::corrupt;
  }
  held->add_ref();
  out = Buffer(segment->payload(part.slot) + part.offset, part.size, held);
  return {};
}

// Builds the envelope around the slots. The holds that came with the message are taken over one by
// one, so that they are released even if the rest of the message is corrupt.
HYPHOS_HOT std::optional<Drop> Receiver::resolve(RxRing& ring, const shm::Descriptor& message,
                                                 Envelope& out) {
  const auto right = this->segment_hold(ring, message.segment);
  if (right == nullptr) return Drop::disconnected;
  shm::Segment& segment = *right->segment;
  if (message.slot >= segment.slots()) return Drop::corrupt;
  __builtin_prefetch(&segment.message(message.slot));
  __builtin_prefetch(segment.payload(message.slot));
  shm::SlotRef* held = self_->held().take(right, message.slot);
  shm::MessageHeader header;
  const bool sound = shm::read_message(segment.message(message.slot), header);
  const Buffer primary(segment.payload(message.slot), 0, held);
  if (!sound) return Drop::corrupt;
  std::optional<Drop> wrong;
  for (std::uint32_t i = 0; i < header.parts; ++i) {
    const shm::Part& part = header.part[i];
    Buffer buffer;
    if (part.owner != 0) {
      if (const auto lost = take_external(ring, part, buffer)) wrong = lost;
    } else if (part.offset > segment.slot_size() || part.size > segment.slot_size() - part.offset) {
      wrong = Drop::corrupt;
    } else if (part.size != 0) {
      held->add_ref();
      buffer = Buffer(primary.data() + part.offset, part.size, held);
    }
    if (i == 0) {
      out.payload = std::move(buffer);
    } else {
      out.buffers.push_back(std::move(buffer));
    }
  }
  if (wrong.has_value()) return wrong;
  if (header.type_hash != ring.port->spec.type.hash) return Drop::type;
  out.meta.type_hash = header.type_hash;
  out.meta.sequence = header.sequence;
  out.meta.sender = header.sender;
  out.meta.replayed = message.replayed || (header.flags & shm::kReplayed) != 0;
  if ((header.flags & (shm::kLatched | shm::kPublisherGone)) != 0) {
    out.meta.latch = (header.flags & shm::kLatched) != 0 ? Latch::last : Latch::gone;
    out.meta.latched_depth =
        static_cast<std::uint16_t>((header.flags >> shm::kLatchedDepthShift) + 1);
  }
  if ((header.flags & shm::kCall) != 0) {
    out.meta.call = {header.call_client, header.call_id, header.call_kind};
  }
  out.meta.peer = ring.peer->id;
  out.meta.stamps.publish = header.publish;
  out.meta.stamps.encoded = header.encoded;
  out.meta.stamps.submitted = header.submitted;
  out.meta.stamps.arrived = monotonic_now().ns;
  return {};
}

}  // namespace hyphos::transport::shm_detail
