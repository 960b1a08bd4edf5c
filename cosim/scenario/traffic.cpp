#include "cosim/scenario/traffic.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "cosim/programs/recording.hpp"
#include "cosim/scenario/ranges.hpp"

namespace hyphos::cosim {
namespace {

using config::Problems;
using config::Section;
using config::Value;

constexpr std::int64_t kMostBytes = 65'507;                          // of a datagram
constexpr std::uintmax_t kMostRecorded = std::uintmax_t{256} << 20;  // bytes of a file

Time seconds(double s) { return {std::llround(s * 1e9)}; }

/// The number of a robot, or of `everyone` if that is allowed.
NodeId read_robot(const Section& section, std::string_view key, const Scenario& scenario,
                  bool everyone) {
  if (!section.has(key)) {
    section.error(key, "is missing: give the name of a robot");
    return 0;
  }
  std::vector<std::string_view> names(scenario.robots.begin(), scenario.robots.end());
  if (everyone) names.emplace_back("everyone");
  const std::string name = section.word_of(key, names.front(), names);
  const auto found = std::ranges::find(scenario.robots, name);
  return found == scenario.robots.end() ? kEveryone
                                        : static_cast<NodeId>(found - scenario.robots.begin());
}

void read_recorded_flow(const Section& section, const std::string& beside, FlowOptions& flow) {
  namespace fs = std::filesystem;
  const std::string name = section.text("recording", "");
  const fs::path path = fs::path(beside).parent_path() / name;
  // Not a device, whose content might never end.
  std::error_code wrong;
  const bool readable = !name.empty() && fs::is_regular_file(path, wrong);
  if (readable && fs::file_size(path, wrong) > kMostRecorded) {
    section.error("recording", "'" + path.string() + "' has more than 256 MB");
    return;
  }
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  if (readable) text << stream.rdbuf();
  if (!readable || !stream) {
    section.error("recording", "cannot read '" + path.string() +
                                   "': give a file written by `hyphos cosim recording`");
    return;
  }
  auto recorded = parse_recording(text.str(), path.string());
  if (!recorded) {
    section.error("recording", recorded.error().to_string());
  } else if (recorded->empty()) {
    section.error("recording", "there is no message in '" + path.string() + "'");
  } else {
    flow.recorded = std::move(*recorded);
  }
}

struct Fits {
  std::string_view key;
  std::vector<FlowKind> kinds;
};

/// Reports keys that have no meaning for this kind.
void refuse_strangers(const Section& section, FlowKind kind) {
  using enum FlowKind;
  for (const Fits& fits :
       {Fits{"rate_hz", {stream, accelerometer, ping}}, Fits{"bytes", {stream, file, ping}},
        Fits{"chunk_bytes", {file}}, Fits{"count", {stream, accelerometer, recording, ping}},
        Fits{"seconds", {stream, accelerometer, recording, ping}},
        Fits{"recording", {recording}}}) {
    if (!section.has(fits.key) || std::ranges::find(fits.kinds, kind) != fits.kinds.end()) continue;
    std::string kinds;
    for (const FlowKind fitting : fits.kinds) kinds += " " + std::string(to_string(fitting));
    section.error(fits.key, "only valid with `kind:`" + kinds);
  }
}

FlowOptions read_flow(const Section& section, const std::string& name, const std::string& beside,
                      const Scenario& scenario) {
  using enum FlowKind;
  FlowOptions flow;
  flow.name = name;
  flow.kind = section.choice<FlowKind>("kind", stream,
                                       {{"stream", stream},
                                        {"accelerometer", accelerometer},
                                        {"recording", recording},
                                        {"file", file},
                                        {"ping", ping}});
  flow.transport = section.choice<FlowTransport>(
      "transport", FlowTransport::plain,
      {{"plain", FlowTransport::plain}, {"acknowledged", FlowTransport::acknowledged}});
  flow.from = read_robot(section, "from", scenario, false);
  flow.to = read_robot(section, "to", scenario, true);
  if (flow.from == flow.to) section.error("to", "must not be the sender");
  if (flow.to == kEveryone && (flow.kind == ping || flow.transport != FlowTransport::plain)) {
    section.error("to",
                  "`everyone` is only valid for messages without replies or acknowledgements");
  }
  if (flow.kind == ping && flow.transport != FlowTransport::plain) {
    section.error("transport", "not valid for a ping, whose reply is its acknowledgement");
  }
  refuse_strangers(section, flow.kind);
  flow.rate_hz = section.real("rate_hz", flow.kind == accelerometer ? 100 : 10, 1e-3, 1e5);
  const bool whole = flow.kind == file;
  flow.bytes = static_cast<std::size_t>(
      section.integer("bytes", 100, whole ? 1 : static_cast<std::int64_t>(kHeaderBytes),
                      whole ? 1'000'000'000 : kMostBytes));
  flow.chunk_bytes = static_cast<std::size_t>(section.integer(
      "chunk_bytes", 1400, 1, kMostBytes - static_cast<std::int64_t>(kHeaderBytes)));
  flow.drawn_phase = !section.has("start_s");
  flow.start = seconds(section.real("start_s", 0, 0, kMostSeconds));
  if (section.has("seconds")) {
    flow.lasts = Duration{seconds(section.real("seconds", 1, 1e-6, kMostSeconds)).ns};
  }
  flow.count = static_cast<std::uint64_t>(section.integer("count", 0, 1, 1'000'000'000));
  if (flow.kind == recording) read_recorded_flow(section, beside, flow);
  return flow;
}

void read_flows(const Section& traffic, const std::string& file, Scenario& scenario,
                Problems& problems) {
  const Value& flows = *traffic.find("flows");
  for (const char* key : {"rate_hz", "bytes", "to"}) {
    if (traffic.has(key)) traffic.error(key, "not valid with `flows`: each flow has its own");
  }
  if (!flows.is(Value::Kind::map) || flows.entries.empty() || flows.entries.size() > 65'535) {
    return traffic.error("flows", "expected a map of flows, by name");
  }
  if (traffic.has("via")) scenario.flows.via = read_robot(traffic, "via", scenario, false);
  for (const config::Entry& entry : flows.entries) {
    const Section section(&entry.value, "traffic.flows." + entry.key, problems,
                          {"kind", "from", "to", "transport", "rate_hz", "bytes", "chunk_bytes",
                           "start_s", "seconds", "count", "recording"});
    scenario.flows.flows.push_back(read_flow(section, entry.key, file, scenario));
  }
}

}  // namespace

void read_traffic(const Section& root, const std::string& file, Scenario& scenario,
                  Problems& problems) {
  const Section traffic(root.find("traffic"), "traffic", problems,
                        {"rate_hz", "bytes", "to", "via", "flows"});
  Periodic::Options& to = scenario.traffic;
  to.nodes = static_cast<std::uint32_t>(scenario.robots.size());
  to.seed = scenario.seed;
  scenario.flows.nodes = to.nodes;
  scenario.flows.seed = scenario.seed;
  if (traffic.has("flows")) {
    if (!scenario.robots.empty()) read_flows(traffic, file, scenario, problems);
    return;
  }
  if (traffic.has("via")) traffic.error("via", "only valid with `flows`");
  to.rate_hz = traffic.real("rate_hz", 10, 1e-3, 1e5);
  to.bytes = static_cast<std::size_t>(traffic.integer("bytes", 100, 0, kMostBytes));
  to.everyone = traffic.choice<bool>("to", true, {{"everyone", true}, {"one", false}});
}

}  // namespace hyphos::cosim
