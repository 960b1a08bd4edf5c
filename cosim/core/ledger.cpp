#include "cosim/core/ledger.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

namespace hyphos::cosim {
namespace {

Error wrong(const Outcome& outcome, const std::string& what) {
  return {Code::corrupt,
          "the network simulator reported packet " + std::to_string(outcome.id) + " " + what, ""};
}

std::string ns(Time t) { return std::to_string(t.ns) + " ns"; }

bool same_bytes(const Buffer& a, const Buffer& b) {
  if (a.size() != b.size()) return false;
  return a.empty() || a.data() == b.data() || std::memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

std::uint64_t PacketCounts::all_dropped() const {
  return std::accumulate(dropped.begin(), dropped.end(), std::uint64_t{0});
}

Result<PacketId> Ledger::send(Packet packet) {
  const bool everyone = packet.to == kEveryone;
  if (packet.from >= nodes_ || (!everyone && packet.to >= nodes_) || packet.from == packet.to) {
    return Error{Code::not_found,
                 "a packet from node " + std::to_string(packet.from) + " to node " +
                     std::to_string(packet.to) + ": the nodes are 0 to " +
                     std::to_string(nodes_ - 1) + ", and no node sends to itself",
                 ""};
  }
  const PacketId id = ++counts_.packets;
  packet.id = id;
  Entry entry{.packet = std::move(packet), .entered = kNever, .open = 1, .settled = {}};
  if (everyone) {
    entry.open = nodes_ - 1;
    entry.settled.resize(nodes_);
    entry.settled[entry.packet.from] = true;
  }
  counts_.sent += entry.open;
  counts_.in_flight += entry.open;
  if (entry.open > 0) open_.emplace(id, std::move(entry));
  return id;
}

void Ledger::enter(PacketId id, Time time) {
  if (const auto found = open_.find(id); found != open_.end()) found->second.entered = time;
}

Result<const Ledger::Entry*> Ledger::check(const Outcome& outcome, Time begin, Time end) const {
  const auto found = open_.find(outcome.id);
  if (found == open_.end()) return wrong(outcome, "which is not in flight");
  const Entry& entry = found->second;
  const bool everyone = entry.packet.to == kEveryone;
  if (outcome.time < begin || outcome.time >= end) {
    return wrong(outcome, "at " + ns(outcome.time) + ", outside the window from " + ns(begin) +
                              " to " + ns(end));
  }
  if (outcome.time < entry.entered) {
    return wrong(outcome, "at " + ns(outcome.time) + ", before it was sent at " +
                              (entry.entered == kNever ? "all" : ns(entry.entered)));
  }
  if (outcome.to == kEveryone) {
    if (!everyone || outcome.fate == Fate::delivered || outcome.copies == 0 ||
        outcome.copies > entry.open) {
      return wrong(outcome, "that " + std::to_string(outcome.copies) +
                                " copies had one fate, which is impossible");
    }
  } else if (outcome.to >= nodes_ || outcome.copies != 1 ||
             (everyone ? entry.settled[outcome.to] : outcome.to != entry.packet.to)) {
    return wrong(outcome, "at node " + std::to_string(outcome.to) + ", where no copy is expected");
  }
  if ((outcome.fate == Fate::delivered) != (outcome.reason == DropReason::none)) {
    return wrong(outcome, "with the reason '" + std::string(to_string(outcome.reason)) +
                              "', which does not fit its fate");
  }
  if (outcome.fate == Fate::delivered && !same_bytes(outcome.bytes, entry.packet.bytes)) {
    return wrong(outcome, "with bytes that differ from the sent ones");
  }
  return &entry;
}

void Ledger::settle(const Outcome& outcome) {
  const auto found = open_.find(outcome.id);
  Entry& entry = found->second;
  if (outcome.fate == Fate::delivered) {
    ++counts_.delivered;
  } else {
    counts_.dropped[static_cast<std::size_t>(outcome.reason)] += outcome.copies;
  }
  counts_.in_flight -= outcome.copies;
  if (outcome.to != kEveryone && !entry.settled.empty()) entry.settled[outcome.to] = true;
  entry.open -= outcome.copies;
  if (entry.open == 0) open_.erase(found);
}

void Ledger::active(std::vector<Pair>& pairs) const {
  pairs.clear();
  std::vector<const Entry*> entries;
  entries.reserve(open_.size());
  for (const auto& [id, entry] : open_) entries.push_back(&entry);
  std::ranges::sort(entries, {}, [](const Entry* entry) { return entry->packet.id; });
  std::vector<bool> told(nodes_);
  for (const Entry* entry : entries) {
    const NodeId from = entry->packet.from;
    if (entry->packet.to != kEveryone) {
      pairs.push_back({from, entry->packet.to});
    } else if (!told[from]) {
      told[from] = true;
      for (NodeId to = 0; to < nodes_; ++to) {
        if (to != from) pairs.push_back({from, to});
      }
    }
  }
}

PacketId Ledger::first_of(const Pair& pair) const {
  PacketId first = 0;
  for (const auto& [id, entry] : open_) {
    const bool ours = entry.packet.from == pair.from &&
                      (entry.packet.to == pair.to || entry.packet.to == kEveryone);
    if (ours && (first == 0 || id < first)) first = id;
  }
  return first;
}

}  // namespace hyphos::cosim
