#pragma once

#include <span>
#include <string>
#include <vector>

#include "netem/address.hpp"
#include "netem/wifi.hpp"
#include "netem/wired.hpp"

namespace hyphos::lab {

struct Options {
  std::vector<Host> hosts;
  bool wifi = false;
  WiredOptions wired;
  WifiOptions air;
  unsigned mtu = 1500;
  std::string device = "lab0";
  /// Busy-wait before an event, because a wake-up can be tens of µs late.
  Duration spin = Duration::from_us(60);
  /// Priority of SCHED_FIFO. 0: normal scheduling.
  int realtime_priority = 1;
};

extern const char* const kUsage;

/// Rejects options that are unknown, out of range, or not valid for the chosen medium.
[[nodiscard]] Result<Options> parse_options(std::span<const char* const> words);

}  // namespace hyphos::lab
