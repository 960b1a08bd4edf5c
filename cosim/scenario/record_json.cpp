#include "cosim/scenario/record_json.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <thread>

#include "base/json.hpp"
#include "base/percentile.hpp"

namespace hyphos::cosim {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// Objects of named values. One call writes one line of the file.
class Json {
 public:
  void open(std::string_view name) {
    out_.key(name);
    out_.begin_object();
  }
  void open() { out_.begin_object(); }
  void close() { out_.end_object(); }
  void open_list(std::string_view name) {
    out_.key(name);
    out_.begin_list();
  }
  void open_list() { out_.begin_list(); }
  void close_list() { out_.end_list(); }
  void item(std::string_view value) { out_.text(value); }
  void item(double value) { out_.real(value); }
  void item(std::int64_t value) { out_.number(value); }
  void put(std::string_view name, std::string_view value) {
    out_.key(name);
    out_.text(value);
  }
  void put(std::string_view name, double value) {
    out_.key(name);
    out_.real(value);
  }
  void put(std::string_view name, std::uint64_t value) {
    out_.key(name);
    out_.number(static_cast<std::int64_t>(value));
  }
  void put(std::string_view name, Duration value) {
    out_.key(name);
    out_.number(value.ns);
  }
  void put(std::string_view name, Time value) { put(name, Duration{value.ns}); }
  void put_truth(std::string_view name, bool value) {
    out_.key(name);
    out_.boolean(value);
  }
  [[nodiscard]] std::string take() && { return std::move(out_).take(); }

