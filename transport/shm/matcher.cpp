#include "transport/shm/matcher.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <unordered_set>

#include "base/log.hpp"
#include "shm/metrics.hpp"
#include "trace/record.hpp"
#include "wire/packet.hpp"

namespace hyphos::transport::shm_detail {
namespace {

std::string describe(std::string_view process, std::uint64_t id) {
  std::string text = process.empty() ? "process" : std::string(process);
  return text + " (shm:" + shm::to_hex(id) + ")";
}

/// The owner of an endpoint for people: "node 'talker' of process 'main' (pid 12)". The names of
/// the nodes are in the metrics of the process, which are absent if it has no node yet.
std::string owner(const std::vector<shm::MetricsView>& all, std::string_view process,
                  std::uint64_t id, const std::string& channel, bool is_publisher,
                  std::uint64_t type_hash) {
  std::string nodes;
  int pid = 0;
  for (const shm::MetricsView& view : all) {
    if (view.participant != id) continue;
    pid = view.pid;
    const auto info = trace::read_area(view.bytes());
    if (!info) continue;
    std::set<std::string> names;
    for (const EndpointInfo& end : info->endpoints) {
      if (end.channel == channel && end.is_publisher == is_publisher &&
          end.type_hash == type_hash && !end.node.empty()) {
        names.insert(end.node);
      }
    }
    for (const std::string& name : names) nodes += (nodes.empty() ? "'" : ", '") + name + "'";
    if (!names.empty()) nodes = (names.size() > 1 ? "nodes " : "node ") + nodes + " of ";
  }
  std::string text = nodes + "process '" + std::string(process) + "'";
  return pid == 0 ? text : text + " (pid " + std::to_string(pid) + ")";
}

}  // namespace

// --- Endpoints ---------------------------------------------------------------------------------

Result<void> Matcher::announce(const std::shared_ptr<Port>& port) {
  shm::EndpointRecord& record = port->record;
  record = {};
  record.serial = next_serial_++;
  record.type_hash = port->spec.type.hash;
  record.depth = port->spec.policy.depth;
  record.is_publisher = port->send_events != nullptr ? 1 : 0;
  record.encoding = static_cast<std::uint8_t>(port->spec.type.encoding);
  if (config_.guest) record.flags |= shm::kGuest;
  if (port->spec.tools_only) record.flags |= shm::kToolsOnly;
  if (port->send_events != nullptr && port->spec.policy.latched) record.flags |= shm::kKeepsLast;
  record.realm = config_.host.empty() ? 0 : wire::fnv1a(config_.host);
  record.channel_hash = wire::fnv1a(port->spec.name);
  shm::put_text(record.channel, port->spec.name);
  shm::put_text(record.type, port->spec.type.name);
  if (auto added = endpoints_.add(self_->control(), port); !added) return added;
  ++version_;
  return {};
}

void Matcher::withdraw(const std::shared_ptr<Port>& port) {
  if (endpoints_.remove(self_->control(), port)) {
    rings_.remove_refusals(self_->control(),
                           [&](const Match& refused) { return refused.port == port->serial; });
    reported_.erase(port->serial);
    ++version_;
  }
  if (port->send_events == nullptr) return;
  for (const auto& ring : sender_.leave_rings(*port)) free_place(*ring);
}

void Matcher::forget(std::uint64_t peer) {
  rings_.remove_refusals(self_->control(),
                         [&](const Match& refused) { return refused.peer == peer; });
}

void Matcher::match_again() {
  ++version_;
  events_.signal();
}

bool Matcher::is_first_report(const Port& port, std::uint64_t peer, std::uint64_t serial) {
  return reported_[port.serial].insert({peer, serial}).second;
}

bool Matcher::match(const std::shared_ptr<Peer>& peer,
                    const std::vector<shm::EndpointRecord>& endpoints,
                    const std::vector<shm::RingRecord>& rings) {
  const bool sends = match_publications(peer, endpoints);
  match_rings(peer, endpoints, rings);
  return sends;
}

bool Matcher::match_publications(const std::shared_ptr<Peer>& peer,
                                 const std::vector<shm::EndpointRecord>& endpoints) {
  bool made = false;
  for (const shm::EndpointRecord& theirs : endpoints) {
    const auto [first, last] = endpoints_.named(theirs.channel_hash);
    for (auto at = first; at != last; ++at) made |= match_publication(peer, at->second, theirs);
  }
  return made;
}

bool Matcher::match_publication(const std::shared_ptr<Peer>& peer,
                                const std::shared_ptr<Port>& port,
                                const shm::EndpointRecord& theirs) {
  if ((theirs.is_publisher != 0) == (port->send_events != nullptr)) return false;
  if (port->spec.name != shm::get_text(theirs.channel)) return false;
  if (!shm::may_meet(port->record, theirs)) return false;
  if (theirs.type_hash != port->spec.type.hash) {
    refuse(port, *peer, theirs);
    return false;
  }
  return port->sink != nullptr && make_rx_ring(peer, port, theirs);
}

void Matcher::refuse(const std::shared_ptr<Port>& port, const Peer& peer,
                     const shm::EndpointRecord& theirs) {
  if (!is_first_report(*port, peer.id, theirs.serial)) return;
  const auto type = [](std::string_view name, Encoding encoding) {
    return "'" + std::string(name) + "' (" + std::string(hyphos::to_string(encoding)) + ")";
  };
  const std::string& channel = port->spec.name;
  const bool publishes = port->sink == nullptr;
  const std::string ours = type(port->spec.type.name, port->spec.type.encoding);
  const std::string other =
      type(shm::get_text(theirs.type), static_cast<Encoding>(theirs.encoding));
  const std::filesystem::path base =
      std::filesystem::path(self_->domain().path()).parent_path().parent_path();
  const auto metrics = shm::open_metrics(self_->domain().name(), base);
  const std::vector<shm::MetricsView> none;
  const auto& all = metrics ? *metrics : none;
  Error error{
      Code::type_mismatch,
      owner(all, config_.process_name, self_->id(), channel, publishes, port->spec.type.hash) +
          (publishes ? " publishes " : " expects ") + ours + ", " +
          owner(all, peer.control.process(), peer.id, channel, !publishes, theirs.type_hash) +
          (publishes ? " expects " : " publishes ") + other +
          (ours == other ? ". The two definitions of the type differ: build both programs with one"
                         : ". No message passes. Use one type in both, or two channels"),
      "channel '" + channel + "'"};
  calls_.emplace_back([port, error = std::move(error)] {
    const CallGate::Entry call(port->gate);
    if (!call) return;
    if (port->sink != nullptr) port->sink->refused(kName, error);
    if (port->send_events != nullptr) port->send_events->refused(kName, error);
  });
}

void Matcher::match_rings(const std::shared_ptr<Peer>& peer,
                          const std::vector<shm::EndpointRecord>& endpoints,
                          const std::vector<shm::RingRecord>& rings) {
  std::unordered_set<std::uint64_t> publications;
  for (const shm::EndpointRecord& record : endpoints) {
    if (record.is_publisher != 0) publications.insert(record.serial);
  }
  receiver_.lose(*peer, publications);
  rings_.remove_refusals(self_->control(), [&](const Match& refused) {
    return refused.peer == peer->id && !publications.contains(refused.publication);
  });
  std::unordered_set<std::uint64_t> ours;
  for (const shm::RingRecord& record : rings) {
    if (record.sender != self_->id()) continue;
    ours.insert(record.serial);
    const auto receiver = std::find_if(
        endpoints.begin(), endpoints.end(),
        [&](const shm::EndpointRecord& one) { return one.serial == record.subscription; });
    const bool guest = receiver != endpoints.end() && (receiver->flags & shm::kGuest) != 0;
    make_tx_ring(peer, record, guest && !config_.guest);
  }
  reply_attached(peer->id);
  for (const auto& [serial, port] : endpoints_.all()) {
    if (port->send_events == nullptr) continue;
    drop_tx_rings(
        port, [&](const TxRing& ring) { return ring.peer == peer && !ours.contains(ring.serial); });
  }
}

// --- Rings from peers --------------------------------------------------------------------------

bool Matcher::make_rx_ring(const std::shared_ptr<Peer>& peer, const std::shared_ptr<Port>& port,
                           const shm::EndpointRecord& theirs) {
  const std::uint64_t publication = theirs.serial;
  const Match match{peer->id, port->serial, publication};
  if (rings_.has_ring(match)) return false;
  const auto index = rings_.take();
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
    return false;
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
  if (!made) {
    rings_.give_back(*index);
    refuse_ring(peer, port, publication, shm::kRefusedMemory, made.error());
    return false;
  }
  ring->ring = std::move(*made);
  ring->ring.header().refused.store(shm::kNoReply);
  receiver_.add(*index, ring);  // the receiving thread must know the ring before the sender can
  const shm::RingRecord record{ring->serial, peer->id, publication, port->serial, 0};
  if (const auto shown = rings_.add_ring(self_->control(), match, *index, record); !shown) {
    (void)receiver_.take_out(*index);
    self_->domain().remove(shm::ring_name(self_->id(), ring->serial));
    rings_.give_back(*index);
    refuse_ring(peer, port, publication, shm::kRefusedMemory, shown.error());
    return false;
  }
  self_->held().reserve_more(std::min<std::size_t>(port->spec.policy.depth, 256) * 2);
  self_->domain().notify(self_->socket(), peer->id);
  return true;
}

// Both sides report the reason: this side now, the publisher when it finds the record in our table.
// If the table has no room for the record, only this side reports it.
void Matcher::refuse_ring(const std::shared_ptr<Peer>& peer, const std::shared_ptr<Port>& port,
                          std::uint64_t publication, std::uint64_t reason, Error error) {
  const shm::RingRecord record{next_serial_++, peer->id, publication, port->serial, reason};
  if (rings_.add_refusal(self_->control(), {peer->id, port->serial, publication}, record)) {
    self_->domain().notify(self_->socket(), peer->id);
  }
  if (!is_first_report(*port, peer->id, publication)) return;
  calls_.emplace_back([port, error = std::move(error)] {
    if (const CallGate::Entry call(port->gate); call) port->sink->refused(kName, error);
  });
}

void Matcher::review_rx_rings() {
  for (const std::uint32_t index : receiver_.finished()) finish_rx_ring(index);
  for (const auto& [index, ring] : receiver_.replied()) report_reply(index, ring);
}

// The ring is empty and its sender has left.
void Matcher::finish_rx_ring(std::uint32_t index) {
  const std::shared_ptr<RxRing> ring = receiver_.take_out(index);
  if (ring == nullptr) return;
  free_ring(*ring, index);
  if (!ring->peer->dead()) self_->domain().notify(self_->socket(), ring->peer->id);
  if (ring->reported == RxRing::Reply::attached) report_peer(*ring, false);
}

void Matcher::report_peer(const RxRing& ring, bool present) {
  calls_.emplace_back(
      [port = ring.port, who = ring.peer->control.process(), id = ring.peer->id, present] {
        if (const CallGate::Entry call(port->gate); call) port->sink->peer(kName, who, id, present);
      });
}

void Matcher::free_ring(const RxRing& ring, std::uint32_t index) {
  rings_.remove_ring(self_->control(), {ring.peer->id, ring.port->serial, ring.publication}, index);
  self_->domain().remove(shm::ring_name(self_->id(), ring.serial));
  if (rings_.has_refusals()) match_again();  // a refused publication may fit now
}

std::uint64_t Matcher::remove_rx_rings(const Port& port) {
  std::uint64_t lost = 0;
  for (const auto& [index, ring] : receiver_.take_out(port)) {
    free_ring(*ring, index);
    // The sender counts the rest of the ring, and the one kept message, if it still can.
    if (ring->kept.has_value() && ring->sender_gone.load()) ++lost;
    ring->kept.reset();
  }
  return lost;
}

// The sink sees a peer when its sender has attached the ring, because a publisher that waits for
// its subscribers loses no message from then on. A sender may refuse a ring and accept it later.
void Matcher::report_reply(std::uint32_t index, const std::shared_ptr<RxRing>& ring) {
  using Reply = RxRing::Reply;
  const Reply now = ring->reply();
  const Reply before = std::exchange(ring->reported, now);
  if (before == Reply::attached && now != Reply::attached) report_peer(*ring, false);
  if (now == Reply::attached && before != Reply::attached) {
    report_peer(*ring, true);
    calls_.emplace_back([this, index, ring] { receiver_.open(index, ring); });
  }
  if (now == Reply::refused && before != Reply::refused) {
    Error error{Code::exhausted,
                "channel '" + ring->port->spec.name + "': " +
                    describe(ring->peer->control.process(), ring->peer->id) + " sends nothing to " +
                    describe(config_.process_name, self_->id()) + ": the sender already has " +
                    std::to_string(ring->ring.header().refused.load()) +
                    " receiving processes, which is the limit. End some of them, or let another "
                    "process relay its messages",
                ring->port->spec.name};
    calls_.emplace_back([port = ring->port, error = std::move(error)] {
      if (const CallGate::Entry call(port->gate); call) port->sink->refused(kName, error);
    });
  }
  // The receiving thread does not visit a ring before its sender was reported.
  if (now != Reply::attached && ring->sender_gone.load()) finish_rx_ring(index);
}

// --- Rings to peers ----------------------------------------------------------------------------

bool Matcher::has_place_for(const Peer& peer) {
  if (receivers_.contains(peer.id) || receivers_.size() < config_.max_receivers) return true;
  receivers_refused_ = true;
  return false;
}

// With a ring: this sender has no room for another receiver. Without: the receiver has no room for
// a ring.
void Matcher::refuse_receiver(const std::shared_ptr<Peer>& peer, const std::shared_ptr<Port>& port,
                              const shm::RingRecord& record) {
  if (!is_first_report(*port, peer->id, record.serial)) return;
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
  calls_.emplace_back([port, error = std::move(error)] {
    if (const CallGate::Entry call(port->gate); call) port->send_events->refused(kName, error);
  });
}

void Matcher::make_tx_ring(const std::shared_ptr<Peer>& peer, const shm::RingRecord& record,
                           bool tool) {
  const std::shared_ptr<Port> port = endpoints_.find(record.publication);
  if (port == nullptr || port->send_events == nullptr) return;
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
    if (refused.exchange(config_.max_receivers) != config_.max_receivers) {
      self_->domain().notify(self_->socket(), peer->id);
    }
    refuse_receiver(peer, port, record);
    return;
  }
  ++receivers_[peer->id];
  auto ring = std::make_shared<TxRing>();
  ring->peer = peer;
  ring->ring = std::move(*opened);
  ring->doorbell = &peer->control.header();
  ring->serial = record.serial;
  ring->tool = tool;
  // The receiver added as many cells, unless the ring has the maximum depth.
  const std::uint32_t most = ring->ring.depth() - 1;
  if (port->spec.policy.latched) ring->spare = std::min(shm::kLatchedCells, most);
  attached_.push_back(ring);
  sender_.add_ring(*port, std::move(ring));
  announce_listeners(port);
}

