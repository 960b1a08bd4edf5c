#include <algorithm>

#include "base/log.hpp"
#include "transport/shm/shm_impl.hpp"

// Determines which descriptor rings exist, from our endpoints, a peer's endpoints and its rings.
// All of this runs under control_mutex_.
namespace hyphos::transport::shm_detail {
namespace {

std::string describe(std::string_view process, std::uint64_t id) {
  std::string text = process.empty() ? "process" : std::string(process);
  return text + " (shm:" + shm::to_hex(id) + ")";
}

}  // namespace

void Shm::refuse(const std::shared_ptr<Port>& port, const Peer& peer,
                 const shm::EndpointRecord& theirs) {
  if (!port->refused.insert({peer.id, theirs.serial}).second) return;
  const auto type = [](std::string_view name, Encoding encoding) {
    return "'" + std::string(name) + "' (" + std::string(hyphos::to_string(encoding)) + ")";
  };
  Error error{Code::type_mismatch,
              "channel '" + port->spec.name + "': " + describe(config_.process_name, self_->id()) +
                  (port->sink != nullptr ? " expects " : " publishes ") +
                  type(port->spec.type.name, port->spec.type.encoding) + ", " +
                  describe(peer.control.process(), peer.id) +
                  (theirs.is_publisher != 0 ? " publishes " : " expects ") +
                  type(shm::get_text(theirs.type), static_cast<Encoding>(theirs.encoding)),
              port->spec.name};
  events_.emplace_back([port, error = std::move(error)] {
    const CallGate::Entry call(port->gate);
    if (!call) return;
    if (port->sink != nullptr) port->sink->refused(kName, error);
    if (port->send_events != nullptr) port->send_events->refused(kName, error);
  });
}

void Shm::match_publications(const std::shared_ptr<Peer>& peer,
                             const std::vector<shm::EndpointRecord>& endpoints) {
  for (const shm::EndpointRecord& theirs : endpoints) {
    const auto [first, last] = named_.equal_range(theirs.channel_hash);
    for (auto at = first; at != last; ++at) match_publication(peer, at->second, theirs);
  }
}

void Shm::match_publication(const std::shared_ptr<Peer>& peer, const std::shared_ptr<Port>& port,
                            const shm::EndpointRecord& theirs) {
  if ((theirs.is_publisher != 0) == (port->send_events != nullptr)) return;
  if (port->spec.name != shm::get_text(theirs.channel)) return;
  if (!shm::may_meet(port->record, theirs)) return;
  if (theirs.type_hash != port->spec.type.hash) {
    refuse(port, *peer, theirs);
  } else if (port->sink != nullptr) {
    make_rx_ring(peer, port, theirs);
  }
}

// The lowest free ring index below `limit`.
std::optional<std::uint32_t> Shm::take_ring(std::uint32_t limit) {
  const auto free = std::find(ring_used_.begin(), ring_used_.end(), false);
  const auto index = static_cast<std::uint32_t>(free - ring_used_.begin());
  if (index >= limit) return {};
  if (free == ring_used_.end()) {
    ring_used_.push_back(true);
  } else {
    *free = true;
  }
  return index;
}

void Shm::free_ring(std::uint32_t index) {
  ring_used_[index] = false;
  // A refused publication may fit now.
  if (refusals_.empty()) return;
  ++local_version_;
  signal_control(false);
}

void Shm::make_rx_ring(const std::shared_ptr<Peer>& peer, const std::shared_ptr<Port>& port,
                       const shm::EndpointRecord& theirs) {
  const std::uint64_t publication = theirs.serial;
  const Refusal key{peer->id, port->serial, publication};
  if (rx_known_.contains(key)) return;
  const auto index = take_ring(shm::kMaxRings);
  if (!index) {
    refuse_ring(
        peer, port, publication, shm::kRefusedQueues,
        {Code::exhausted,
         "channel '" + port->spec.name + "': " + describe(config_.process_name, self_->id()) +
             " cannot receive from " + describe(peer->control.process(), peer->id) +
             ": the receiver already has " + std::to_string(shm::kMaxRings) +
             " queues, one for each publisher of each subscribed channel, which is the limit. "
             "Close subscriptions, or split the process",
         port->spec.name});
    return;
  }
  auto ring = std::make_shared<RxRing>();
  ring->peer = peer;
  ring->port = port;
  ring->publication = publication;
  ring->serial = next_serial_++;
  const std::uint32_t depth = port->spec.policy.depth;
  if ((theirs.flags & shm::kKeepsLast) != 0) {
    ring->spare = std::min(shm::kLatchedCells, shm::kMaxDepth - depth);
  }
  auto made = shm::DescriptorRing::create(self_->domain(), self_->id(), ring->serial, peer->id,
                                          depth + ring->spare, *index, port->spec.type.hash,
                                          port->spec.name);
  if (made) ring->ring = std::move(*made);
  const shm::RingRecord record{ring->serial, peer->id, publication, port->serial, 0};
  {
    const std::lock_guard rx(rx_mutex_);
    const std::uint32_t words = *index / 64 + 1;
    if (made && rx_rings_.size() < std::size_t{words} * 64) rx_rings_.resize(words * 64);
  }
  if (made) {
    // The receiving thread must know the ring before the sender can.
    const std::lock_guard rx(rx_mutex_);
    rx_rings_[*index] = ring;
    rx_by_index_[*index].store(ring.get(), std::memory_order_seq_cst);
    rx_words_.store(std::max(rx_words_.load(), *index / 64 + 1), std::memory_order_seq_cst);
  }
  const auto written = made ? self_->control().set_ring(*index, record) : made.error();
  if (!written) {
    if (made) {
      const std::lock_guard rx(rx_mutex_);
      (void)take_out(*index);
      self_->domain().remove(shm::ring_name(self_->id(), ring->serial));
    }
    ring_used_[*index] = false;
    refuse_ring(peer, port, publication, shm::kRefusedMemory, written.error());
    return;
  }
  free_refusals([&](const Refusal& refusal) { return refusal == key; });
  rx_known_.emplace(key, *index);
  peer->sent_to_us = true;
  self_->held().reserve_more(std::min<std::size_t>(port->spec.policy.depth, 256) * 2);
  self_->domain().notify(self_->socket(), peer->id);
  events_.emplace_back([port, who = peer->control.process(), id = peer->id] {
    if (const CallGate::Entry call(port->gate); call) port->sink->peer(kName, who, id, true);
  });
}

// Both sides report the reason: this side now, the publisher when it finds the record in our table.
// If the table has no room for the record, only this side reports it.
void Shm::refuse_ring(const std::shared_ptr<Peer>& peer, const std::shared_ptr<Port>& port,
                      std::uint64_t publication, std::uint64_t reason, Error error) {
  const Refusal key{peer->id, port->serial, publication};
  if (!refusals_.contains(key)) {
    if (const auto index = take_ring(shm::kMaxRings + shm::kMaxRefusals)) {
      const shm::RingRecord record{next_serial_++, peer->id, publication, port->serial, reason};
      if (self_->control().set_ring(*index, record)) {
        refusals_.emplace(key, *index);
        self_->domain().notify(self_->socket(), peer->id);
      } else {
        ring_used_[*index] = false;
      }
    }
  }
  if (!port->refused.insert({peer->id, publication}).second) return;
  events_.emplace_back([port, error = std::move(error)] {
    if (const CallGate::Entry call(port->gate); call) port->sink->refused(kName, error);
  });
}

void Shm::free_refusals(const std::function<bool(const Refusal&)>& which) {
  for (auto at = refusals_.begin(); at != refusals_.end();) {
    if (!which(at->first)) {
      ++at;
      continue;
    }
    (void)self_->control().set_ring(at->second, {});
    ring_used_[at->second] = false;
    at = refusals_.erase(at);
  }
}

// A sender may refuse a ring and accept it later.
void Shm::look_for_refusals() {
  std::vector<std::shared_ptr<RxRing>> rings;
  {
    const std::lock_guard rx(rx_mutex_);
    for (const auto& ring : rx_rings_) {
      if (ring == nullptr) continue;
      if ((ring->ring.header().refused.load() != 0) != ring->refused) rings.push_back(ring);
    }
  }
  for (const auto& ring : rings) {
    ring->refused = !ring->refused;
    Error error{Code::exhausted,
                "channel '" + ring->port->spec.name + "': " +
                    describe(ring->peer->control.process(), ring->peer->id) + " sends nothing to " +
                    describe(config_.process_name, self_->id()) + ": the sender already has " +
                    std::to_string(ring->ring.header().refused.load()) +
                    " receiving processes, which is the limit. End some of them, or let another "
                    "process relay its messages",
                ring->port->spec.name};
    events_.emplace_back([port = ring->port, who = ring->peer->control.process(),
                          id = ring->peer->id, refused = ring->refused, error = std::move(error)] {
      const CallGate::Entry call(port->gate);
      if (!call) return;
      port->sink->peer(kName, who, id, !refused);
      if (refused) port->sink->refused(kName, error);
    });
  }
}

// The ring is empty and its sender has left.
void Shm::finish_rx_ring(std::uint32_t index) {
  std::shared_ptr<RxRing> ring;
  {
    const std::lock_guard rx(rx_mutex_);
    ring = take_out(index);
  }
  if (ring == nullptr) return;
  (void)self_->control().set_ring(index, {});
  rx_known_.erase({ring->peer->id, ring->port->serial, ring->publication});
  free_ring(index);
  self_->domain().remove(shm::ring_name(self_->id(), ring->serial));
  if (!ring->peer->dead()) self_->domain().notify(self_->socket(), ring->peer->id);
  if (ring->refused) return;  // the receive sink never saw this peer
  events_.emplace_back(
      [port = ring->port, who = ring->peer->control.process(), id = ring->peer->id] {
        if (const CallGate::Entry call(port->gate); call) port->sink->peer(kName, who, id, false);
      });
}

void Shm::match_rings(const std::shared_ptr<Peer>& peer,
                      const std::vector<shm::EndpointRecord>& endpoints,
                      const std::vector<shm::RingRecord>& rings) {
  std::unordered_set<std::uint64_t> publications;
  for (const shm::EndpointRecord& record : endpoints) {
    if (record.is_publisher != 0) publications.insert(record.serial);
  }
  {
    const std::lock_guard rx(rx_mutex_);
    for (std::uint32_t i = 0; i < rx_rings_.size(); ++i) {
      RxRing* ring = rx_rings_[i].get();
      if (ring == nullptr || ring->peer != peer) continue;
      if (!publications.contains(ring->publication) && !ring->sender_gone.exchange(true))
        mark_ready(i);
    }
  }
  free_refusals([&](const Refusal& refusal) {
    return refusal.peer == peer->id && !publications.contains(refusal.publication);
  });
  std::unordered_set<std::uint64_t> ours;
  for (const shm::RingRecord& record : rings) {
    if (record.sender != self_->id()) continue;
    ours.insert(record.serial);
    make_tx_ring(peer, record);
  }
  for (const auto& [serial, port] : announced_) {
    if (port->send_events == nullptr) continue;
    drop_tx_rings(
        port, [&](const TxRing& ring) { return ring.peer == peer && !ours.contains(ring.serial); });
  }
}

bool Shm::has_place_for(const Peer& peer) {
  if (receivers_.contains(peer.id) || receivers_.size() < config_.max_receivers) return true;
  receivers_refused_ = true;
  return false;
}

// With a ring: this sender has no room for another receiver. Without: the receiver has no room for
// a ring.
void Shm::refuse_receiver(const std::shared_ptr<Peer>& peer, const std::shared_ptr<Port>& port,
                          const shm::RingRecord& record) {
  if (!port->refused.insert({peer->id, record.serial}).second) return;
  std::string why = "channel '" + port->spec.name +
                    "': " + describe(config_.process_name, self_->id()) + " sends nothing to " +
                    describe(peer->control.process(), peer->id) + ": ";
  if (record.refused == 0) {
    why += "the sender already has " + std::to_string(receivers_.size()) +
           " receiving processes, which is the limit. End some of them, or let another process "
           "relay its messages";
  } else if (record.refused == shm::kRefusedQueues) {
    why += "the receiver already has " + std::to_string(shm::kMaxRings) +
           " queues, which is the limit. Close subscriptions there, or split that process";
  } else {
    why += "the receiver found no shared memory for a queue. See its log for the missing size";
  }
  Error error{Code::exhausted, std::move(why), port->spec.name};
  events_.emplace_back([port, error = std::move(error)] {
    if (const CallGate::Entry call(port->gate); call) port->send_events->refused(kName, error);
  });
}

void Shm::make_tx_ring(const std::shared_ptr<Peer>& peer, const shm::RingRecord& record) {
  const auto found = announced_.find(record.publication);
  if (found == announced_.end() || found->second->send_events == nullptr) return;
  const std::shared_ptr<Port> port = found->second;
  if (record.refused != 0) {
    refuse_receiver(peer, port, record);
    return;
  }
  const auto now = port->tx_rings();
  for (const auto& known : *now) {
    if (known->peer == peer && known->serial == record.serial) return;
  }
  auto opened = shm::DescriptorRing::open(self_->domain(), peer->id, record.serial, self_->id());
  if (!opened) {
    // A missing file is normal: the ring was removed again, and a notice is in flight.
    if (opened.error().code != Code::not_found) log::warn("shm", opened.error().to_string());
    return;
  }
  std::atomic<std::uint32_t>& refused = opened->header().refused;
  if (!has_place_for(*peer)) {
    if (refused.exchange(config_.max_receivers) == 0)
      self_->domain().notify(self_->socket(), peer->id);
    refuse_receiver(peer, port, record);
    return;
  }
  if (refused.exchange(0) != 0) self_->domain().notify(self_->socket(), peer->id);
  ++receivers_[peer->id];
  auto ring = std::make_shared<TxRing>();
  ring->peer = peer;
  ring->ring = std::move(*opened);
  ring->doorbell = &peer->control.header();
  ring->serial = record.serial;
  // The receiver added as many cells, unless the ring has the maximum depth.
  const std::uint32_t most = ring->ring.depth() - 1;
  if (port->spec.policy.latched) ring->spare = std::min(shm::kLatchedCells, most);
  {
    const std::lock_guard latch(port->latch);
    auto next = std::make_shared<TxRings>(*now);
    next->push_back(ring);
    {
      const std::lock_guard rings(port->rings_mutex);
      port->rings = std::move(next);
    }
    for (KeptMessage& kept : port->kept) {
      std::uint64_t overflowed = 0;
      Prepared again;
      Prepared& ready = kept.prepared.forwards() ? again : kept.prepared;
      if (ready.segment == nullptr && !prepare(kept.message, false, 0, ready)) continue;
      // The ring is new. If not all values fit, the newest are kept.
      (void)push(*ring, ready, As::replay, true, overflowed);
    }
  }
  announce_listeners(port);
}

void Shm::drop_tx_rings(const std::shared_ptr<Port>& port,
                        const std::function<bool(const TxRing&)>& which) {
  const auto now = port->tx_rings();
  if (std::none_of(now->begin(), now->end(), [&](const auto& ring) { return which(*ring); })) {
    return;
  }
  auto next = std::make_shared<TxRings>();
  std::uint64_t lost = 0;
  for (const auto& ring : *now) {
    if (!which(*ring)) {
      next->push_back(ring);
      continue;
    }
    leave(*ring);
    {
      const std::lock_guard producer(ring->producer);
      ring->gone.store(true, std::memory_order_seq_cst);
      // The receiver takes no more messages, so the rest is lost. If it is alive, it cannot release
      // holds on messages that it never took.
      shm::Descriptor left;
      while (ring->ring.pop(left) == shm::DescriptorRing::Outcome::ok) {
        ++lost;
        if (!ring->peer->dead()) release_holds(*ring->peer, left);
      }
      if (ring->ring.header().kept.load(std::memory_order_acquire) != 0) ++lost;
    }
    shm::wake_all(ring->ring.header().space_waiters);
  }
  {
    const std::lock_guard rings(port->rings_mutex);
    port->rings = std::move(next);
  }
  if (lost != 0) {
    events_.emplace_back([port, lost] {
      if (const CallGate::Entry call(port->gate); call) {
        port->send_events->dropped(kName, Drop::disconnected, lost);
      }
    });
  }
  announce_listeners(port);
}

// Called when a ring is removed. Its receiver may be the last whose place another receiver waits
// for.
void Shm::leave(const TxRing& ring) {
  const auto at = receivers_.find(ring.peer->id);
  if (at == receivers_.end() || --at->second != 0) return;
  receivers_.erase(at);
  if (!std::exchange(receivers_refused_, false)) return;
  ++local_version_;
  signal_control(false);
}

void Shm::announce_listeners(const std::shared_ptr<Port>& port) {
  events_.emplace_back([port] {
    const auto count = static_cast<std::uint32_t>(port->tx_rings()->size());
    if (const CallGate::Entry call(port->gate); call) port->send_events->listeners(kName, count);
  });
}

}  // namespace hyphos::transport::shm_detail
