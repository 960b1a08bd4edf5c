#include "netem/network.hpp"

namespace hyphos::lab {

std::uint32_t Network::copies(const Packet& packet) const {
  return packet.to == kEveryone ? stations() - 1U : 1U;
}

void Network::send(Time now, const Packet& packet) {
  advance(now);
  Counters& mine = counters_[packet.from];
  ++mine.packets;
  mine.bytes += packet.bytes;
  mine.copies += copies(packet);
  take(now, packet);
}

void Network::deliver(const Packet& packet, Station to) {
  if (!receiver_.deliver(packet, to)) return lose(packet, Drop::device_refused, 1);
  ++counters_[packet.from].delivered;
  ++counters_[to].received;
  counters_[to].received_bytes += packet.bytes;
}

std::uint64_t Network::inside() const {
  std::uint64_t sum = 0;
  for (const Counters& each : counters_) sum += each.copies - each.delivered - each.dropped();
  return sum;
}

}  // namespace hyphos::lab
