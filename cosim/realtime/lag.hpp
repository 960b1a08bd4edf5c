#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cosim/core/ledger.hpp"
#include "cosim/realtime/options.hpp"
#include "trace/histogram.hpp"

namespace hyphos::cosim {

/// How late things were: percentiles to within 3 %, never too small, and the longest exactly.
class Lateness {
 public:
  void add(Duration late) { histogram_->record_alone(late.ns); }
  [[nodiscard]] HistogramSnapshot snapshot() const { return histogram_->snapshot(); }

 private:
  // On the heap: it has 10 KiB.
  std::unique_ptr<trace::Histogram<5>> histogram_ = std::make_unique<trace::Histogram<5>>();
};

/// What a real-time run was, and how far it was behind.
struct RealTimeReport {
  Time end;  ///< simulated
  std::uint64_t windows = 0;
  HistogramSnapshot lag;   ///< of windows: the wall clock less the simulated one when each was done
  HistogramSnapshot late;  ///< of deliveries: when its device had a packet, less when it was due
  HistogramSnapshot programs;   ///< of an ordinary program's wake-ups; empty: nobody looked
  PacketCounts packets;         ///< in the simulated network; they balance
  std::uint64_t read_late = 0;  ///< packets read while the run was more than limits.p99 behind
  Duration longest_unread{0};   ///< most that any packet can have waited for that
  // What the emulation lost by itself, and no network would have:
  std::uint64_t overrun = 0;    ///< by the kernel, before they were read
  std::uint64_t refused = 0;    ///< by a receiver's device
  std::uint64_t to_nobody = 0;  ///< for addresses that no robot has; not among `packets`
};

/// Why this run does not show its scenario, a sentence each; empty: it is valid.
[[nodiscard]] std::vector<std::string> why_invalid(const RealTimeReport& report,
                                                   const LagLimits& limits);

}  // namespace hyphos::cosim
