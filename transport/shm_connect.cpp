#include <algorithm>

#include "base/log.hpp"
#include "transport/shm_impl.hpp"

// Which lanes there are: what follows from our endpoints, a peer's endpoints and its lanes. All of
// this runs under control_mutex_.
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
                  (port->inlet != nullptr ? " expects " : " publishes ") +
                  type(port->spec.type.name, port->spec.type.encoding) + ", " +
                  describe(peer.control.process(), peer.id) +
                  (theirs.is_publisher != 0 ? " publishes " : " expects ") +
                  type(shm::get_text(theirs.type), static_cast<Encoding>(theirs.encoding)),
              port->spec.name};
  events_.emplace_back([port, error = std::move(error)] {
    const Passage call(port->gate);
    if (!call) return;
    if (port->inlet != nullptr) port->inlet->refused(kName, error);
    if (port->outlet != nullptr) port->outlet->refused(kName, error);
  });
}

void Shm::match_publications(const std::shared_ptr<Peer>& peer,
                             const std::vector<shm::EndpointRecord>& endpoints) {
  std::vector<std::shared_ptr<Port>> ports;
  {
    const std::shared_lock lock(ports_mutex_);
    ports = ports_;
  }
  for (const auto& port : ports) {
    if (port == nullptr || port->serial == 0) continue;
    for (const shm::EndpointRecord& theirs : endpoints) {
      if ((theirs.is_publisher != 0) == (port->outlet != nullptr)) continue;
      if (port->spec.name != shm::get_text(theirs.channel)) continue;
      if (!shm::may_meet(port->record, theirs)) continue;
      if (theirs.type_hash != port->spec.type.hash) {
        refuse(port, *peer, theirs);
      } else if (port->inlet != nullptr) {
        make_rx_lane(peer, port, theirs);
      }
    }
  }
}

void Shm::make_rx_lane(const std::shared_ptr<Peer>& peer, const std::shared_ptr<Port>& port,
                       const shm::EndpointRecord& theirs) {
  const std::uint64_t publication = theirs.serial;
  std::uint32_t index = shm::kMaxLanes;
  {
    const std::lock_guard rx(rx_mutex_);
    for (std::uint32_t i = shm::kMaxLanes; i-- > 0;) {
      const auto& lane = rx_lanes_[i];
      if (lane == nullptr) index = i;
      if (lane != nullptr && lane->peer == peer && lane->port == port &&
          lane->publication == publication) {
        return;
      }
    }
  }
  auto lane = std::make_shared<RxLane>();
  lane->peer = peer;
  lane->port = port;
  lane->publication = publication;
  lane->serial = next_serial_++;
  const std::uint32_t depth = port->spec.policy.depth;
  if ((theirs.flags & shm::kKeepsLast) != 0) {
    lane->spare = std::min(shm::kLatchedCells, shm::kMaxDepth - depth);
  }
  Error error{Code::exhausted, "this process has 1024 queues already; split it", port->spec.name};
  if (index < shm::kMaxLanes) {
    auto made =
        shm::Lane::create(self_->domain(), self_->id(), lane->serial, peer->id,
                          depth + lane->spare, index, port->spec.type.hash, port->spec.name);
    if (made) {
      lane->lane = std::move(*made);
    } else {
      error = made.error();
      index = shm::kMaxLanes;
    }
  }
  if (index >= shm::kMaxLanes) {
    if (!port->refused.insert({peer->id, publication}).second) return;
    log::error("shm", error.to_string());
    events_.emplace_back([port, error] {
      if (const Passage call(port->gate); call) port->inlet->refused(kName, error);
    });
    return;
  }
  peer->sent_to_us = true;
  self_->held().reserve_more(std::min<std::size_t>(depth, 256) * 2);
  {
    const std::lock_guard rx(rx_mutex_);
    rx_lanes_[index] = lane;
    rx_by_index_[index].store(lane.get(), std::memory_order_seq_cst);
    rx_words_.store(std::max(rx_words_.load(), index / 64 + 1), std::memory_order_seq_cst);
  }
  self_->control().set_lane(index, {lane->serial, peer->id, publication, port->serial});
  self_->domain().notify(self_->socket(), peer->id);
  events_.emplace_back([port, who = peer->control.process(), id = peer->id] {
    if (const Passage call(port->gate); call) port->inlet->peer(kName, who, id, true);
  });
}

// The lane is empty and nothing more comes.
void Shm::finish_rx_lane(std::uint32_t index) {
  std::shared_ptr<RxLane> lane;
  {
    const std::lock_guard rx(rx_mutex_);
    lane = take_out(index);
  }
  if (lane == nullptr) return;
  self_->control().set_lane(index, {});
  self_->domain().remove(shm::lane_name(self_->id(), lane->serial));
  if (!lane->peer->dead()) self_->domain().notify(self_->socket(), lane->peer->id);
  events_.emplace_back(
      [port = lane->port, who = lane->peer->control.process(), id = lane->peer->id] {
        if (const Passage call(port->gate); call) port->inlet->peer(kName, who, id, false);
      });
}