 private:
  JsonWriter out_;
};

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

void put_machine(Json& json) {
  utsname system{};
  uname(&system);
  std::string load = "unknown";
  if (std::ifstream file("/proc/loadavg"); file) std::getline(file, load);
  json.open("machine");
  json.put("cpu", processor());
  json.put("cores", std::uint64_t{std::thread::hardware_concurrency()});
  json.put("kernel", system.release);
  json.put("load at end", load);
  json.close();
}

void put_scenario(Json& json, const Scenario& scenario) {
  json.put("method", scenario.method);
  json.put("seed", scenario.seed);
  json.put("window_ns", scenario.window);
  json.put("latency_budget_ns", scenario.latency_budget);
  json.put("duration_ns", scenario.duration);
  json.put("physics", to_string(scenario.physics));
  json.put("network", to_string(scenario.network));
  json.put("transport", scenario.transport == Transport::tcp ? "tcp" : "udp");
  const bool via = scenario.flows.via != kEveryone;
  json.put("via", via ? scenario.robots[scenario.flows.via] : std::string());
  json.open_list("robots");
  for (std::size_t i = 0; i < scenario.robots.size(); ++i) {
    json.open();
    json.put("name", scenario.robots[i]);
    json.put("kind", scenario.kinds[i] == RobotKind::uav ? "uav" : "ugv");
    json.close();
  }
  json.close_list();
  json.open_list("boxes");
  for (const Box& box : scenario.scene.boxes()) {
    json.open_list();
    for (const double value :
         {box.low.x, box.low.y, box.low.z, box.high.x, box.high.y, box.high.z, box.loss_db}) {
      json.item(value);
    }
    json.close_list();
  }
  json.close_list();
}

void put_dropped(Json& json, const std::array<std::uint64_t, kDropReasons>& dropped) {
  json.open("dropped");
  for (std::size_t i = 1; i < dropped.size(); ++i) {
    if (dropped[i] > 0) json.put(to_string(static_cast<DropReason>(i)), dropped[i]);
  }
  json.close();
}

void put_case(Json& json, std::string_view name, const Scenario& scenario,
              const Exceeded::Case& one) {
  json.open(name);
  json.put("packet", one.packet);
  json.put("from", scenario.robots[one.from]);
  json.put("to", scenario.robots[one.to]);
  json.put("at_ns", one.at);
  json.put("value", one.value);
  json.put("sight_db", one.sight);
  json.close();
}

/// The requested bounds that the run exceeded. Values are ns of latency and dB of power.
void put_exceeded(Json& json, const Scenario& scenario, const Report& report) {
  json.open_list("exceeded");
  const auto put = [&](std::string_view bound, double requested,
                       const std::optional<Exceeded>& exceeded) {
    if (!exceeded) return;
    json.open();
    json.put("bound", bound);
    json.put("requested", requested);
    json.put("count", exceeded->count);
    put_case(json, "first", scenario, exceeded->first);
    put_case(json, "worst", scenario, exceeded->worst);
    json.close();
  };
  const auto latency = report.requested.latency.value_or(Duration{0});
  put("latency_ns", static_cast<double>(latency.ns), report.latency_exceeded);
  put("power_db", report.requested.power_db.value_or(0), report.power_exceeded);
  json.close_list();
}

void put_report(Json& json, const Scenario& scenario, const Report& report, const Trace& trace) {
  json.put("end_ns", report.end);
  json.open("packets");
  json.put("packets", report.packets.packets);
  json.put("sent", report.packets.sent);
  json.put("delivered", report.packets.delivered);
  json.put("in_flight", report.packets.in_flight);
  put_dropped(json, report.packets.dropped);
  json.close();
  json.open("bounds");
  json.put("latency_ns", report.bounds.latency);
  json.put("position_m", report.bounds.position_m);
  json.put("power_db", report.bounds.power_db);
  json.put("clock_error_ns", report.clock_error);
  json.close();
  put_exceeded(json, scenario, report);
  json.open_list("remarks");  // of the method
  for (const std::string& remark : report.remarks) json.item(remark);
  json.close_list();
  json.open("windows");
  json.put("count", report.windows);
  json.put("skipped", report.windows_skipped);
  json.put("network_syncs", report.network_syncs);
  json.put("physics_steps", report.physics_steps);
  json.put("pose_refreshes", report.pose_refreshes);
  json.put("shortest_ns", report.shortest_window);
  json.put("longest_ns", report.longest_window);
  json.close();
  const Profile& profile = report.profile;
  json.open("profile");
  json.put("physics_ns", Duration{profile.physics_ns});
  json.put("network_ns", Duration{profile.network_ns});
  json.put("wait_ns", Duration{profile.wait_ns});
  json.put("codec_ns", Duration{profile.codec_ns});
  json.put("programs_ns", Duration{profile.programs_ns});
  json.put("engine_ns", Duration{profile.engine_ns()});
  json.put("total_ns", Duration{profile.total_ns});
  json.close();
  std::array<char, 17> hash{};
  std::snprintf(hash.data(), hash.size(), "%016llx", static_cast<unsigned long long>(trace.hash()));
  json.open("trace");
  json.put("lines", trace.lines());
  json.put("hash", hash.data());
  json.close();
}

void put_motions(Json& json, const Scenario& scenario, const Report& report) {
  json.open_list("lost");  // messages lost inside robots, and commands that were refused
  for (const Lost& lost : report.lost) {
    json.open();
    json.put("robot", lost.robot);
    json.put("channel", lost.channel);
    json.put("reason", lost.reason);
    json.put("count", lost.count);
    json.close();
  }
  json.close_list();
  json.open("motions");  // commands from nodes to their robots
  json.put("told", report.motions);
  json.open_list("in_part");
  for (const auto& [robot, part] : report.in_part) {
    json.open();
    json.put("robot", scenario.robots[robot]);
    json.put("count", part.count);
    json.put("first_ns", part.first);
    json.put("left_out", part.left_out);
    json.close();
  }
  json.close_list();
  json.close();
}

void put_troubles(Json& json, const Scenario& scenario, const Report& report) {
  json.open_list("troubles");
  for (const Trouble& trouble : report.troubles) {
    json.open();
    json.put("robot", scenario.robots[trouble.robot]);
    json.put("kind", to_string(trouble.kind));
    json.put("count", trouble.count);
    json.put("first_ns", trouble.first);
    json.put("lasted_ns", trouble.lasted);
    json.put_truth("at_end", trouble.at_end);
    json.close();
  }
  json.close_list();
}

void put_distances(Json& json, const Record& record) {
  json.open_list("distances");
  for (const auto& [key, distance] : record.distances()) {
    json.open();
    json.put("from_m", key.first * Record::kMetres);
    json.put("to_m", (key.first + 1) * Record::kMetres);
    json.put_truth("blocked", key.second);
    json.put("copies", distance.copies);
    json.put("delivered", distance.delivered);
    const bool some = distance.delivered > 0;
    const auto ms = [&](double ns) { return some ? ns * 1e-6 : kNone; };
    json.put("delay_mean_ms", ms(distance.delay_ns / static_cast<double>(distance.delivered)));
    json.put("delay_least_ms", ms(static_cast<double>(distance.least_ns)));
    json.put("delay_most_ms", ms(static_cast<double>(distance.most_ns)));
    put_dropped(json, distance.dropped);
    json.close();
  }
  json.close_list();
}

void put_series(Json& json, const Scenario& scenario, const Record& record) {
  json.open_list("window_series");  // begin, end, count, shortest, longest: nanoseconds
  for (const Record::Windows& windows : record.windows()) {
    json.open_list();
    for (const std::int64_t value :
         {windows.begin.ns, windows.end.ns, static_cast<std::int64_t>(windows.count),
          windows.shortest.ns, windows.longest.ns}) {
      json.item(value);
    }
    json.close_list();
  }
  json.close_list();
  json.open("trajectories");  // seconds, and metres in the world frame
  for (std::size_t robot = 0; robot < scenario.robots.size(); ++robot) {
    json.open_list(scenario.robots[robot]);
    for (const Record::Sample& sample : record.samples()) {
      const Vec3& place = sample.places[robot];
      json.open_list();
      for (const double value :
           {static_cast<double>(sample.time.ns) * 1e-9, place.x, place.y, place.z}) {
        json.item(std::round(value * 1e6) / 1e6);
      }
      json.close_list();
    }
    json.close_list();
  }
  json.close();
  json.open("headings");  // at the end, in rad about z
  for (std::size_t robot = 0; robot < record.headings().size(); ++robot) {
    json.put(scenario.robots[robot], record.headings()[robot]);
  }
  json.close();
}

/// Mean, median, 95th percentile and maximum. Sorts `times`.
void put_times(Json& json, std::string_view name, std::vector<std::int64_t>& times) {
  std::ranges::sort(times);
  double sum = 0;
  for (const std::int64_t time : times) sum += static_cast<double>(time);
  const auto count = times.size();
  const auto rank = [&](double share) {
    if (times.empty()) return kNone;
    return static_cast<double>(percentile(times, share)) * 1e-6;
  };
  json.open(name);
  json.put("mean", times.empty() ? kNone : sum * 1e-6 / static_cast<double>(count));
  json.put("p50", rank(0.5));
  json.put("p95", rank(0.95));
  json.put("most", rank(1));
  json.put("sum", sum * 1e-6);
  json.close();
}

/// The means over the delivered messages. Null if the network does not report the parts.
void put_parts(Json& json, const FlowResult& flow) {
  DelayParts sum;
  double count = 0;
  for (const Message& message : flow.messages) {
    if (!message.parts) continue;
    sum += *message.parts;
    ++count;
  }
  const auto mean = [count](Duration part) {
    return count > 0 ? static_cast<double>(part.ns) * 1e-6 / count : kNone;
  };
  json.open("delay_parts_ms");
  json.put("processing", mean(sum.processing));
  json.put("queueing", mean(sum.queueing));
  json.put("retransmission", mean(sum.retransmission));
  json.put("transmission", mean(sum.transmission));
  json.put("propagation", mean(sum.propagation));
  json.close();
}

void put_flow(Json& json, const Scenario& scenario, const FlowResult& flow) {
  const FlowOptions& options = flow.options;
  std::vector<std::int64_t> delays;
  std::vector<std::int64_t> read;
  std::uint64_t bytes = 0;
  double metres = 0;
  std::uint64_t blocked = 0;
  Time first = kNever;
  Time last{};
  for (const Message& message : flow.messages) {
    first = std::min(first, message.sent);
    metres += message.distance_m;
    blocked += message.obstacles_db > 0 ? 1 : 0;
    if (message.delivered == kNever) continue;
    bytes += message.bytes;
    last = std::max(last, message.delivered);
    delays.push_back((message.delivered - message.sent).ns);
    read.push_back((message.read - message.sent).ns);
  }
  const auto messages = static_cast<double>(flow.messages.size());
  json.open();
  json.put("name", options.name);
  json.put("kind", to_string(options.kind));
  json.put("transport", to_string(options.transport));
  json.put("from", scenario.robots[options.from]);
  json.put("to", options.to == kEveryone ? "everyone" : scenario.robots[options.to]);
  json.put("messages", std::uint64_t{flow.messages.size()});
  json.put("delivered", std::uint64_t{delays.size()});
  json.put("delivered_bytes", bytes);
  json.put("repeats", flow.repeats);
  json.put("acknowledgements", flow.acknowledgements);
  json.put("loss",
           flow.messages.empty() ? kNone : 1 - static_cast<double>(delays.size()) / messages);
  json.put("distance_m", flow.messages.empty() ? kNone : metres / messages);
  json.put("blocked", flow.messages.empty() ? kNone : static_cast<double>(blocked) / messages);
  // From the first send to the last arrival. Null unless all messages arrived.
  const bool all = !delays.empty() && delays.size() == flow.messages.size();
  json.put("took_ms", all ? static_cast<double>((last - first).ns) * 1e-6 : kNone);
  put_times(json, "delay_ms", delays);
  put_times(json, "read_delay_ms", read);
  put_parts(json, flow);
  json.close();
}

void put_routing(Json& json, const Scenario& scenario, const Record& record) {
  json.open("routing");
  json.put("protocol", to_string(scenario.routing.protocol));
  json.open_list("robots");
  for (std::size_t node = 0; node < record.routing().size(); ++node) {
    const routing::Routed::Results& at = record.routing()[node];
    json.open();
    json.put("name", scenario.robots[node]);
    json.put("relayed", at.relayed);
    json.put("requests", at.counts.requests);
    json.put("replies", at.counts.replies);
    json.put("errors", at.counts.errors);
    json.put("hellos", at.counts.hellos);
    json.put("discoveries", at.counts.discoveries);
    json.put("found", at.counts.found);
    json.put("broken_links", at.counts.broken);
    json.open("dropped");
    for (std::size_t i = 0; i < at.drops.size(); ++i) {
      if (at.drops[i] > 0) json.put(to_string(static_cast<routing::RouteDrop>(i)), at.drops[i]);
    }
    json.close();
    json.close();
  }
  json.close_list();
  json.close();
  json.open_list("healing");  // of flows, after the radio of a robot went off
  for (const Healing& healing : healings(scenario.off, record.flows())) {
    json.open();
    json.put("robot", scenario.robots[healing.robot]);
    json.put("off_ns", healing.at);
    json.put("flow", record.flows()[healing.flow].options.name);
    json.put("lost", healing.lost);
    json.put("after_ms", healing.after.ns == kNever.ns ? kNone : healing.after.ms());
    json.close();
  }
  json.close_list();
}

}  // namespace

std::string to_json(const RunNames& names, const Scenario& scenario, const Report& report,
                    const Trace& trace, const Record& record) {
  Json json;
  json.open();
  json.put("cosim", std::uint64_t{1});
  json.put("scenario", names.scenario);
  json.put("command", names.command);
  json.put_truth("whole", names.whole);
  put_machine(json);
  put_scenario(json, scenario);
  put_report(json, scenario, report, trace);
  put_motions(json, scenario, report);
  put_troubles(json, scenario, report);
  json.open_list("flows");
  for (const FlowResult& flow : record.flows()) put_flow(json, scenario, flow);
  json.close_list();
  put_routing(json, scenario, record);
  put_distances(json, record);
  put_series(json, scenario, record);
  json.put("scenario_text", names.text);
  json.close();
  return std::move(json).take();
}

}  // namespace hyphos::cosim
