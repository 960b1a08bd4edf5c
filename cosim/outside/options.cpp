#include "cosim/outside/options.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/config_reader.hpp"

namespace hyphos::cosim {
namespace {

using config::Section;

constexpr double kDegree = std::numbers::pi / 180;
constexpr std::int64_t kMostBeams = 8192;
constexpr std::array<std::string_view, 4> kProtocols{"ros1", "ros2", "rosbridge", "ros_tcp"};

std::vector<std::string> texts(const Section& section, std::string_view key) {
  std::vector<std::string> all;
  for (config::Word& word : section.words(key)) all.push_back(std::move(word.text));
  return all;
}

ScanOptions read_scan(const Section& body, config::Problems& problems) {
  const Section scan(body.find("scan"), body.path("scan"), problems,
                     {"channel", "rate_hz", "beams", "from_deg", "to_deg", "least_m", "range_m",
                      "height_m", "noise_m", "body_m"});
  ScanOptions to;
  to.channel = scan.text("channel", to.channel);
  to.rate_hz = scan.integer("rate_hz", to.rate_hz, 1, 1000);
  to.beams = static_cast<std::uint32_t>(scan.integer("beams", to.beams, 1, kMostBeams));
  to.from = scan.real("from_deg", -180, -360, 360) * kDegree;
  to.to = scan.real("to_deg", 180, -360, 360) * kDegree;
  to.least_m = scan.real("least_m", to.least_m, 0, 1e6);
  to.most_m = scan.real("range_m", to.most_m, 1e-3, 1e6);
  to.height_m = scan.real("height_m", to.height_m, -1000, 1000);
  to.noise_m = scan.real("noise_m", to.noise_m, 0, 100);
  to.body_m = scan.real("body_m", to.body_m, 0, 100);
  if (to.to < to.from) scan.error("to_deg", "must not be less than from_deg");
  if (to.most_m < to.least_m) scan.error("range_m", "must not be less than least_m");
  return to;
}

CommandLimits read_limits(const Section& body, config::Problems& problems) {
  const Section command(body.find("command"), body.path("command"), problems,
                        {"timeout_ms", "speed", "turn"});
  CommandLimits to;
  to.timeout = {std::llround(command.real("timeout_ms", 500, 0, 1e6) * 1e6)};
  to.speed = command.real("speed", 0, 0, 1e4);
  to.turn = command.real("turn", 0, 0, 1e4);
  return to;
}

bool is_name(const std::string& text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::ranges::all_of(text,
                             [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

}  // namespace

std::optional<BodyOptions> read_body(const Section& robot, const std::string& name,
                                     config::Problems& problems) {
  if (!robot.has("body")) return std::nullopt;
  const Section body(robot.find("body"), robot.path("body"), problems,
                     {"gateway", "namespace", "wait_for", "clock_rate_hz", "rest_ms", "discovery_s",
                      "scan", "command"});
  BodyOptions to;
  to.gateway = texts(body, "gateway");
  if (!to.gateway.empty() &&
      std::ranges::find(kProtocols, to.gateway.front()) == kProtocols.end()) {
    body.error("gateway", "'" + to.gateway.front() +
                              "' is no gateway: begin with ros1, ros2, rosbridge or ros_tcp");
  }
  to.prefix = body.text("namespace", "");
  if (body.has("namespace") && !is_name(to.prefix)) {
    body.error("namespace", "expected one name of letters, digits and _, such as " +
                                (is_name(name) ? name : std::string("robot1")));
  }
  to.wait_for =
      body.has("wait_for") ? texts(body, "wait_for") : std::vector<std::string>{"cmd_vel"};
  to.clock_rate_hz = body.integer("clock_rate_hz", to.clock_rate_hz, 1, 1000);
  to.rest = {std::llround(body.real("rest_ms", 2, 0, 1000) * 1e6)};
  const bool dds = !to.gateway.empty() && to.gateway.front() == "ros2";
  to.discovery = {std::llround(body.real("discovery_s", dds ? 3 : 0, 0, 600) * 1e9)};
  if (body.has("scan")) {
    to.scan = read_scan(body, problems);
    if (!to.prefix.empty()) to.scan->frame = to.prefix + "/" + to.scan->frame;
  }
  to.limits = read_limits(body, problems);
  if (robot.has("plan")) {
    for (const char* key :
         {"gateway", "namespace", "wait_for", "clock_rate_hz", "rest_ms", "discovery_s"}) {
      if (body.has(key)) body.error(key, "only valid with `run`, and without `plan`");
    }
  }
  return to;
}

}  // namespace hyphos::cosim
