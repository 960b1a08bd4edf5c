#include "cosim/network/due.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

namespace hyphos::cosim {

void OutcomeQueue::push(Outcome outcome) {
  auto place = static_cast<std::uint32_t>(outcomes_.size());
  const Time time = outcome.time;
  const PacketId id = outcome.id;
  const NodeId to = outcome.to;
  if (free_.empty()) {
    outcomes_.push_back(std::move(outcome));
  } else {
    place = free_.back();
    free_.pop_back();
    outcomes_[place] = std::move(outcome);
  }
  heap_.push_back({time, id, to, place});
  std::ranges::push_heap(heap_, std::greater<>());
}

Outcome OutcomeQueue::pop() {
  std::ranges::pop_heap(heap_, std::greater<>());
  const std::uint32_t place = heap_.back().place;
  heap_.pop_back();
  free_.push_back(place);
  return std::move(outcomes_[place]);
}

void OutcomeQueue::take_before(Time end, std::vector<Outcome>& to) {
  while (next() < end) to.push_back(pop());
}

void OutcomeQueue::clear() {
  heap_.clear();
  outcomes_.clear();
  free_.clear();
}

std::vector<const Outcome*> OutcomeQueue::in_order() const {
  std::vector<Key> keys = heap_;
  std::ranges::sort(keys);
  std::vector<const Outcome*> all;
  all.reserve(keys.size());
  for (const Key& key : keys) all.push_back(&outcomes_[key.place]);
  return all;
}

Error Due::past(Time at) const {
  return {Code::out_of_range,
          std::to_string(at.ns) + " ns is in the past: the network is at " +
              std::to_string(now_.ns) + " ns",
          who_};
}

void Due::clear(std::uint32_t nodes) {
  nodes_ = nodes;
  now_ = {};
  due_.clear();
  over_.clear();
}

Result<void> Due::check(const Packet& packet) const {
  if (packet.from >= nodes_ || (packet.to != kEveryone && packet.to >= nodes_)) {
    return Error{Code::not_found, "no node " + std::to_string(std::max(packet.from, packet.to)),
                 who_};
  }
  if (packet.stamp < now_) return past(packet.stamp);
  return success();
}

Result<void> Due::advance(Time end) {
  if (end < now_) return past(end);
  due_.take_before(end, over_);
  now_ = end;
  return success();
}

void Due::poll(std::vector<Outcome>& outcomes) {
  std::ranges::move(over_, std::back_inserter(outcomes));
  over_.clear();
}

void Due::save(Writer& state) const {
  state.put(nodes_);
  state.put(now_.ns);
  state.put(static_cast<std::uint64_t>(due_.size()));
  for (const Outcome* const outcome : due_.in_order()) put_outcome(state, *outcome);
}

bool Due::restore(Reader& state) {
  Due read(who_);
  read.nodes_ = state.get<std::uint32_t>();
  read.now_.ns = state.get<std::int64_t>();
  const auto count = state.get<std::uint64_t>();
  for (std::uint64_t i = 0; i < count && !state.failed(); ++i) {
    if (auto outcome = get_outcome(state)) read.push(std::move(*outcome));
  }
  if (state.failed() || read.due_.size() != count) return false;
  *this = std::move(read);
  return true;
}

}  // namespace hyphos::cosim