// After announce_listeners(): until then, the graph may send no message.
void Matcher::reply_attached(std::uint64_t peer) {
  if (attached_.empty()) return;
  calls_.emplace_back([this, peer, rings = std::exchange(attached_, {})] {
    bool changed = false;
    for (const auto& ring : rings) changed |= ring->ring.header().refused.exchange(0) != 0;
    if (changed) self_->domain().notify(self_->socket(), peer);
  });
}

void Matcher::drop_receiver(const std::shared_ptr<Port>& port, const Peer& peer) {
  drop_tx_rings(port, [&](const TxRing& ring) { return ring.peer.get() == &peer; });
}

void Matcher::drop_tx_rings(const std::shared_ptr<Port>& port,
                            const std::function<bool(const TxRing&)>& which) {
  const Sender::Removed removed = sender_.remove_rings(*port, which);
  if (removed.rings.empty()) return;
  for (const auto& ring : removed.rings) free_place(*ring);
  if (removed.lost != 0) {
    calls_.emplace_back([port, count = removed.lost] {
      if (const CallGate::Entry call(port->gate); call) {
        port->send_events->dropped(kName, Drop::disconnected, count);
      }
    });
  }
  announce_listeners(port);
}

// Called when a ring is removed. Another receiver may wait for the place of its receiver.
void Matcher::free_place(const TxRing& ring) {
  const auto at = receivers_.find(ring.peer->id);
  if (at == receivers_.end() || --at->second != 0) return;
  receivers_.erase(at);
  if (std::exchange(receivers_refused_, false)) match_again();
}

void Matcher::announce_listeners(const std::shared_ptr<Port>& port) {
  calls_.emplace_back([port] {
    const auto count = static_cast<std::uint32_t>(port->tx_rings()->size());
    if (const CallGate::Entry call(port->gate); call) port->send_events->listeners(kName, count);
  });
}

}  // namespace hyphos::transport::shm_detail
