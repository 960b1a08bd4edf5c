#include <pthread.h>

#include <bit>

#include "base/hot.hpp"
#include "hyphos/time.hpp"
#include "transport/shm_impl.hpp"

namespace hyphos::transport::shm_detail {
namespace {

constexpr int kBatch = 32;  // messages of one lane before the next lane has its turn

}  // namespace

// Sleeps until a lane has something, and visits it. A lane is visited while it has its bit in the
// shared words or in `leftover`:
//  R1  A sender pushes first and sets the bit then; we take the bit first and look then. So a push
//      is seen by this visit or causes another.
//  R2  Before sleeping we say so and look at the bits once more; a sender sets the bit and then
//      looks whether we sleep. One of the two sees the other.
//  R3  A sender that dies between taking our sleep flag and waking us leaves us asleep with the
//      flag down; the control thread wakes us after every death.
//  R4  Lanes that wait for room have their turn before the others, the longest waiting first: or
//      those with low numbers would take it all.
HYPHOS_HOT void Shm::receive_loop() {
  ::pthread_setname_np(::pthread_self(), "hyphos-shm-rx");
  shm::ControlHeader& header = self_->control().header();
  std::array<std::uint64_t, shm::kMaxLanes / 64> due{};
  std::array<std::uint64_t, shm::kMaxLanes / 64> leftover{};
  std::vector<std::uint32_t> waiting;  // in their order; may name lanes that are gone
  std::vector<std::uint32_t> called;
  std::vector<std::uint32_t> behind;  // those that took some
  const auto serve = [&](std::uint32_t index) {
    switch (visit(index)) {
      case Visit::done:
        break;
      case Visit::more:
        leftover[index / 64] |= std::uint64_t{1} << (index % 64);
        break;
      case Visit::waits:
        waiting.push_back(index);
        break;
      case Visit::took_and_waits:
        behind.push_back(index);
    }
  };
  while (!stopping_.load(std::memory_order_seq_cst)) {
    if (lanes_retired_.load(std::memory_order_relaxed)) {
      // Here, between visits, no lane is in use.
      std::vector<std::shared_ptr<RxLane>> retired;
      const std::lock_guard lock(rx_mutex_);
      retired.swap(retired_lanes_);
      lanes_retired_.store(false, std::memory_order_relaxed);
    }
    bool busy = false;
    const std::uint32_t words = rx_words_.load(std::memory_order_seq_cst);
    for (std::uint32_t word = 0; word < words; ++word) {
      due[word] = std::exchange(leftover[word], 0);
      if (header.ready[word].load(std::memory_order_relaxed) != 0) {
        due[word] |= header.ready[word].exchange(0, std::memory_order_seq_cst);
      }
      busy |= due[word] != 0;
    }
    called.swap(waiting);
    for (const std::uint32_t index : called) {
      const std::uint64_t bit = std::uint64_t{1} << (index % 64);
      if ((due[index / 64] & bit) != 0) {
        due[index / 64] ^= bit;
        serve(index);
      } else {
        waiting.push_back(index);
      }
    }
    called.clear();
    for (std::uint32_t word = 0; word < words; ++word) {
      for (std::uint64_t bits = due[word]; bits != 0; bits &= bits - 1) {
        serve(word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits)));
      }
    }
    waiting.insert(waiting.end(), behind.begin(), behind.end());
    behind.clear();
    if (busy) continue;
    header.asleep.store(1, std::memory_order_seq_cst);
    bool work = stopping_.load(std::memory_order_seq_cst) || lanes_retired_.load() ||
                rx_words_.load(std::memory_order_seq_cst) != words;
    for (std::uint32_t word = 0; word < words; ++word) {
      work |= header.ready[word].load(std::memory_order_seq_cst) != 0;
    }
    if (!work) shm::futex_wait(header.asleep, 1, 0);
    header.asleep.store(0, std::memory_order_seq_cst);
  }
}

void Shm::kick(std::uint32_t index) {
  shm::ControlHeader& header = self_->control().header();
  header.ready[index / 64].fetch_or(std::uint64_t{1} << (index % 64), std::memory_order_seq_cst);
  // Without a look at the flag: it may be down although the thread sleeps (R3).
  header.asleep.store(0, std::memory_order_seq_cst);
  shm::futex_wake(header.asleep, 1);
}

// Takes a lane out of service; the receiving thread may be visiting it. Under rx_mutex_.
std::shared_ptr<RxLane> Shm::take_out(std::uint32_t index) {
  std::shared_ptr<RxLane> lane = std::exchange(rx_lanes_[index], nullptr);
  if (lane == nullptr) return lane;
  rx_by_index_[index].store(nullptr, std::memory_order_seq_cst);
  retired_lanes_.push_back(lane);
  lanes_retired_.store(true, std::memory_order_seq_cst);
  kick(index);
  return lane;
}

