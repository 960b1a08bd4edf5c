#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cosim/core/simulator.hpp"
#include "ns3/packet.h"
#include "ns3/tag.h"

namespace hyphos::cosim {

/// Marks an ns-3 packet with the id of its Hyphos packet. The tag takes no space on the air.
class PacketTag final : public ns3::Tag {
 public:
  PacketTag() = default;
  explicit PacketTag(PacketId id) : id_(id) {}
  [[nodiscard]] PacketId id() const { return id_; }

  static ns3::TypeId GetTypeId();
  ns3::TypeId GetInstanceTypeId() const override { return GetTypeId(); }
  std::uint32_t GetSerializedSize() const override { return sizeof id_; }
  void Serialize(ns3::TagBuffer buffer) const override { buffer.WriteU64(id_); }
  void Deserialize(ns3::TagBuffer buffer) override { id_ = buffer.ReadU64(); }
  void Print(std::ostream& out) const override { out << "packet " << id_; }

 private:
  PacketId id_ = 0;
};

/// Calls `f(id)` for each Hyphos packet with bytes in a packet of ns-3: the one of its tag, or
/// those of the tags of its bytes (TCP).
template <typename F>
void each_packet(const ns3::Packet& packet, const F& f) {
  PacketTag tag;
  if (packet.PeekPacketTag(tag)) return f(tag.id());
  PacketId last = 0;
  for (auto tags = packet.GetByteTagIterator(); tags.HasNext();) {
    const auto item = tags.Next();
    if (item.GetTypeId() != PacketTag::GetTypeId()) continue;
    item.GetTag(tag);
    if (std::exchange(last, tag.id()) != tag.id()) f(tag.id());
  }
}

/// The outcomes of every copy of every packet in ns-3. The first reported outcome of a copy is
/// final: later events of ns-3 do not change it.
class Fates {
 public:
  void reset(std::uint32_t nodes) { nodes_ = nodes; }

  /// The packet leaves its host at `now`, after its stamp.
  void sent(const Packet& packet, Time now);
  /// A frame of the packet starts.
  void transmitted(PacketId id, Time start);
  /// The frame that started last reaches `node` after `delay`.
  void reaches(PacketId id, NodeId node, Time start, Duration delay);
  /// A frame of the packet, started at `start`, is strong enough to be detected at `node`.
  void heard(PacketId id, NodeId node, Time start, double power_dbm);
  [[nodiscard]] bool heard_at(PacketId id, NodeId node) const;
  /// The receiver of `node` has the complete frame with this sequence number of the sender.
  void received(PacketId id, NodeId node, std::uint16_t sequence, Time now);
  [[nodiscard]] bool has_received(PacketId id, NodeId node, std::uint16_t sequence) const;

  void delivered(PacketId id, NodeId node, Time now, Buffer bytes);
  void dropped(PacketId id, NodeId node, Time now, DropReason reason);
  /// Drops all unsettled copies, except those of nodes with `spare(node)`.
  template <typename Spare>
  void dropped_but(PacketId id, Time now, DropReason reason, const Spare& spare);
  void all_dropped(PacketId id, Time now, DropReason reason) {
    dropped_but(id, now, reason, [](NodeId) { return false; });
  }
  /// The sender gave up the frame: no receiver acknowledged it.
  void given_up(PacketId id, Time now, std::uint16_t sequence);

  [[nodiscard]] std::deque<Outcome>& outcomes() { return outcomes_; }

 private:
  struct Copy {
    bool settled = false;
    Time sampled = kNever;
    double power_dbm = 0;
    std::vector<std::uint16_t> frames{};  // received frames, by sequence number
    Time started = kNever;                // of the frame on the air
    Duration delay{};                     // of the frame on the air
    Time counted = kNever;                // start of the last frame in the parts
    Time arrived = kNever;                // the last new frame
    Duration propagation{};               // of the last new frame
    Duration airtime{};                   // of all new frames
  };
  struct Entry {
    NodeId from = 0;
    NodeId to = 0;
    std::uint32_t open = 0;
    std::vector<Copy> copies{};  // one, or one for each node
    Time stamp{};
    Time queued{};        // when it left its host
    Time first = kNever;  // start of its first frame
  };

  [[nodiscard]] Copy* open_copy(PacketId id, NodeId node);
  [[nodiscard]] const Copy* find(PacketId id, NodeId node) const;
  [[nodiscard]] static std::optional<DelayParts> parts_of(const Entry& entry, const Copy& copy,
                                                          Time now);
  static void count(Copy& copy, Time now);
  void settle(PacketId id, std::uint32_t copies);

  std::uint32_t nodes_ = 0;
  std::unordered_map<PacketId, Entry> open_;
  std::deque<Outcome> outcomes_;
};

template <typename Spare>
void Fates::dropped_but(PacketId id, Time now, DropReason reason, const Spare& spare) {
  const auto found = open_.find(id);
  if (found == open_.end()) return;
  Entry& entry = found->second;
  if (entry.to != kEveryone) {
    if (!spare(entry.to)) dropped(id, entry.to, now, reason);
    return;
  }
  std::uint32_t count = 0;
  for (NodeId node = 0; node < nodes_; ++node) {
    Copy& copy = entry.copies[node];
    if (copy.settled || spare(node)) continue;
    copy.settled = true;
    ++count;
  }
  if (count == 0) return;
  Outcome outcome{.id = id, .to = kEveryone, .time = now, .fate = Fate::dropped, .reason = reason};
  outcome.copies = count;
  outcomes_.push_back(std::move(outcome));
  settle(id, count);
}

}  // namespace hyphos::cosim
