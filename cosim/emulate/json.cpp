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

std::string bodies_of(const Scenario& scenario, const Bodies* bodies) {
  if (bodies == nullptr) return "null";
  const auto lost = [](const Lost& one) {
    return JsonLine()
        .text("robot", one.robot)
        .text("channel", one.channel)
        .text("reason", one.reason)
        .add("count", one.count)
        .take();
  };
  const auto in_part = [&](const auto& entry) {
    return JsonLine()
        .text("robot", scenario.robots[entry.first])
        .add("count", entry.second.count)
        .add("first_s", static_cast<double>(entry.second.first.ns) * 1e-9)
        .text("left_out", entry.second.left_out)
        .take();
  };
  return JsonLine()
      .add("motions", bodies->motions())
      .json("lost", json_list(bodies->lost(), lost))
      .json("in_part", json_list(bodies->in_part(), in_part))
      .take();
}

std::string body_of(const Scenario& scenario, std::size_t robot) {
  const auto& body = scenario.team.bodies[robot];
  if (!body) return "null";
  JsonLine sensors;
  if (body->scan) sensors.text(body->scan->channel, scan_type().name);
  return JsonLine()
      .json("gateway", json_list(body->gateway, quoted))
      .text("prefix", body->prefix)
      .text("pose_channel", scenario.team.wiring.pose_channel)
      .text("command_channel", scenario.team.wiring.command_channel)
      .json("sensors", sensors.take())
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
    robot.json("body", body_of(scenario, i));
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
                    const MachineWatch::Use& use, const Bodies* bodies) {
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
      .json("bodies", bodies_of(scenario, bodies))
      .json("machine", JsonLine()
                           .add("own", use.own)
                           .add("others", use.others)
                           .add("stolen", use.stolen)
                           .add("waited_s", use.waited_s)
                           .take())
      .take();
}

}  // namespace hyphos::cosim
