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

void Fates::sent(const Packet& packet) {
  const bool everyone = packet.to == kEveryone;
  Entry entry{.from = packet.from, .to = packet.to, .open = everyone ? nodes_ - 1 : 1};
  entry.copies.resize(everyone ? nodes_ : 1);
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

void Fates::received(PacketId id, NodeId node, std::uint16_t sequence) {
  if (Copy* copy = open_copy(id, node); copy != nullptr) copy->frames.push_back(sequence);
}

bool Fates::has_received(PacketId id, NodeId node, std::uint16_t sequence) const {
  const Copy* copy = find(id, node);
  return copy != nullptr && std::ranges::find(copy->frames, sequence) != copy->frames.end();
}

void Fates::delivered(PacketId id, NodeId node, Time now, Buffer bytes) {
  Copy* copy = open_copy(id, node);
  if (copy == nullptr) return;
  Outcome outcome{.id = id, .to = node, .time = now, .bytes = std::move(bytes)};
  outcome.sampled = copy->sampled;
  outcome.power_dbm = copy->power_dbm;
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
