#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cosim/core/simulator.hpp"
#include "cosim/core/time.hpp"

namespace hyphos::cosim {

struct RehearsalOptions {
  Step step;  ///< of physics
  std::uint32_t nodes = 0;
  std::uint64_t seed = 1;
  Duration lasts = Duration::from_ms(300);  ///< simulated time
  double packets_per_second = 20;           ///< of each robot
  std::size_t bytes = 1000;
  Duration patience = Duration::from_ms(3000);  ///< real time after which it ends early
};

/// The cost of a scenario on this machine, before its real-time run.
struct Rehearsal {
  double physics = 0;  ///< share of real time
  Duration step_p99{};
  double per_packet_s = 0;  ///< real time of the network for a packet
  std::uint64_t packets = 0;

  /// The packets per second, of all robots together, that keep the simulators below a utilization
  /// at which they are rarely late. 0: physics alone exceeds it.
  [[nodiscard]] double packets_per_second() const;
};

/// Runs the simulators as fast as they can, with packets of every robot to the next one and to
/// everyone in turn, from event to event as in a real-time run. The simulators cannot be used
/// afterwards. Errors: those of the simulators.
[[nodiscard]] Result<Rehearsal> rehearse(Physics& physics, Network& network,
                                         const RehearsalOptions& options);

/// The reasons to expect an invalid run, one sentence each. `lag_p99` is LagLimits::p99.
[[nodiscard]] std::vector<std::string> why_doubtful(const Rehearsal& rehearsal,
                                                    std::uint32_t robots, Duration step,
                                                    Duration lag_p99);

}  // namespace hyphos::cosim
