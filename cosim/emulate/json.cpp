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
      .add("device_full", report.device_full)
      .add("to_nobody", report.to_nobody)
      .add("malformed", report.malformed)
      .take();
}

std::string in_part_of(const Scenario& scenario, const std::map<NodeId, InPart>& in_part) {
  return json_list(in_part, [&](const auto& entry) {
    return JsonLine()
        .text("robot", scenario.robots[entry.first])
        .add("count", entry.second.count)
        .add("first_s", static_cast<double>(entry.second.first.ns) * 1e-9)
        .text("left_out", entry.second.left_out)
        .take();
  });
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
  return JsonLine()
      .add("motions", bodies->motions())
      .json("lost", json_list(bodies->lost(), lost))
      .json("in_part", in_part_of(scenario, bodies->in_part()))
      .take();
}

std::string mavlink_of(const Scenario& scenario, const mavlink::Vehicles& vehicles) {
  if (!scenario.paced()) return "null";
  return JsonLine()
      .add("motions", vehicles.motions())
      .json("in_part", in_part_of(scenario, vehicles.in_part()))
      .take();
}

std::string body_of(const Scenario& scenario, std::size_t robot) {
  const auto& body = scenario.team.bodies[robot];
  if (!body) return "null";
  const auto word = [](const SensorChannel& channel) { return quoted(to_word(channel)); };
  return JsonLine()
      .json("gateway", json_list(body->gateway, quoted))
      .text("prefix", body->prefix)
      .text("pose_channel", scenario.team.wiring.pose_channel)
      .text("command_channel", scenario.team.wiring.command_channel)
      .truth("transforms", scenario.team.wiring.transforms)
      .json("sensors", json_list(channels_of(scenario.team.sensing[robot]), word))
      .take();
}

/// The fixed routes of a robot, as pairs of receiver and next robot.
std::string routes_of(const Scenario& scenario, std::size_t robot) {
  if (scenario.routing.tables.empty()) return "[]";
  return json_list(scenario.routing.tables[robot], [&](const auto& route) {
    return "[" + quoted(scenario.robots[route.first]) + "," +
           quoted(scenario.robots[route.second]) + "]";
  });
}

}  // namespace

std::string describe_emulation(const Scenario& scenario) {
  const RealTimeOptions& realtime = scenario.realtime;
  const auto name = [&](std::size_t robot) { return quoted(scenario.robots[robot]); };
  std::string robots;
  for (std::size_t i = 0; i < scenario.robots.size(); ++i) {
    JsonLine robot;
    robot.text("name", scenario.robots[i]);
    robot.text("address", realtime.address(i));
    robot.text("address6", realtime.address6(i));
    robot.json("run", json_list(scenario.commands[i], quoted));
    robot.json("body", body_of(scenario, i));
    robot.json("off_s", json_list(scenario.off[i], [](Time at) {
                 return std::to_string(static_cast<double>(at.ns) * 1e-9);
               }));
    robot.json("routes", routes_of(scenario, i));
    robots += (robots.empty() ? "" : ",") + robot.take();
  }
  return JsonLine()
      .json("robots", "[" + robots + "]")
      .add("prefix", std::uint64_t{realtime.prefix})
      .add("seconds", scenario.duration.seconds())
      .json("routing", JsonLine()
                           .text("protocol", to_string(scenario.routing.protocol))
                           .add("hello_s", scenario.routing.hello.seconds())
                           .take())
      .json("probes", json_list(realtime.probes,
                                [&](const auto& pair) {
                                  return "[" + name(pair.first) + "," + name(pair.second) + "]";
                                }))
      .add("probe_ms", realtime.probe_interval.ms())
      .take();
}

std::string rehearsed(const Scenario& scenario, const Rehearsal& rehearsal) {
  const auto robots = static_cast<std::uint32_t>(scenario.robots.size());
  const auto reasons =
      why_doubtful(rehearsal, robots, scenario.step.longest(), scenario.realtime.limits.p99);
  return JsonLine()
      .text("kind", "rehearsal")
      .add("physics", rehearsal.physics)
      .add("step_p99_ms", rehearsal.step_p99.ms())
      .add("packets", rehearsal.packets)
      .add("packet_ms", rehearsal.per_packet_s * 1e3)
      .add("packets_per_second", rehearsal.packets_per_second())
      .json("doubtful_because", json_list(reasons, quoted))
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
                    const MachineWatch::Use& use, const Bodies* bodies,
                    const mavlink::Vehicles& vehicles) {
  const LagLimits& limits = scenario.realtime.limits;
  const auto reasons = why_invalid(report, limits);
  return JsonLine()
      .text("kind", "real-time emulation")
      .truth("valid", reasons.empty())
      .json("invalid_because", json_list(reasons, quoted))
      .add("simulated_s", static_cast<double>(report.end.ns) * 1e-9)
      .add("origin_ns", report.origin.ns)
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
      .json("mavlink", mavlink_of(scenario, vehicles))
      .json("machine", JsonLine()
                           .add("own", use.own)
                           .add("others", use.others)
                           .add("stolen", use.stolen)
                           .add("waited_s", use.waited_s)
                           .take())
      .take();
}

}  // namespace hyphos::cosim
