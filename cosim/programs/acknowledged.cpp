#include "cosim/programs/acknowledged.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace hyphos::cosim {
namespace {

constexpr Duration kLeastTimeout = Duration::from_ms(200);
constexpr Duration kMostTimeout = Duration::from_ms(120'000);
constexpr std::uint8_t kLaterThatTell = 3;
constexpr std::uint32_t kMostWaiting = 256;  // messages that the receiver buffers for their order

}  // namespace

Time Acknowledged::next_event_time() const { return std::min(source_->due(), deadline_); }

void Acknowledged::step(Instant& at) {
  while (source_->due() <= at.now()) {
    auto bytes = source_->take();
    const Header header = hand_over(at, bytes.size());
    segments_.push_back({std::move(bytes), header, State::waiting, false, 0, {}});
  }
  if (deadline_ <= at.now()) time_out(at.now());
  fill_window(at);
}

void Acknowledged::receive(Instant& at, const Delivery& delivery, const Header& told) {
  if (told.kind == Header::Kind::acknowledgement) {
    take_acknowledgement(at, told.sequence);
    return;
  }
  if (arrivals_.size() <= told.sequence) arrivals_.resize(std::size_t{told.sequence} + 1);
  Arrival& arrival = arrivals_[told.sequence];
  if (!std::exchange(arrival.here, true)) {
    arrival.delivered = delivery.delivered;
    arrival.parts = delivery.parts;
  }
  for (; expected_ < arrivals_.size() && arrivals_[expected_].here; ++expected_) {
    // The missing message has arrived and releases the messages behind it.
    arrived(expected_, delivery.to, std::max(arrivals_[expected_].delivered, delivery.delivered),
            at.now(), arrivals_[expected_].parts, &DelayParts::retransmission);
  }
  ++result_.acknowledgements;
  at.send(header(Header::Kind::acknowledgement, delivery.to, told.from, told.sequence, told.sent),
          std::vector<std::byte>(kHeaderBytes));
}

void Acknowledged::take_acknowledgement(Instant& at, std::uint32_t sequence) {
  if (sequence >= unsent_) return;
  Segment& segment = segments_[sequence];
  if (segment.state == State::acknowledged) return;
  if (segment.state == State::under_way) --under_way_;
  segment.state = State::acknowledged;
  if (!segment.repeated) measure(at.now() - segment.sent);  // Karn's algorithm
  segment.bytes = {};
  window_ += window_ < threshold_ ? 1 : 1 / window_;
  for (std::uint32_t i = oldest_; i < sequence; ++i) {
    Segment& earlier = segments_[i];
    // A repeated message may have been sent after this one. The timer decides.
    if (earlier.state == State::under_way && !earlier.repeated &&
        ++earlier.later == kLaterThatTell) {
      lose(i);
    }
  }
  while (oldest_ < unsent_ && segments_[oldest_].state == State::acknowledged) ++oldest_;
  restart_timer(at.now());
  fill_window(at);
}

void Acknowledged::measure(Duration round_trip) {
  if (smoothed_.ns == 0) {
    smoothed_ = round_trip;
    variation_ = {round_trip.ns / 2};
  } else {
    const std::int64_t off = std::abs((smoothed_ - round_trip).ns);
    variation_ = {(3 * variation_.ns + off) / 4};
    smoothed_ = {(7 * smoothed_.ns + round_trip.ns) / 8};
  }
  timeout_ = std::clamp(smoothed_ + variation_ * 4, kLeastTimeout, kMostTimeout);
}

void Acknowledged::lose(std::uint32_t sequence) {
  segments_[sequence].state = State::lost;
  --under_way_;
  if (sequence < recover_) return;
  recover_ = unsent_;
  threshold_ = std::max(window_ / 2, 2.0);
  window_ = threshold_;
}

void Acknowledged::time_out(Time now) {
  threshold_ = std::max(window_ / 2, 2.0);
  window_ = 1;
  recover_ = unsent_;
  for (std::uint32_t i = oldest_; i < unsent_; ++i) {
    if (segments_[i].state == State::under_way) segments_[i].state = State::lost;
  }
  under_way_ = 0;
  timeout_ = std::min(timeout_ * 2, kMostTimeout);
  restart_timer(now);
}

void Acknowledged::restart_timer(Time now) {
  deadline_ = oldest_ < unsent_ ? now + timeout_ : kNever;
}

void Acknowledged::fill_window(Instant& at) {
  for (std::uint32_t i = oldest_; i < unsent_ && under_way_ < window_; ++i) {
    if (segments_[i].state != State::lost) continue;
    segments_[i].repeated = true;
    ++result_.repeats;
    send(at, segments_[i]);
  }
  while (unsent_ < segments_.size() && under_way_ < window_ && unsent_ < oldest_ + kMostWaiting) {
    send(at, segments_[unsent_++]);
  }
}

void Acknowledged::send(Instant& at, Segment& segment) {
  segment.state = State::under_way;
  segment.later = 0;
  segment.sent = at.now();
  ++under_way_;
  at.send(segment.header, segment.bytes);
  if (deadline_ == kNever) deadline_ = at.now() + timeout_;
}

}  // namespace hyphos::cosim
