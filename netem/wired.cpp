#include "netem/wired.hpp"

#include <algorithm>
#include <cmath>

namespace hyphos::lab {

Transmitter::Transmitter(double rate_mbit, const QueueOptions& queue)
    : bits_per_s_(std::max<std::int64_t>(1, std::llround(rate_mbit * 1e6))), limit_(queue) {}

bool Transmitter::offer(Time now, const Packet& packet) {
  if (done_ == kNever) {
    carry_ = 0;
    begin(now, packet);
    return true;
  }
  if (waiting_.size() >= limit_.packets) return false;
  if (limit_.bytes > 0 && waiting_bytes_ + packet.bytes > limit_.bytes) return false;
  waiting_.push_back(packet);
  waiting_bytes_ += packet.bytes;
  return true;
}

void Transmitter::begin(Time at, const Packet& packet) {
  const std::int64_t work = static_cast<std::int64_t>(packet.bytes) * 8 * 1'000'000'000 + carry_;
  carry_ = work % bits_per_s_;
  sending_ = packet;
  done_ = at + Duration{work / bits_per_s_};
}

Packet Transmitter::finish() {
  const Packet left = sending_;
  const Time at = done_;
  done_ = kNever;
  if (!waiting_.empty()) {
    const Packet following = waiting_.front();
    waiting_.pop_front();
    waiting_bytes_ -= following.bytes;
    begin(at, following);
  }
  return left;
}

Wired::Wired(Station stations, const WiredOptions& options, Buffers& buffers, Receiver& receiver)
    : Network(stations, buffers, receiver), options_(options), random_(options.seed) {
  const bool limited = options.rate_mbit > 0;
  if (limited) hosts_.assign(stations, Transmitter(options.rate_mbit, options.queue));
  if (limited && stations > 2) ports_ = hosts_;
  paths_.assign(std::size_t{stations} * stations, Path{Loss(options.loss), Time{}});
}

void Wired::take(Time now, const Packet& packet) {
  if (hosts_.empty()) return depart(now, packet);
  offer(hosts_[packet.from], What::left_host, packet.from, now, packet);
}

void Wired::offer(Transmitter& transmitter, What what, Station station, Time now,
                  const Packet& packet) {
  const bool idle = transmitter.done() == kNever;
  if (!transmitter.offer(now, packet)) {
    // In the queue of a host, this is one packet for all its receivers. In the queue of a port, it
    // is one copy.
    lose(packet, Drop::queue, what == What::left_host ? copies(packet) : 1);
    buffers().release(packet.buffer);
  } else if (idle) {
    push(transmitter.done(), what, station);
  }
}

void Wired::next_of(Transmitter& transmitter, What what, Station station) {
  if (transmitter.done() != kNever) push(transmitter.done(), what, station);
}

void Wired::depart(Time at, const Packet& packet) {
  if (packet.to != kEveryone) {
    travel(at, packet, packet.to);
    return;
  }
  buffers().hold(packet.buffer, copies(packet));
  for (Station to = 0; to < stations(); ++to) {
    if (to != packet.from) travel(at, packet, to);
  }
  buffers().release(packet.buffer);
}

void Wired::travel(Time at, const Packet& packet, Station to) {
  Path& path = paths_[std::size_t{packet.from} * stations() + to];
  if (path.loss.draw(random_)) {
    lose(packet, Drop::loss, 1);
    buffers().release(packet.buffer);
    return;
  }
  Time arrival = at + options_.delay;
  if (options_.jitter.ns > 0) {
    arrival = arrival + Duration{random_.upto(2 * options_.jitter.ns) - options_.jitter.ns};
  }
  path.latest = std::max(path.latest, arrival);
  push(path.latest, What::arrived, to, packet);
}

void Wired::arrive(Time at, const Packet& packet, Station to) {
  if (!ports_.empty()) return offer(ports_[to], What::left_port, to, at, packet);
  deliver(packet, to);
  buffers().release(packet.buffer);
}

void Wired::advance(Time now) {
  while (!events_.empty() && events_.top().at <= now) {
    const Event event = events_.top();
    events_.pop();
    switch (event.what) {
      case What::left_host: {
        const Packet packet = hosts_[event.station].finish();
        next_of(hosts_[event.station], event.what, event.station);
        depart(event.at, packet);
        break;
      }
      case What::arrived:
        arrive(event.at, event.packet, event.station);
        break;
      case What::left_port: {
        const Packet packet = ports_[event.station].finish();
        next_of(ports_[event.station], event.what, event.station);
        deliver(packet, event.station);
        buffers().release(packet.buffer);
        break;
      }
    }
  }
}

}  // namespace hyphos::lab
