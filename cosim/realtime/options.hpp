#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hyphos/time.hpp"

namespace hyphos::plan {
class Section;
}
namespace hyphos::config {
class Problems;
}

namespace hyphos::cosim {

/// What makes a real-time run invalid: one that was later than this did not show the scenario.
struct LagLimits {
  Duration p99{};                            ///< of 99 % of all windows, deliveries and reads
  Duration longest = Duration::from_ms(20);  ///< of each of them
};

/// The section `realtime` of a scenario, for `hyphos cosim emulate` alone.
struct RealTimeOptions {
  LagLimits limits{};
  std::uint32_t first_address = 0;  ///< of the subnet, in host order; robot k has this + 1 + k
  unsigned prefix = 24;
  /// Before an event the program stays awake so long: a wake-up is late by some tens of µs.
  Duration spin = Duration::from_us(60);
  int priority = 1;  ///< of SCHED_FIFO; 0: as any other process

  /// "10.231.77.1"
  [[nodiscard]] std::string address(std::size_t robot) const;
};

/// Reads it; `step` is the default of limits.p99, `robots` must fit into the subnet.
[[nodiscard]] RealTimeOptions read_realtime(const plan::Section& root, Duration step,
                                            std::size_t robots, config::Problems& problems);
/// `run` of a robot: the words of a command, none if it has none.
[[nodiscard]] std::vector<std::string> read_command(const plan::Section& robot);

}  // namespace hyphos::cosim
