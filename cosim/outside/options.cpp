#include "cosim/outside/options.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/config_reader.hpp"

namespace hyphos::cosim {
namespace {

using config::Section;

constexpr std::array<std::string_view, 4> kProtocols{"ros1", "ros2", "rosbridge", "ros_tcp"};

std::vector<std::string> texts(const Section& section, std::string_view key) {
  std::vector<std::string> all;
  for (config::Word& word : section.words(key)) all.push_back(std::move(word.text));
  return all;
}

/// The scanner of a body has become a sensor of the robot. The error contains its new spelling.
void refuse_scan(const Section& robot, const Section& body, config::Problems& problems) {
  using Name = std::pair<std::string_view, const char*>;
  constexpr std::array<Name, 9> kNames{{{"channel", "channel"},
                                        {"rate_hz", "rate_hz"},
                                        {"beams", "rays"},
                                        {"from_deg", "from_deg"},
                                        {"to_deg", "to_deg"},
                                        {"least_m", "nearest_m"},
                                        {"range_m", "range_m"},
                                        {"noise_m", "noise_m"},
                                        {"body_m", "body_m"}}};
  const Section scan(body.find("scan"), body.path("scan"), problems,
                     {"channel", "rate_hz", "beams", "from_deg", "to_deg", "least_m", "range_m",
                      "height_m", "noise_m", "body_m"});
  std::string keys = "frame: base, mount: [0, 0, " + scan.text("height_m", "0") + "]";
  if (!scan.has("range_m")) keys += ", range_m: 20";
  if (!scan.has("least_m")) keys += ", nearest_m: 0.05";
  for (const auto& [old, name] : kNames) {
    if (scan.has(old)) keys += std::string(", ") + name + ": " + scan.text(old, "");
  }
  body.error("scan", "a scanner is a sensor of the robot now. Replace it by " +
                         robot.path("sensors") + ": {lidar: {" + keys + "}}");
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
  if (body.has("scan")) refuse_scan(robot, body, problems);
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
