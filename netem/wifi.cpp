#include "netem/wifi.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hyphos::lab {
namespace {

constexpr std::uint32_t kFrameOverhead = 36;  // bytes around the IP packet
constexpr std::uint32_t kAckBytes = 14;
constexpr std::int64_t kNobody = std::numeric_limits<std::int64_t>::max();

Duration frame_time(std::uint32_t bytes, double rate_mbit) {
  const std::int64_t bits = 16 + 8 * static_cast<std::int64_t>(bytes) + 6;
  const std::int64_t bits_per_symbol =
      std::max<std::int64_t>(1, std::llround(rate_mbit * 4));  // a symbol lasts 4 µs
  const std::int64_t symbols = (bits + bits_per_symbol - 1) / bits_per_symbol;
  return Duration::from_us(20 + 4 * symbols);
}

}  // namespace

Duration Airtime::data(std::uint32_t ip_bytes, bool multicast) const {
  return frame_time(ip_bytes + kFrameOverhead,
                    multicast ? options_.multicast_rate_mbit : options_.rate_mbit);
}

Duration Airtime::ack() const {
  double rate = std::min(options_.rate_mbit, 6.0);
  for (const double mandatory : {12.0, 24.0}) {
    if (options_.rate_mbit >= mandatory) rate = mandatory;
  }
  return frame_time(kAckBytes, rate);
}

Duration Airtime::eifs() const {
  return options_.sifs + frame_time(kAckBytes, std::min(options_.rate_mbit, 6.0)) + difs();
}

Wifi::Wifi(Station stations, const WifiOptions& options, Buffers& buffers, Receiver& receiver)
    : Network(stations, buffers, receiver),
      options_(options),
      airtime_(options),
      random_(options.seed),
      radios_(stations),
      paths_(std::size_t{stations} * stations, Loss(options.loss)) {
  for (Radio& radio : radios_) radio.window = options.window_min;
}

/// The frame that is being sent, or is next, does not count as waiting.
bool Wifi::full(const Radio& radio, const Packet& packet) const {
  if (radio.queue.size() - 1 >= options_.queue.packets) return true;
  return options_.queue.bytes > 0 && radio.queue_bytes + packet.bytes > options_.queue.bytes;
}

void Wifi::take(Time now, const Packet& packet) {
  Radio& radio = radios_[packet.from];
  if (!radio.queue.empty() && full(radio, packet)) {
    lose(packet, Drop::queue, copies(packet));
    buffers().release(packet.buffer);
    return;
  }
  radio.queue.push_back(packet);
  if (radio.queue.size() > 1) {
    radio.queue_bytes += packet.bytes;
    return;
  }
  if (phase_ != Phase::idle) {
    // The channel is busy: draw a back-off, unless one is still left.
    if (radio.slots == 0) radio.slots = random_.upto(radio.window);
  } else if (now > first_slot_) {
    // The station may send at once. The rest of its last back-off may have expired meanwhile.
    const std::int64_t since = (now - first_slot_).ns;
    radio.slots = std::max(radio.slots, (since + options_.slot.ns - 1) / options_.slot.ns);
  }
}

std::int64_t Wifi::least_slots() const {
  std::int64_t least = kNobody;
  for (const Radio& radio : radios_) {
    if (!radio.queue.empty()) least = std::min(least, radio.slots);
  }
  return least;
}

Time Wifi::next() const {
  if (phase_ != Phase::idle) return phase_end_;
  const std::int64_t slots = least_slots();
  return slots == kNobody ? kNever : first_slot_ + options_.slot * slots;
}

void Wifi::advance(Time now) {
  while (next() <= now) {
    switch (phase_) {
      case Phase::idle:
        begin_frames();
        break;
      case Phase::data:
        end_data();
        break;
      case Phase::answer:
        end_exchange();
        break;
    }
  }
}

/// The stations whose back-off has expired send. More than one is a collision.
void Wifi::begin_frames() {
  const std::int64_t slots = least_slots();
  const Time start = first_slot_ + options_.slot * slots;
  senders_.clear();
  Duration longest;
  for (Station station = 0; station < stations(); ++station) {
    Radio& radio = radios_[station];
    const bool sends = !radio.queue.empty() && radio.slots == slots;
    // The other stations stop counting while the channel is busy.
    radio.slots = std::max<std::int64_t>(0, radio.slots - slots);
    if (!sends) continue;
    senders_.push_back(station);
    const Packet& packet = radio.queue.front();
    const Duration airtime = airtime_.data(packet.bytes, packet.to == kEveryone);
    ++counters(station).attempts;
    counters(station).airtime = counters(station).airtime + airtime;
    longest = std::max(longest, airtime);
  }
  if (senders_.size() > 1) {
    for (const Station station : senders_) ++counters(station).collisions;
  }
  phase_ = Phase::data;
  phase_end_ = start + longest;
}

void Wifi::end_data() {
  phase_ = Phase::answer;
  arrived_ = false;
  if (senders_.size() > 1) return;
  const Packet packet = radios_[senders_.front()].queue.front();
  if (packet.to != kEveryone) {
    arrived_ = !paths_[std::size_t{packet.from} * stations() + packet.to].draw(random_);
    if (!arrived_) return;
    deliver(packet, packet.to);
    phase_end_ = phase_end_ + options_.sifs + airtime_.ack();
    return;
  }
  arrived_ = true;
  for (Station to = 0; to < stations(); ++to) {
    if (to == packet.from) continue;
    if (paths_[std::size_t{packet.from} * stations() + to].draw(random_)) {
      lose(packet, Drop::loss, 1);
    } else {
      deliver(packet, to);
    }
  }
}

void Wifi::end_exchange() {
  phase_ = Phase::idle;
  first_slot_ = phase_end_ + (arrived_ ? airtime_.difs() : airtime_.eifs());
  for (const Station station : senders_) {
    Radio& radio = radios_[station];
    if (arrived_) {
      pop(radio);
    } else if (radio.queue.front().to == kEveryone) {
      give_up(radio, Drop::collision);
    } else if (++radio.attempts >= options_.retry_limit) {
      give_up(radio, Drop::retries);
    } else {
      radio.window = std::min(2 * radio.window + 1, options_.window_max);
    }
    // A back-off follows every frame, even if more frames wait, so that no station can seize the
    // channel.
    radio.slots = random_.upto(radio.window);
  }
}

void Wifi::give_up(Radio& radio, Drop why) {
  lose(radio.queue.front(), why, copies(radio.queue.front()));
  pop(radio);
}

void Wifi::pop(Radio& radio) {
  buffers().release(radio.queue.front().buffer);
  radio.queue.pop_front();
  if (!radio.queue.empty()) radio.queue_bytes -= radio.queue.front().bytes;
  radio.attempts = 0;
  radio.window = options_.window_min;
}

}  // namespace hyphos::lab
