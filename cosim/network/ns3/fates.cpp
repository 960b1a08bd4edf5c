#include "cosim/network/ns3/fates.hpp"

#include <algorithm>
#include <utility>

namespace hyphos::cosim {

NS_OBJECT_ENSURE_REGISTERED(PacketTag);

ns3::TypeId PacketTag::GetTypeId() {
  static const ns3::TypeId id =
      ns3::TypeId("hyphos::cosim::PacketTag").SetParent<ns3::Tag>().AddConstructor<PacketTag>();
  return id;
}

void Fates::sent(const Packet& packet, Time now) {
  const bool everyone = packet.to == kEveryone;
  Entry entry{.from = packet.from, .to = packet.to, .open = everyone ? nodes_ - 1 : 1};
  entry.copies.resize(everyone ? nodes_ : 1);
  entry.stamp = packet.stamp;
  entry.queued = now;
  if (everyone) entry.copies[packet.from].settled = true;
  if (entry.open > 0) open_.emplace(packet.id, std::move(entry));
}

const Fates::Copy* Fates::find(PacketId id, NodeId node) const {
  const auto found = open_.find(id);
  if (found == open_.end()) return nullptr;
  const Entry& entry = found->second;
  if (entry.to == kEveryone) return &entry.copies[node];
  return entry.to == node ? entry.copies.data() : nullptr;
}

Fates::Copy* Fates::open_copy(PacketId id, NodeId node) {
  const Copy* copy = find(id, node);
  return copy == nullptr || copy->settled ? nullptr : const_cast<Copy*>(copy);
}

void Fates::transmitted(PacketId id, Time start) {
  const auto found = open_.find(id);
  if (found == open_.end()) return;
  Time& first = found->second.first;
  first = std::min(first, start);
}

void Fates::reaches(PacketId id, NodeId node, Time start, Duration delay) {
  Copy* copy = open_copy(id, node);
  if (copy == nullptr) return;
  copy->started = start;
  copy->delay = delay;
}

void Fates::heard(PacketId id, NodeId node, Time start, double power_dbm) {
  Copy* copy = open_copy(id, node);
  if (copy == nullptr) return;
  copy->sampled = start;
  copy->power_dbm = power_dbm;
}

bool Fates::heard_at(PacketId id, NodeId node) const {
  const Copy* copy = find(id, node);
  return copy != nullptr && copy->sampled != kNever;
}

void Fates::received(PacketId id, NodeId node, std::uint16_t sequence, Time now) {
  Copy* copy = open_copy(id, node);
  if (copy == nullptr) return;
  // A frame comes again if its acknowledgement was lost.
  const bool again = std::ranges::find(copy->frames, sequence) != copy->frames.end();
  if (!again) copy->frames.push_back(sequence);
  if (again) {
    copy->counted = copy->started;
  } else {
    count(*copy, now);
  }
}

/// Adds the frame on the air to the parts of the delay, once.
void Fates::count(Copy& copy, Time now) {
  if (copy.started == copy.counted || copy.started + copy.delay > now) return;
  copy.counted = copy.started;
  copy.arrived = now;
  copy.propagation = copy.delay;
  copy.airtime = copy.airtime + (now - copy.started - copy.delay);
}

/// The last frame decides about the propagation. The transmission is that of all frames that a
/// packet needs. Other times between the first frame and the delivery are those of repetitions: of
/// waiting for a free channel again, of lost frames, and in TCP of waiting for earlier bytes.
std::optional<DelayParts> Fates::parts_of(const Entry& entry, const Copy& copy, Time now) {
  if (copy.arrived == kNever || entry.first == kNever) return std::nullopt;
  DelayParts parts{.processing = entry.queued - entry.stamp,
                   .queueing = entry.first - entry.queued,
                   .transmission = copy.airtime,
                   .propagation = copy.propagation};
  parts.retransmission = now - entry.stamp - parts.sum();
  return parts;
}

bool Fates::has_received(PacketId id, NodeId node, std::uint16_t sequence) const {
  const Copy* copy = find(id, node);
  return copy != nullptr && std::ranges::find(copy->frames, sequence) != copy->frames.end();
}

void Fates::delivered(PacketId id, NodeId node, Time now, Buffer bytes) {
  Copy* copy = open_copy(id, node);
  if (copy == nullptr) return;
  // A frame of 802.11ac or ax reaches the program before its padding ends.
  count(*copy, now);
  Outcome outcome{.id = id, .to = node, .time = now, .bytes = std::move(bytes)};
  outcome.sampled = copy->sampled;
  outcome.power_dbm = copy->power_dbm;
  outcome.parts = parts_of(open_.at(id), *copy, now);
  outcomes_.push_back(std::move(outcome));
  copy->settled = true;
  settle(id, 1);
}

void Fates::dropped(PacketId id, NodeId node, Time now, DropReason reason) {
  Copy* copy = open_copy(id, node);
  if (copy == nullptr) return;
  Outcome outcome{.id = id, .to = node, .time = now, .fate = Fate::dropped, .reason = reason};
  outcome.sampled = copy->sampled;
  outcome.power_dbm = copy->power_dbm;
  outcomes_.push_back(std::move(outcome));
  copy->settled = true;
  settle(id, 1);
}

void Fates::given_up(PacketId id, Time now, std::uint16_t sequence) {
  const auto found = open_.find(id);
  if (found == open_.end()) return;
  const NodeId to = found->second.to;
  // Only the acknowledgements of the frame were lost.
  if (has_received(id, to, sequence)) return;
  const bool heard = found->second.copies.front().sampled != kNever;
  dropped(id, to, now, heard ? DropReason::retry_limit : DropReason::out_of_range);
}

void Fates::settle(PacketId id, std::uint32_t copies) {
  const auto found = open_.find(id);
  found->second.open -= copies;
  if (found->second.open == 0) open_.erase(found);
}

}  // namespace hyphos::cosim
