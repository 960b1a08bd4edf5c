#include "cosim/realtime/rehearsal.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <utility>

namespace hyphos::cosim {
namespace {

// Above this share the queue of work in front of a simulator grows longer than a few steps.
constexpr double kUtilization = 0.7;
// A robot with ROS or Hyphos nodes sends this many packets per second at least.
constexpr double kFewPackets = 20;

class Stopwatch {
 public:
  explicit Stopwatch(Duration& sum) : sum_(sum), start_(monotonic_now()) {}
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() { sum_ = sum_ + (monotonic_now() - start_); }

 private:
  Duration& sum_;
  Time start_;
};

/// Injects the packets of one robot after another, evenly over time.
class Load {
 public:
  Load(const RehearsalOptions& options, Network& network)
      : options_(options),
        network_(network),
        apart_(Duration::from_seconds(1 / (options.packets_per_second * options.nodes))) {}

  Result<void> inject_until(Time end) {
    for (; next_ < end; next_ = next_ + apart_) {
      const auto from = static_cast<NodeId>(sent_ % options_.nodes);
      const bool everyone = sent_ / options_.nodes % 2 == 1;
      Packet packet{++sent_, from, everyone ? kEveryone : (from + 1) % options_.nodes, next_,
                    Buffer::adopt(std::vector<std::byte>(options_.bytes))};
      if (auto taken = network_.inject(packet); !taken) return taken;
    }
    return success();
  }
  [[nodiscard]] std::uint64_t sent() const { return sent_; }

 private:
  const RehearsalOptions& options_;
  Network& network_;
  Duration apart_;
  Time next_{1};
  std::uint64_t sent_ = 0;
};

/// Advances the network to `end`, from event to event.
Result<void> run_network(Network& network, Time end, std::vector<Outcome>& outcomes) {
  for (Time next = network.next_event_time(); next < end; next = network.next_event_time()) {
    if (auto ran = network.advance({std::min(next.ns + 1, end.ns)}); !ran) return ran;
    if (auto polled = network.poll(outcomes); !polled) return polled;
    outcomes.clear();
  }
  return success();
}

std::string number(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

}  // namespace

double Rehearsal::packets_per_second() const {
  return per_packet_s <= 0 ? 0 : std::max(0.0, kUtilization - physics) / per_packet_s;
}

Result<Rehearsal> rehearse(Physics& physics, Network& network, const RehearsalOptions& options) {
  if (auto ready = physics.init(options.nodes, options.seed); !ready) return ready.error();
  if (auto ready = network.init(options.nodes, options.seed); !ready) return ready.error();
  Rehearsal rehearsal;
  std::vector<Duration> steps;
  std::vector<Outcome> outcomes;
  Duration in_network{0};
  Duration in_physics{0};
  Load load(options, network);
  Ticker window(options.step);
  const Time start = monotonic_now();
  while (window.now() < Time{} + options.lasts && monotonic_now() - start < options.patience) {
    if (!window.advance()) return Error{Code::out_of_range, "time overflow", "cosim"};
    const Time end = window.now();
    {
      Stopwatch time(in_network);
      if (auto set = network.set_poses(physics.poses()); !set) return set.error();
      if (auto sent = load.inject_until(end); !sent) return sent.error();
      if (auto ran = run_network(network, end, outcomes); !ran) return ran.error();
    }
    const Duration before = in_physics;
    {
      Stopwatch time(in_physics);
      if (auto moved = physics.advance(end); !moved) return moved.error();
    }
    steps.push_back(in_physics - before);
  }
  if (steps.empty()) return rehearsal;
  const auto p99 = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() * 99 / 100);
  std::ranges::nth_element(steps, p99);
  rehearsal.step_p99 = *p99;
  rehearsal.physics = in_physics.seconds() / (window.now() - Time{}).seconds();
  rehearsal.packets = load.sent();
  if (load.sent() > 0) {
    rehearsal.per_packet_s = in_network.seconds() / static_cast<double>(load.sent());
  }
  return rehearsal;
}

std::vector<std::string> why_doubtful(const Rehearsal& rehearsal, std::uint32_t robots,
                                      Duration step, Duration lag_p99) {
  std::vector<std::string> reasons;
  if (rehearsal.physics > kUtilization) {
    reasons.push_back("physics alone needs " + number("%.0f %%", rehearsal.physics * 100) +
                      " of real time: lower physics.rate_hz, or simulate fewer robots");
  } else if (rehearsal.step_p99 > std::max(step, lag_p99)) {
    reasons.push_back("1 % of the steps of physics need more than " +
                      number("%.3f ms", rehearsal.step_p99.ms()) +
                      ": lower physics.rate_hz, or raise realtime.lag_p99_ms");
  }
  const double most = rehearsal.packets_per_second();
  if (rehearsal.physics <= kUtilization && most < kFewPackets * robots) {
    reasons.push_back("the radio keeps up with about " + number("%.0f", most) +
                      " packets per second of all " + std::to_string(robots) +
                      " robots: send less, simulate fewer robots, or use radio.simulator: "
                      "analytic");
  }
  if (rehearsal.per_packet_s > lag_p99.seconds()) {
    reasons.push_back("the radio needs " + number("%.3f ms", rehearsal.per_packet_s * 1e3) +
                      " for a packet, more than realtime.lag_p99_ms");
  }
  return reasons;
}

}  // namespace hyphos::cosim