void Shm::match_lanes(const std::shared_ptr<Peer>& peer,
                      const std::vector<shm::EndpointRecord>& endpoints,
                      const std::vector<shm::LaneRecord>& lanes) {
  {
    const std::lock_guard rx(rx_mutex_);
    for (std::uint32_t i = 0; i < shm::kMaxLanes; ++i) {
      RxLane* lane = rx_lanes_[i].get();
      if (lane == nullptr || lane->peer != peer) continue;
      const bool there = std::any_of(endpoints.begin(), endpoints.end(), [&](const auto& record) {
        return record.is_publisher != 0 && record.serial == lane->publication;
      });
      if (!there && !lane->sender_gone.exchange(true)) kick(i);
    }
  }
  for (const shm::LaneRecord& record : lanes) {
    if (record.sender == self_->id()) make_tx_lane(peer, record);
  }
  std::vector<std::shared_ptr<Port>> ports;
  {
    const std::shared_lock lock(ports_mutex_);
    ports = ports_;
  }
  for (const auto& port : ports) {
    if (port == nullptr || port->outlet == nullptr) continue;
    drop_tx_lanes(port, [&](const TxLane& lane) {
      return lane.peer == peer &&
             std::none_of(lanes.begin(), lanes.end(), [&](const shm::LaneRecord& record) {
               return record.serial == lane.serial && record.sender == self_->id();
             });
    });
  }
}

void Shm::make_tx_lane(const std::shared_ptr<Peer>& peer, const shm::LaneRecord& record) {
  std::shared_ptr<Port> port;
  {
    const std::shared_lock lock(ports_mutex_);
    for (const auto& candidate : ports_) {
      if (candidate != nullptr && candidate->outlet != nullptr &&
          candidate->serial == record.publication) {
        port = candidate;
      }
    }
  }
  if (port == nullptr) return;
  const auto now = port->tx_lanes();
  for (const auto& known : *now) {
    if (known->peer == peer && known->serial == record.serial) return;
  }
  auto opened = shm::Lane::open(self_->domain(), peer->id, record.serial, self_->id());
  if (!opened) {
    // Not there any more is normal: it was taken down again, and a notice is on its way.
    if (opened.error().code != Code::not_found) log::warn("shm", opened.error().to_string());
    return;
  }
  auto lane = std::make_shared<TxLane>();
  lane->peer = peer;
  lane->lane = std::move(*opened);
  lane->doorbell = &peer->control.header();
  lane->serial = record.serial;
  // The receiver made it so much longer, unless it is as long as any may be.
  const std::uint32_t most = lane->lane.depth() - 1;
  if (port->spec.policy.latched) lane->spare = std::min(shm::kLatchedCells, most);
  {
    const std::lock_guard latch(port->latch);
    auto next = std::make_shared<TxLanes>(*now);
    next->push_back(lane);
    {
      const std::lock_guard lanes(port->lanes_mutex);
      port->lanes = std::move(next);
    }
    port->kept.each([&](KeptMessage& kept) {
      std::uint64_t overflowed = 0;
      if (kept.prepared.segment == nullptr && !prepare(kept.message, false, 0, kept.prepared)) {
        return;
      }
      // The lane is new. Without room for all, the newest count.
      (void)push(*lane, kept.prepared, As::replay, true, overflowed);
    });
  }
  announce_listeners(port);
}

void Shm::drop_tx_lanes(const std::shared_ptr<Port>& port,
                        const std::function<bool(const TxLane&)>& which) {
  const auto now = port->tx_lanes();
  auto next = std::make_shared<TxLanes>();
  std::uint64_t lost = 0;
  for (const auto& lane : *now) {
    if (!which(*lane)) {
      next->push_back(lane);
      continue;
    }
    {
      const std::lock_guard producer(lane->producer);
      lane->gone.store(true, std::memory_order_seq_cst);
      // The receiver takes nothing any more; what it left is lost. If it lives, it cannot give back
      // holds on what it never took.
      shm::Descriptor left;
      while (lane->lane.pop(left) == shm::Lane::Outcome::ok) {
        ++lost;
        if (!lane->peer->dead()) release_holds(*lane->peer, left);
      }
      if (lane->lane.header().kept.load(std::memory_order_acquire) != 0) ++lost;
    }
    shm::knock(lane->lane.header().space_waiters);
  }
  if (next->size() == now->size()) return;
  {
    const std::lock_guard lanes(port->lanes_mutex);
    port->lanes = std::move(next);
  }
  if (lost != 0) {
    events_.emplace_back([port, lost] {
      if (const Passage call(port->gate); call) {
        port->outlet->dropped(kName, Drop::disconnected, lost);
      }
    });
  }
  announce_listeners(port);
}

void Shm::announce_listeners(const std::shared_ptr<Port>& port) {
  events_.emplace_back([port] {
    const auto count = static_cast<std::uint32_t>(port->tx_lanes()->size());
    if (const Passage call(port->gate); call) port->outlet->listeners(kName, count);
  });
}

}  // namespace hyphos::transport::shm_detail