// Takes up to kBatch messages.
HYPHOS_HOT Shm::Visit Shm::visit(std::uint32_t index) {
  RxLane* const found = rx_by_index_[index].load(std::memory_order_seq_cst);
  if (found == nullptr) return Visit::done;
  RxLane& lane = *found;
  lane.lane.prefetch();
  Port& port = *lane.port;
  // Once the gate is closed nothing is taken out any more: what remains is the sender's to count.
  const Passage call(port.gate);
  if (!call) return Visit::done;
  // Whatever rings for a lane that is finished: it was counted, and is about to be taken down.
  if (lane.finished.load(std::memory_order_relaxed)) return Visit::done;
  const bool gone = lane.sender_gone.load(std::memory_order_acquire);
  Visit full = Visit::waits;
  if (lane.kept.has_value()) {
    if (port.space_epoch.load(std::memory_order_seq_cst) == lane.kept_epoch) return full;
    port.paused.fetch_sub(1, std::memory_order_seq_cst);
    Envelope message = std::move(*lane.kept);
    lane.kept.reset();
    if (!hand_over(lane, message)) return full;
    full = Visit::took_and_waits;
    lane.lane.header().kept.store(0, std::memory_order_release);
  }
  const std::uint64_t half = lane.lane.depth() / 2;
  for (int i = 0; i < kBatch; ++i) {
    shm::Descriptor next;
    // A sender that leaves takes an empty lane for one whose messages were received, and its files
    // go with it: the memory of a message is mapped before the message is taken.
    const shm::Lane::Outcome outcome = lane.lane.pop(next, [&](const shm::Descriptor& message) {
      if (!lane.has_lease(message.segment)) (void)this->lease(lane, message.segment);
    });
    if (outcome != shm::Lane::Outcome::ok) {
      // A lane that breaks its rules is finished, whoever broke it (L5).
      if (outcome == shm::Lane::Outcome::corrupt) port.inlet->dropped(kName, Drop::corrupt, 1);
      lane.lane.made_room();
      if ((gone || outcome == shm::Lane::Outcome::corrupt) && !lane.finished.exchange(true)) {
        poke(false);
      }
      return Visit::done;
    }
    if (lane.lane.waiting() <= half) lane.lane.made_room();
    Envelope message;
    if (const auto lost = resolve(lane, next, message)) {
      lane.lane.count_drop(static_cast<std::size_t>(*lost), 1);
      port.inlet->dropped(kName, *lost, 1);
      continue;
    }
    if (!hand_over(lane, message)) return full;
    full = Visit::took_and_waits;
  }
  lane.lane.made_room();
  return Visit::more;
}

// False: the queue behind the inlet is full and the lane waits for on_space(). That may be called
// just before the message is put away: the epoch tells, and is looked at after the lane is counted
// as paused; on_space() changes the epoch before it looks for paused lanes.
HYPHOS_HOT bool Shm::hand_over(RxLane& lane, Envelope& message) {
  Port& port = *lane.port;
  for (;;) {
    const std::uint64_t epoch = port.space_epoch.load(std::memory_order_seq_cst);
    if (port.inlet->deliver(message)) return true;
    lane.kept_epoch = epoch;
    port.paused.fetch_add(1, std::memory_order_seq_cst);
    if (port.space_epoch.load(std::memory_order_seq_cst) == epoch) {
      lane.lane.header().kept.store(1, std::memory_order_release);
      lane.kept = std::move(message);
      return false;
    }
    port.paused.fetch_sub(1, std::memory_order_seq_cst);
  }
}

HYPHOS_HOT void Shm::on_space(PortId id) {
  const Passage inside(senders_);
  Port* const port = find(id);
  if (!inside || port == nullptr) return;
  port->space_epoch.fetch_add(1, std::memory_order_seq_cst);
  if (port->paused.load(std::memory_order_seq_cst) == 0 || !started_.load()) return;
  shm::ControlHeader& header = self_->control().header();
  const std::lock_guard lock(rx_mutex_);
  const std::uint32_t words = rx_words_.load(std::memory_order_relaxed);
  for (std::uint32_t word = 0; word < words; ++word) {
    std::uint64_t mine = 0;
    for (std::uint32_t i = 0; i < 64; ++i) {
      const RxLane* const lane = rx_lanes_[word * 64 + i].get();
      if (lane != nullptr && lane->port.get() == port) mine |= std::uint64_t{1} << i;
    }
    if (mine != 0) header.ready[word].fetch_or(mine, std::memory_order_seq_cst);
  }
  shm::ring(header.asleep);  // R1 to R3 hold as for a sender
}

