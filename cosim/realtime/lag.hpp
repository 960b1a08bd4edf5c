#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cosim/core/ledger.hpp"
#include "cosim/realtime/options.hpp"
#include "trace/histogram.hpp"

namespace hyphos::cosim {

/// A distribution of lateness: percentiles to within 3 %, never too small, and the exact maximum.
class Lateness {
 public:
  void add(Duration late) { histogram_->record_alone(late.ns); }
  [[nodiscard]] HistogramSnapshot snapshot() const { return histogram_->snapshot(); }

 private:
  // On the heap because it has 10 KiB.
  std::unique_ptr<trace::Histogram<5>> histogram_ = std::make_unique<trace::Histogram<5>>();
};

/// The report of a real-time run and of its lag.
struct RealTimeReport {
  Time end;     ///< simulated time
  Time origin;  ///< the simulated instant 0 on the clock of the machine
  std::uint64_t windows = 0;
  HistogramSnapshot lag;        ///< of windows: wall clock minus simulated time at completion
  HistogramSnapshot late;       ///< of deliveries: time of the write to the device minus due time
  HistogramSnapshot programs;   ///< of the wake-ups of an ordinary program. Empty: not measured
  PacketCounts packets;         ///< in the simulated network. The counts balance
  std::uint64_t read_late = 0;  ///< packets read while the run was more than limits.p99 behind
  Duration longest_unread{0};   ///< upper bound for the wait of a packet before it was read
  // Packets lost by the emulation itself, which a network would not lose:
  std::uint64_t overrun = 0;  ///< by the kernel, before the read
  std::uint64_t refused = 0;  ///< refused by the device of a receiver
  // Losses that a real robot has as well. They are not part of `packets`:
  std::uint64_t device_full = 0;  ///< by the kernel, because the radio had no room
  std::uint64_t to_nobody = 0;    ///< to a MAC address of no robot
  std::uint64_t malformed = 0;    ///< not an Ethernet frame of the device's size
};

/// The reasons why this run does not represent its scenario, one sentence each. Empty if the run is
/// valid.
[[nodiscard]] std::vector<std::string> why_invalid(const RealTimeReport& report,
                                                   const LagLimits& limits);

}  // namespace hyphos::cosim
