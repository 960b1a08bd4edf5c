#include "cosim/network/constant_delay.hpp"

namespace hyphos::cosim {

Result<void> ConstantDelay::init(std::uint32_t nodes, std::uint64_t /*seed*/) {
  due_.clear(nodes);
  return success();
}

Result<void> ConstantDelay::inject(const Packet& packet) {
  if (auto good = due_.check(packet); !good) return good;
  auto arrival = checked_add(packet.stamp, delay_);
  if (!arrival) return arrival.error();
  for (NodeId to = 0; to < due_.nodes(); ++to) {
    if (to == packet.from || (packet.to != kEveryone && to != packet.to)) continue;
    due_.push({.id = packet.id, .to = to, .time = *arrival, .bytes = packet.bytes});
  }
  return success();
}

Result<std::vector<std::byte>> ConstantDelay::save() const {
  Writer state;
  due_.save(state);
  return std::vector<std::byte>(state.bytes().begin(), state.bytes().end());
}

Result<void> ConstantDelay::restore(std::span<const std::byte> state) {
  Reader reader(state);
  Due due = due_;
  if (!due.restore(reader) || !reader.complete()) {
    return Error{Code::corrupt, "the saved state is not a state of this network", "constant_delay"};
  }
  due_ = std::move(due);
  return success();
}

}  // namespace hyphos::cosim
