#include <pthread.h>

#include <bit>

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
//  looks
//      whether we sleep. One of the two sees the other.
//  R3  A sender that dies between taking our sleep flag and waking us leaves us asleep with the
//  flag
//      down; the control thread wakes us after every death.
void Shm::receive_loop() {
  ::pthread_setname_np(::pthread_self(), "hyphos-shm-rx");
  shm::ControlHeader& header = self_->control().header();
  std::array<std::uint64_t, shm::kMaxLanes / 64> leftover{};
  while (!stopping_.load(std::memory_order_seq_cst)) {
    bool busy = false;
    for (std::uint32_t word = 0; word < leftover.size(); ++word) {
      std::uint64_t bits = std::exchange(leftover[word], 0);
      if (header.ready[word].load(std::memory_order_relaxed) != 0) {
        bits |= header.ready[word].exchange(0, std::memory_order_seq_cst);
      }
      for (; bits != 0; bits &= bits - 1) {
        busy = true;
        const auto index = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
        if (visit(index)) leftover[word] |= bits & -bits;
      }
    }
    if (busy) continue;
    header.asleep.store(1, std::memory_order_seq_cst);
    bool work = stopping_.load(std::memory_order_seq_cst);
    for (const auto& ready : header.ready) work |= ready.load(std::memory_order_seq_cst) != 0;
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

// Takes up to kBatch messages; true if the lane wants another visit soon.
bool Shm::visit(std::uint32_t index) {
  std::shared_ptr<RxLane> found;
  {
    const std::lock_guard lock(rx_mutex_);
    found = rx_lanes_[index];
  }
  if (found == nullptr) return false;
  RxLane& lane = *found;
  Port& port = *lane.port;
  // Once the gate is closed nothing is taken out any more: what remains is the sender's to count.
  const Passage call(port.gate);
  if (!call) return false;
  const bool gone = lane.sender_gone.load(std::memory_order_acquire);
  if (lane.kept.has_value()) {
    if (port.space_epoch.load(std::memory_order_seq_cst) == lane.kept_epoch) return false;
    port.paused.fetch_sub(1, std::memory_order_seq_cst);
    Envelope message = std::move(*lane.kept);
    lane.kept.reset();
    if (!hand_over(lane, message)) return false;
    lane.lane.header().kept.store(0, std::memory_order_release);
  }
  const std::uint64_t half = lane.lane.depth() / 2;
  for (int i = 0; i < kBatch; ++i) {
    shm::Descriptor next;
    const shm::Lane::Outcome outcome = lane.lane.pop(next);
    if (outcome != shm::Lane::Outcome::ok) {
      // A lane that breaks its rules is finished, whoever broke it (L5).
      if (outcome == shm::Lane::Outcome::corrupt) port.inlet->dropped(kName, Drop::corrupt, 1);
      lane.lane.made_room();
      if ((gone || outcome == shm::Lane::Outcome::corrupt) && !lane.finished.exchange(true)) {
        poke(false);
      }
      return false;
    }
    if (lane.lane.waiting() <= half) lane.lane.made_room();
    Envelope message;
    if (const auto lost = resolve(lane, next, message)) {
      lane.lane.count_drop(static_cast<std::size_t>(*lost), 1);
      port.inlet->dropped(kName, *lost, 1);
      continue;
    }
    if (!hand_over(lane, message)) return false;
  }
  lane.lane.made_room();
  return true;
}

// False: the queue behind the inlet is full and the lane waits for on_space(). That may be called
// just before the message is put away: the epoch tells, and is looked at after the lane is counted
// as paused; on_space() changes the epoch before it looks for paused lanes.
bool Shm::hand_over(RxLane& lane, Envelope& message) {
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

void Shm::on_space(PortId id) {
  const auto port = find(id);
  if (port == nullptr) return;
  port->space_epoch.fetch_add(1, std::memory_order_seq_cst);
  if (port->paused.load(std::memory_order_seq_cst) == 0 || !started_.load()) return;
  const std::lock_guard lock(rx_mutex_);
  for (std::uint32_t i = 0; i < shm::kMaxLanes; ++i) {
    if (rx_lanes_[i] != nullptr && rx_lanes_[i]->port == port) kick(i);
  }
}

const KnownSegment* Shm::known_segment(RxLane& lane, std::uint32_t number) {
  if (number >= shm::kMaxSegments) return nullptr;
  if (number < lane.segments.size() && lane.segments[number].entry.valid()) {
    return &lane.segments[number];
  }
  auto segment = segments_.get(self_->domain(), lane.peer->id, number);
  if (!segment) return nullptr;
  const shm::HolderRef entry = (*segment)->find(self_->id(), lane.peer->id);
  if (!entry.valid()) return nullptr;
  if (number >= lane.segments.size()) lane.segments.resize(number + 1);
  lane.segments[number] = {*segment, entry};
  return &lane.segments[number];
}

const KnownForward* Shm::known_forward(RxLane& lane, std::uint64_t owner, std::uint32_t number) {
  for (const KnownForward& known : lane.forwards) {
    if (known.owner == owner && known.number == number) return &known;
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
  lane.forwards.push_back({owner, number, std::move(segment), std::move(record)});
  return &lane.forwards.back();
}

// Takes over the hold of a part that lies in another slot than the header.
std::optional<Drop> Shm::take_external(RxLane& lane, const shm::Part& part, Buffer& out) {
  std::shared_ptr<shm::Segment> segment;
  std::shared_ptr<shm::Forwarded> record;
  shm::HolderRef entry;
  if (part.owner == lane.peer->id) {
    const KnownSegment* known = known_segment(lane, part.segment);
    if (known == nullptr) return Drop::disconnected;
    segment = known->segment;
    entry = known->entry;
  } else {
    const KnownForward* known = known_forward(lane, part.owner, part.segment);
    if (known == nullptr) return Drop::disconnected;  // the pool's owner died on the way
    segment = known->segment;
    record = known->record;
    entry = record->entry();
  }
  if (part.slot >= segment->slots()) return Drop::corrupt;
  shm::HeldSlot* held = self_->held().take(self_, segment, part.slot, entry, record);
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
std::optional<Drop> Shm::resolve(RxLane& lane, const shm::Descriptor& message, Envelope& out) {
  const KnownSegment* known = known_segment(lane, message.segment);
  if (known == nullptr) return Drop::disconnected;
  shm::Segment& segment = *known->segment;
  if (message.slot >= segment.slots()) return Drop::corrupt;
  shm::MessageHeader header;
  const bool sound = shm::read_message(segment.message(message.slot), header);
  shm::HeldSlot* held =
      self_->held().take(self_, known->segment, message.slot, known->entry, nullptr);
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
  out.meta.stamps.publish = header.publish;
  out.meta.stamps.encoded = header.encoded;
  out.meta.stamps.handed = header.handed;
  out.meta.stamps.arrived = monotonic_now().ns;
  return {};
}

}  // namespace hyphos::transport::shm_detail