HYPHOS_HOT std::shared_ptr<const shm::Lease> Shm::lease(RxLane& lane, std::uint32_t number) {
  if (lane.has_lease(number)) return lane.segments[number];
  if (number >= shm::kMaxSegments) return nullptr;
  auto segment = segments_.get(self_->domain(), lane.peer->id, number);
  if (!segment) return nullptr;
  const shm::HolderRef entry = (*segment)->find(self_->id(), lane.peer->id);
  if (!entry.valid()) return nullptr;
  if (number >= lane.segments.size()) lane.segments.resize(number + 1);
  lane.segments[number] =
      std::make_shared<const shm::Lease>(shm::Lease{*segment, self_, entry, nullptr});
  return lane.segments[number];
}

std::shared_ptr<const shm::Lease> Shm::forwarded_lease(RxLane& lane, std::uint64_t owner,
                                                       std::uint32_t number) {
  for (const KnownForward& known : lane.forwards) {
    if (known.owner == owner && known.number == number) return known.lease;
  }
  if (number >= shm::kMaxSegments) return nullptr;
  std::shared_ptr<shm::Segment> segment;
  if (owner == self_->id()) {
    segment = self_->pool().shared_segment(number);  // a message of ours comes back
  } else if (auto mapped = segments_.get(self_->domain(), owner, number)) {
    segment = *mapped;
  }
  if (segment == nullptr) return nullptr;
  auto record = segments_.forwarded(segment, lane.peer->id, self_->id());
  if (record == nullptr) return nullptr;
  const shm::HolderRef entry = record->entry();
  lane.forwards.push_back({owner, number,
                           std::make_shared<const shm::Lease>(
                               shm::Lease{std::move(segment), self_, entry, std::move(record)})});
  return lane.forwards.back().lease;
}

// Takes over the hold of a part that lies in another slot than the header.
std::optional<Drop> Shm::take_external(RxLane& lane, const shm::Part& part, Buffer& out) {
  const auto right = part.owner == lane.peer->id ? this->lease(lane, part.segment)
                                                 : forwarded_lease(lane, part.owner, part.segment);
  if (right == nullptr) return Drop::disconnected;  // the pool's owner died on the way
  shm::Segment* const segment = right->segment.get();
  if (part.slot >= segment->slots()) return Drop::corrupt;
  shm::HeldSlot* held = self_->held().take(right, part.slot);
  out = Buffer(segment->payload(part.slot), 0, held);
  if (part.offset > segment->slot_size() || part.size > segment->slot_size() - part.offset) {
    return Drop::corrupt;
  }
  held->add_ref();
  out = Buffer(segment->payload(part.slot) + part.offset, part.size, held);
  return {};
}

// Builds the envelope around the slots. The holds that came with the message are taken over one by
// one, so that whatever is wrong with the rest, they are given back.
HYPHOS_HOT std::optional<Drop> Shm::resolve(RxLane& lane, const shm::Descriptor& message,
                                            Envelope& out) {
  const auto right = this->lease(lane, message.segment);
  if (right == nullptr) return Drop::disconnected;
  shm::Segment& segment = *right->segment;
  if (message.slot >= segment.slots()) return Drop::corrupt;
  __builtin_prefetch(&segment.message(message.slot));
  __builtin_prefetch(segment.payload(message.slot));
  shm::HeldSlot* held = self_->held().take(right, message.slot);
  shm::MessageHeader header;
  const bool sound = shm::read_message(segment.message(message.slot), header);
  const Buffer primary(segment.payload(message.slot), 0, held);
  if (!sound) return Drop::corrupt;
  std::optional<Drop> wrong;
  for (std::uint32_t i = 0; i < header.parts; ++i) {
    const shm::Part& part = header.part[i];
    Buffer buffer;
    if (part.owner != 0) {
      if (const auto lost = take_external(lane, part, buffer)) wrong = lost;
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
  if (header.type_hash != lane.port->spec.type.hash) return Drop::type;
  out.meta.type_hash = header.type_hash;
  out.meta.sequence = header.sequence;
  out.meta.sender = header.sender;
  out.meta.replayed = message.replayed || (header.flags & shm::kReplayed) != 0;
  if ((header.flags & shm::kCall) != 0) {
    out.meta.call = {header.call_client, header.call_id, header.call_kind};
  }
  out.meta.peer = lane.peer->id;
  out.meta.stamps.publish = header.publish;
  out.meta.stamps.encoded = header.encoded;
  out.meta.stamps.handed = header.handed;
  out.meta.stamps.arrived = monotonic_now().ns;
  return {};
}

}  // namespace hyphos::transport::shm_detail
