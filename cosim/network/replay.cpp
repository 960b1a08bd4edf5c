#include "cosim/network/replay.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "cosim/core/random.hpp"
#include "cosim/remote/codec.hpp"

namespace hyphos::cosim {
namespace {

constexpr std::uint64_t kLossDraw = std::uint64_t{4} << 40;  // the purpose of a random draw

Error unfit(Code code, std::string what) { return {code, std::move(what), "replay"}; }

}  // namespace

Result<void> Replay::init(std::uint32_t nodes, std::uint64_t seed) {
  if (nodes != recording_->nodes()) {
    return unfit(Code::invalid_config, "the recording has " + std::to_string(recording_->nodes()) +
                                           " nodes, but the run has " + std::to_string(nodes));
  }
  seed_ = seed;
  turns_.assign(std::size_t{nodes} * nodes, {Time{-1}, 0});
  due_.clear(nodes);
  return success();
}

Result<const Recording::Entry*> Replay::take(NodeId from, NodeId to, Time stamp) {
  const auto entries = recording_->link(from, to);
  if (entries.empty()) {
    return unfit(Code::invalid_config, "the recording has no data for the link from node " +
                                           std::to_string(from) + " to node " + std::to_string(to));
  }
  const auto same = std::ranges::equal_range(entries, stamp, {}, &Recording::Entry::time);
  if (!same.empty()) {
    Turn& now = turn(from, to);
    if (now.time != stamp) now = {stamp, 0};
    const auto last = static_cast<std::uint64_t>(same.size()) - 1;
    return &*(same.begin() + static_cast<std::ptrdiff_t>(std::min(now.taken++, last)));
  }
  // Packets in flight at the end give no information about other packets.
  const auto told = [](const Recording::Entry& entry) { return !entry.open; };
  const auto before = entries.first(static_cast<std::size_t>(same.begin() - entries.begin()));
  const auto latest = std::find_if(before.rbegin(), before.rend(), told);
  if (latest != before.rend()) return &*latest;
  const auto first = std::ranges::find_if(entries, told);
  return first != entries.end() ? &*first : &entries.front();
}

Result<void> Replay::inject(const Packet& packet) {
  if (auto good = due_.check(packet); !good) return good;
  std::vector<Outcome> groups;
  for (NodeId to = 0; to < due_.nodes(); ++to) {
    if (to == packet.from || (packet.to != kEveryone && to != packet.to)) continue;
    auto entry = take(packet.from, to, packet.stamp);
    if (!entry) return entry.error();
    const Recording::Entry& was = **entry;
    if (was.open) continue;  // in flight at the end of the recording: stays in flight
    auto time = checked_add(packet.stamp, was.delay);
    if (!time) return time.error();
    Outcome outcome{.id = packet.id, .to = to, .time = *time, .reason = was.reason};
    if (was.loss > 0 && draw_unit(seed_, packet.id, kLossDraw, to) < was.loss) {
      outcome.reason = DropReason::channel_error;
    }
    if (outcome.reason != DropReason::none) outcome.fate = Fate::dropped;
    if (outcome.fate == Fate::delivered) outcome.bytes = packet.bytes;
    if (!was.grouped || packet.to != kEveryone) {
      due_.push(std::move(outcome));
      continue;
    }
    outcome.to = kEveryone;
    const auto alike = std::ranges::find_if(groups, [&](const Outcome& group) {
      return group.time == outcome.time && group.reason == outcome.reason;
    });
    if (alike == groups.end()) {
      groups.push_back(std::move(outcome));
    } else {
      ++alike->copies;
    }
  }
  for (Outcome& group : groups) due_.push(std::move(group));
  return success();
}

Result<std::vector<std::byte>> Replay::save() const {
  Writer state;
  state.put(seed_);
  state.put(static_cast<std::uint64_t>(turns_.size()));
  for (const Turn& turn : turns_) {
    state.put(turn.time.ns);
    state.put(turn.taken);
  }
  due_.save(state);
  return std::vector<std::byte>(state.bytes().begin(), state.bytes().end());
}

Result<void> Replay::restore(std::span<const std::byte> state) {
  Reader reader(state);
  const auto seed = reader.get<std::uint64_t>();
  std::vector<Turn> turns(turns_.size());
  const bool fits = reader.get<std::uint64_t>() == turns.size();
  for (Turn& turn : turns) {
    turn.time.ns = reader.get<std::int64_t>();
    turn.taken = reader.get<std::uint64_t>();
  }
  Due due = due_;
  if (!due.restore(reader) || !fits || !reader.complete() || due.nodes() != due_.nodes()) {
    return unfit(Code::corrupt, "the saved state is not a state of a replay of this recording");
  }
  seed_ = seed;
  turns_ = std::move(turns);
  due_ = std::move(due);
  return success();
}

}  // namespace hyphos::cosim
