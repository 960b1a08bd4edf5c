#include "cosim/network/due.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace hyphos::cosim {

Error Due::past(Time at) const {
  return {Code::out_of_range,
          std::to_string(at.ns) + " ns is in the past: the network is at " +
              std::to_string(now_.ns) + " ns",
          who_};
}

void Due::clear(std::uint32_t nodes) {
  nodes_ = nodes;
  now_ = {};
  due_ = {};
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
  for (; !due_.empty() && due_.top().time < end; due_.pop()) over_.push_back(due_.top());
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
  for (auto due = due_; !due.empty(); due.pop()) put_outcome(state, due.top());
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
