#include "cosim/radio/jammers.hpp"

#include <algorithm>
#include <cmath>

#include "cosim/core/random.hpp"
#include "cosim/core/time.hpp"
#include "cosim/radio/decibels.hpp"
#include "cosim/radio/radio.hpp"

namespace hyphos::cosim {
namespace {

constexpr std::uint64_t kPhase = 0x56;  // the purpose of a random draw
constexpr double kWeakest = -20;        // dB over the noise. Weaker jammers have no effect
constexpr int kMostChanges = 64;        // in one look at the future of a countdown
constexpr Duration kGlance = Duration::from_ms(10);

/// The share of a jammer's power inside the band of a radio.
double share_inside(const Jammer& jammer, double centre_hz, double width_hz) {
  if (jammer.high_hz <= jammer.low_hz) return 1;
  const double low = std::max(jammer.low_hz, centre_hz - width_hz / 2);
  const double high = std::min(jammer.high_hz, centre_hz + width_hz / 2);
  return std::max(0.0, high - low) / (jammer.high_hz - jammer.low_hz);
}

}  // namespace

Jammers::Jammers(std::span<const Jammer> jammers, const Radio& radio, std::uint32_t nodes,
                 std::uint64_t seed)
    : radio_(&radio) {
  for (std::size_t i = 0; i < jammers.size(); ++i) {
    const Jammer& jammer = jammers[i];
    const double share = share_inside(jammer, radio.frequency_hz(), radio.kind().bandwidth_hz);
    const Duration on{std::llround(jammer.duty * static_cast<double>(jammer.period.ns))};
    if (share == 0 || on.ns == 0) continue;
    const auto drawn = draw(seed, i, kPhase, 0) % static_cast<std::uint64_t>(jammer.period.ns);
    all_.push_back({jammer.robot.value_or(nodes + static_cast<NodeId>(i)), jammer,
                    jammer.power_dbm + 10 * std::log10(share), on,
                    Duration{static_cast<std::int64_t>(drawn)}});
  }
}

double Jammers::power_mw(std::size_t jammer, NodeId node, std::span<const Pose> poses,
                         Time now) const {
  const One& one = all_[jammer];
  const Pose here = one.jammer.robot ? poses[one.node] : Pose{one.jammer.place, {}};
  const auto gain = radio_->channel().gain_db(one.node, here, node, poses[node], now,
                                              radio_->noise_dbm() + kWeakest - one.power_dbm);
  return gain ? to_mw(one.power_dbm + *gain) : 0;
}

double Jammers::power_mw(NodeId node, std::span<const Pose> poses, Time now) const {
  double sum = 0;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (on(i, now)) sum += power_mw(i, node, poses, now);
  }
  return sum;
}

bool Jammers::on(std::size_t jammer, Time now) const {
  const One& one = all_[jammer];
  return (now.ns + one.phase.ns) % one.jammer.period.ns < one.on.ns;
}

Time Jammers::next_change(std::size_t jammer, Time now) const {
  const One& one = all_[jammer];
  if (one.on == one.jammer.period) return kNever;
  const std::int64_t passed = (now.ns + one.phase.ns) % one.jammer.period.ns;
  return {now.ns + (passed < one.on.ns ? one.on.ns : one.jammer.period.ns) - passed};
}

Time Jammers::next_change(Time now) const {
  Time next = kNever;
  for (std::size_t i = 0; i < all_.size(); ++i) next = std::min(next, next_change(i, now));
  return next;
}

void Jammers::over(NodeId node, std::span<const Pose> poses, Time from, Time to,
                   std::vector<Part>& parts) const {
  parts.clear();
  std::vector<double> powers(all_.size());
  for (std::size_t i = 0; i < all_.size(); ++i) powers[i] = power_mw(i, node, poses, from);
  const auto whole = static_cast<double>(std::max<std::int64_t>(1, (to - from).ns));
  for (Time at = from; at < to || parts.empty();) {
    const Time next = std::min(to, next_change(at));
    Part part{parts.empty() && to <= from ? 1 : static_cast<double>((next - at).ns) / whole, 0};
    for (std::size_t i = 0; i < all_.size(); ++i) part.power_mw += on(i, at) ? powers[i] : 0;
    parts.push_back(part);
    at = std::max(next, at + Duration{1});
  }
}

Jammers::Countdown Jammers::count_down(NodeId node, std::span<const Pose> poses, double energy_mw,
                                       Time from, Duration wait, Duration slot,
                                       std::int64_t slots) const {
  Countdown countdown{from, slots, false};
  Time idle = from;  // since when the channel is idle
  Time at = from;
  for (int changes = 0; changes < kMostChanges; ++changes) {
    const Time next = next_change(at);
    if (power_mw(node, poses, at) >= energy_mw) {
      const Time first = idle + wait;
      if (at > first) {
        countdown.slots -= std::min(countdown.slots, (at - first).ns / slot.ns);
      }
      countdown.interrupted = true;
      at = next == kNever ? at + kGlance : next;
      idle = at;
      countdown.end = at + wait + slot * countdown.slots;
      if (next == kNever) return countdown;
      continue;
    }
    countdown.end = idle + wait + slot * countdown.slots;
    if (countdown.end <= next) return countdown;
    at = next;
  }
  countdown.end = std::max(at, idle + wait);
  return countdown;
}

}  // namespace hyphos::cosim
