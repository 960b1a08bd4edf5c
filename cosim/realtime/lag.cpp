#include "cosim/realtime/lag.hpp"

#include <array>
#include <cstdio>

namespace hyphos::cosim {
namespace {

std::string ms(std::int64_t ns) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.3f ms", static_cast<double>(ns) * 1e-6);
  return text.data();
}

}  // namespace

std::vector<std::string> why_invalid(const RealTimeReport& report, const LagLimits& limits) {
  std::vector<std::string> reasons;
  const auto beyond = [&](const std::string& what, std::int64_t found, Duration limit) {
    if (found > limit.ns)
      reasons.push_back(what + " was " + ms(found) + ", more than " + ms(limit.ns));
  };
  beyond("the lag of 99 % of the windows", report.lag.percentile_ns(0.99), limits.p99);
  beyond("the longest lag of a window", report.lag.max_ns, limits.longest);
  beyond("the lateness of 99 % of the deliveries", report.late.percentile_ns(0.99), limits.p99);
  beyond("the latest delivery", report.late.max_ns, limits.longest);
  if (report.read_late > report.packets.packets / 100) {
    reasons.push_back(std::to_string(report.read_late) + " of " +
                      std::to_string(report.packets.packets) +
                      " packets were read late, more than 1 %");
  }
  beyond("the longest time in which no packet was read", report.longest_unread.ns, limits.longest);
  beyond("the lateness of 99 % of the wake-ups of an ordinary program",
         report.programs.percentile_ns(0.99), limits.longest);
  const std::uint64_t lost = report.overrun + report.refused;
  if (lost > 0) {
    reasons.push_back(std::to_string(lost) + (lost == 1 ? " packet was" : " packets were") +
                      " lost by the emulation itself, not by the radio");
  }
  return reasons;
}

}  // namespace hyphos::cosim
