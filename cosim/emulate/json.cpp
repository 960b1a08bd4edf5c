#include "cosim/emulate/json.hpp"

#include "base/json.hpp"
#include "cosim/core/json_line.hpp"

namespace hyphos::cosim {
namespace {

std::string quoted(const std::string& text) { return json_quote(text); }

std::string percentiles(const HistogramSnapshot& late) {
  return JsonLine()
      .add("count", late.count)
      .add("p50_ms", Duration{late.percentile_ns(0.5)}.ms())
      .add("p99_ms", Duration{late.percentile_ns(0.99)}.ms())
      .add("longest_ms", Duration{late.max_ns}.ms())
      .take();
}

std::string packets_of(const RealTimeReport& report) {
  const PacketCounts& counts = report.packets;
  JsonLine dropped;
  for (std::size_t i = 1; i < counts.dropped.size(); ++i) {
    if (counts.dropped[i] == 0) continue;
    dropped.add(to_string(static_cast<DropReason>(i)), counts.dropped[i]);
  }
  return JsonLine()
      .add("packets", counts.packets)
      .add("copies", counts.sent)
      .add("delivered", counts.delivered)
      .json("dropped", dropped.take())
      .add("in_flight", counts.in_flight)
      .add("to_nobody", report.to_nobody)
      .take();
}

}  // namespace

std::string describe(const Scenario& scenario) {
  std::string robots;
  for (std::size_t i = 0; i < scenario.robots.size(); ++i) {
    JsonLine robot;
    robot.text("name", scenario.robots[i]);
    robot.text("address", scenario.realtime.address(i));
    robot.json("run", json_list(scenario.commands[i], quoted));
    robots += (robots.empty() ? "" : ",") + robot.take();
  }
  return JsonLine()
      .json("robots", "[" + robots + "]")
      .add("prefix", std::uint64_t{scenario.realtime.prefix})
      .add("seconds", scenario.duration.seconds())
      .take();
}

std::string progress(const RealTimeReport& report) {
  return JsonLine()
      .text("kind", "progress")
      .add("seconds", static_cast<double>(report.end.ns) * 1e-9)
      .add("packets", report.packets.packets)
      .json("lag", percentiles(report.lag))
      .take();
}

std::string summary(const Scenario& scenario, const RealTimeReport& report,
                    const MachineWatch::Use& use) {
  const LagLimits& limits = scenario.realtime.limits;
  const auto reasons = why_invalid(report, limits);
  return JsonLine()
      .text("kind", "real-time emulation")
      .truth("valid", reasons.empty())
      .json("invalid_because", json_list(reasons, quoted))
      .add("simulated_s", static_cast<double>(report.end.ns) * 1e-9)
      .json("robots", json_list(scenario.robots, quoted))
      .text("radio", to_string(scenario.network))
      .text("physics", to_string(scenario.physics))
      .add("seed", scenario.seed)
      .add("window_ms", scenario.step.longest().ms())
      .add("windows", report.windows)
      .json("limits", JsonLine()
                          .add("lag_p99_ms", limits.p99.ms())
                          .add("lag_longest_ms", limits.longest.ms())
                          .take())
      .json("lag", percentiles(report.lag))
      .json("delivered_late", percentiles(report.late))
      .json("programs_late", percentiles(report.programs))
      .add("read_late", report.read_late)
      .add("longest_unread_ms", report.longest_unread.ms())
      .add("overrun", report.overrun)
      .add("refused", report.refused)
      .json("packets", packets_of(report))
      .json("machine", JsonLine()
                           .add("own", use.own)
                           .add("others", use.others)
                           .add("stolen", use.stolen)
                           .add("waited_s", use.waited_s)
                           .take())
      .take();
}

}  // namespace hyphos::cosim
