#include <algorithm>
#include <utility>

#include "hyphos/time.hpp"
#include "transport/shm/sender.hpp"

// The calls of the directory: rings that come and go.
namespace hyphos::transport::shm_detail {

void Sender::add_ring(Port& port, std::shared_ptr<TxRing> added) {
  TxRing& ring = *added;
  const MutexLock latch(port.latch);
  auto next = std::make_shared<TxRings>(*port.tx_rings());
  next->push_back(std::move(added));
  {
    const MutexLock rings(port.rings_mutex);
    port.rings = std::move(next);
  }
  for (KeptMessage& kept : port.kept) {
    std::uint64_t overflowed = 0;
    Prepared again;
    Prepared& ready = kept.prepared.forwards() ? again : kept.prepared;
    if (ready.segment == nullptr && !prepare(kept.message, false, 0, ready)) continue;
    // The ring is new. If not all values fit, the newest are kept.
    (void)push(ring, ready, As::replay, true, overflowed);
  }
}

Sender::Removed Sender::remove_rings(Port& port, const std::function<bool(const TxRing&)>& which) {
  Removed removed;
  const auto now = port.tx_rings();
  if (std::none_of(now->begin(), now->end(), [&](const auto& ring) { return which(*ring); })) {
    return removed;
  }
  auto next = std::make_shared<TxRings>();
  for (const auto& ring : *now) {
    if (!which(*ring)) {
      next->push_back(ring);
      continue;
    }
    removed.rings.push_back(ring);
    {
      const MutexLock producer(ring->producer);
      ring->gone.store(true, std::memory_order_seq_cst);
      // The receiver takes no more messages, so the rest is lost. If it is alive, it cannot release
      // holds on messages that it never took.
      shm::Descriptor left;
      while (ring->ring.pop(left) == shm::DescriptorRing::Outcome::ok) {
        ++removed.lost;
        if (!ring->peer->dead()) release_holds(*ring->peer, left);
      }
      if (ring->ring.header().kept.load(std::memory_order_acquire) != 0) ++removed.lost;
    }
    shm::wake_all(ring->ring.header().space_waiters);
  }
  const MutexLock rings(port.rings_mutex);
  port.rings = std::move(next);
  return removed;
}

TxRings Sender::leave_rings(Port& port) {
  TxRings left = *port.tx_rings();
  for (const auto& ring : left) {
    const MutexLock producer(ring->producer);
    ring->gone.store(true);
    shm::wake(ring->ring.header().space_waiters);
  }
  left_.insert(left_.end(), left.begin(), left.end());
  review_left();
  const MutexLock rings(port.rings_mutex);
  port.rings = std::make_shared<TxRings>();
  return left;
}

void Sender::review_left() {
  std::erase_if(left_, [](const auto& ring) { return ring->peer->dead() || ring->ring.empty(); });
}

// Receivers read the rest of their rings even after we left, if the files still exist.
void Sender::leave() {
  review_left();
  if (!std::exchange(left_, {}).empty()) self_->leave_files();
}

// For a message that the receiver will not take, because this sender removed it from the ring.
void Sender::release_holds(Peer& peer, const shm::Descriptor& message) {
  shm::Segment* segment = self_->pool().segment(message.segment);
  if (segment == nullptr || message.slot >= segment->slots()) return;  // a broken ring
  shm::MessageHeader header;
  const bool sound = shm::read_message(segment->message(message.slot), header);
  // Release the header's slot last: the header is stable only while its slot is held.
  for (std::uint32_t i = 0; sound && i < header.parts; ++i) {
    const shm::Part& part = header.part[i];
    if (part.owner == 0) continue;
    if (part.owner == self_->id()) {
      shm::Segment* own = self_->pool().segment(part.segment);
      if (own != nullptr && part.slot < own->slots()) {
        own->release_hold(part.slot, peer.entry(*own, self_->id()));
      }
      continue;
    }
    const auto [foreign, entry] = peer.relayed(part.owner, part.segment);
    if (foreign == nullptr || part.slot >= foreign->slots()) continue;
    foreign->release_hold(part.slot, entry);
    foreign->wake_owner();
  }
  segment->release_hold(message.slot, peer.entry(*segment, self_->id()));
}

void Sender::flush(std::int64_t deadline_ns) {
  TxRings rings;
  for (const auto& port : ports_.all()) {
    if (port->spec.policy.reliability != Reliability::reliable) continue;
    const auto tx_rings = port->tx_rings();  // holds the list during the insertion
    rings.insert(rings.end(), tx_rings->begin(), tx_rings->end());
  }
  for (const auto& ring : rings) {
    std::atomic<std::uint32_t>& waiters = ring->ring.header().space_waiters;
    while (!ring->ring.empty() && !ring->gone.load() && monotonic_now().ns < deadline_ns) {
      waiters.store(1, std::memory_order_seq_cst);
      if (ring->ring.empty() || ring->gone.load()) break;
      shm::futex_wait(waiters, 1, deadline_ns);
    }
  }
}

void Sender::give_up() {
  for (const auto& port : ports_.all()) {
    const auto tx_rings = port->tx_rings();  // holds the list during the loop
    for (const auto& ring : *tx_rings) {
      ring->gone.store(true);
      shm::wake(ring->ring.header().space_waiters);
    }
  }
  shm::wake(self_->control().header().pool_waiters);
}

}  // namespace hyphos::transport::shm_detail
