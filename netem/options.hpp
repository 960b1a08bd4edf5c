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
  /// Before an event the program stays awake so long: a wake-up is late by some tens of µs.
  Duration spin = Duration::from_us(60);
  /// Of SCHED_FIFO; 0: as any other process.
  int realtime_priority = 1;
};

extern const char* const kUsage;

/// Refuses what is unknown, out of range, or has no meaning for the chosen medium.
[[nodiscard]] Result<Options> parse_options(std::span<const char* const> words);

}  // namespace hyphos::lab
