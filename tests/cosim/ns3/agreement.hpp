#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "cosim/core/simulator.hpp"
#include "cosim/network/analytic.hpp"
#include "cosim/network/ns3/options.hpp"

/// One link over the analytic radio and over ns-3, with the same channel bit by bit.
namespace hyphos::cosim {

struct LinkCell {
  std::string kind = "802.11g";
  std::string rate = "6";
  double distance_m = 50;
  std::size_t bytes = 200;
  std::string fading = "rayleigh";
  NodeId to = 1;
};

struct LinkMeasured {
  double loss = 0;            // share of packets
  double delay_ms = 0;        // mean of the packets that arrived
  double delay_error_ms = 0;  // standard error of the mean
  double longest_ms = 0;
  int arrived = 0;
};

inline RadioOptions link_options(const LinkCell& cell) {
  RadioOptions options;
  options.kind = cell.kind;
  options.rate = cell.rate;
  options.channel.fading = cell.fading;
  options.channel.scatterer_speed = 30;  // packets meet independent fading
  options.retry_limit = find_radio(cell.kind)->attempts;
  options.host_jitter = {};
  options.queue_packets = 10'000;
  return options;
}

/// Sends `packets` over the link, so far apart that none waits for another.
inline LinkMeasured measure_link(Network& network, const LinkCell& cell, int packets,
                                 std::uint64_t seed) {
  network.init(2, seed).or_throw();
  network.set_poses(std::vector<Pose>{{{0, 0, 1}, {}}, {{cell.distance_m, 0, 1}, {}}}).or_throw();
  const std::int64_t apart = cell.kind == "802.15.4" ? 500'000'000 : 60'000'000;
  for (int i = 1; i <= packets; ++i) {
    const Buffer bytes = Buffer::adopt(std::vector<std::byte>(cell.bytes));
    network.inject({static_cast<PacketId>(i), 0, cell.to, {i * apart}, bytes}).or_throw();
  }
  network.advance({(packets + 50) * apart}).or_throw();
  std::vector<Outcome> outcomes;
  network.poll(outcomes).or_throw();
  LinkMeasured measured;
  double squares = 0;
  for (const Outcome& outcome : outcomes) {
    if (outcome.fate != Fate::delivered) continue;
    const auto sent = static_cast<std::int64_t>(outcome.id) * apart;
    const double ms = static_cast<double>(outcome.time.ns - sent) * 1e-6;
    ++measured.arrived;
    measured.delay_ms += ms;
    measured.longest_ms = std::max(measured.longest_ms, ms);
    squares += ms * ms;
  }
  measured.loss = 1 - measured.arrived / static_cast<double>(packets);
  if (measured.arrived > 0) {
    measured.delay_ms /= measured.arrived;
    const double variance = squares / measured.arrived - measured.delay_ms * measured.delay_ms;
    measured.delay_error_ms = std::sqrt(std::max(0.0, variance) / measured.arrived);
  }
  return measured;
}

/// The time that ns-3 waits longer before each fresh frame. Its DCF of 802.11g waits for DIFS even
/// if the channel was idle before (IEEE Std 802.11-2020, 10.3.4.2, allows to send at once). Its
/// EDCA sends at the next limit of a slot: half a slot on average.
inline double ns3_waits_ms(const std::string& kind) {
  if (kind == "802.11g") return 0.028;
  return kind == "802.15.4" ? 0 : 0.0045;
}

/// The difference of the losses that counts as agreement: 5 points, and one standard error.
inline double loss_tolerance(const LinkMeasured& a, const LinkMeasured& b, int packets) {
  const auto variance = [](double loss) { return loss * (1 - loss); };
  return 0.05 + std::sqrt((variance(a.loss) + variance(b.loss)) / packets);
}

/// The difference of the mean delays that counts as agreement: 10 %, and three standard errors.
inline double delay_tolerance_ms(const LinkMeasured& a, const LinkMeasured& b) {
  return 0.1 * b.delay_ms + 3 * std::hypot(a.delay_error_ms, b.delay_error_ms);
}

inline LinkMeasured measure_analytic(const LinkCell& cell, int packets, std::uint64_t seed) {
  AnalyticRadio radio(link_options(cell), nullptr);
  return measure_link(radio, cell, packets, seed);
}

}  // namespace hyphos::cosim
