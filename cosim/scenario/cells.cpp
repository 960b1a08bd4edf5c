#include "cosim/scenario/cells.hpp"

#include <cmath>

#include "cosim/scenario/point.hpp"

namespace hyphos::cosim {
namespace {

using config::Problems;
using config::Section;
using config::Value;

constexpr std::size_t kMostStations = 1000;
constexpr double kMostHandoverDb = 15;  // hysteresis
constexpr Duration kLongestTrigger = Duration::from_ms(5120);

Duration ms_of(const Section& section, std::string_view key, Duration fallback) {
  return {std::llround(section.real(key, fallback.ms(), 0, 1e5) * 1e6)};
}

/// The keys that ns-3 has not, or with other limits.
void read_ns3(const Section& radio, const Section& cell, const Scenario& scenario) {
  const CellOptions& read = scenario.radio.cell;
  if (cell.has("load")) {
    cell.error("load", "ns-3 simulates the traffic of all base stations: leave it out");
  }
  if (cell.has("interruption_ms")) {
    cell.error("interruption_ms", "ns-3 simulates the messages of a handover: leave it out");
  }
  if (read.handover_db > kMostHandoverDb) {
    cell.error("handover_db", "at most 15 in ns-3, as in 3GPP TS 36.331");
  }
  if (read.time_to_trigger > kLongestTrigger) {
    cell.error("time_to_trigger_ms", "at most 5120 in ns-3, as in 3GPP TS 36.331");
  }
  const auto too_many = [&](const char* what, std::size_t count, std::size_t most) {
    if (count <= most) return;
    radio.error("cells", std::to_string(count) + " " + what + ": at most " + std::to_string(most) +
                             " in ns-3, or write `simulator: analytic`");
  };
  too_many("base stations", read.stations.size(), kMostNs3Stations);
  too_many("robots", scenario.robots.size(), kMostNs3Users);
}

}  // namespace

void read_cells(const Section& radio, Scenario& scenario, Problems& problems) {
  const RadioKind* const kind = find_radio(scenario.radio.kind);
  if (kind == nullptr || !kind->cellular) {
    for (const char* key : {"cells", "cell"}) {
      if (radio.has(key)) radio.error(key, "only valid with `kind: cell`");
    }
    return;
  }
  for (const char* key : {"rate", "rate_control", "retry_limit"}) {
    if (radio.has(key)) radio.error(key, "a cell chooses rates and repetitions: leave it out");
  }
  if (radio.has("jammers")) {
    radio.error("jammers", "not with `kind: cell`: write `channel.interference_dbm`");
  }
  CellOptions& to = scenario.radio.cell;
  const Section cell(
      radio.find("cell"), "radio.cell", problems,
      {"core_delay_ms", "load", "handover_db", "time_to_trigger_ms", "interruption_ms"});
  to.core_delay = ms_of(cell, "core_delay_ms", to.core_delay);
  to.load = cell.real("load", to.load, 0, 1);
  to.handover_db = cell.real("handover_db", to.handover_db, 0, 30);
  to.time_to_trigger = ms_of(cell, "time_to_trigger_ms", to.time_to_trigger);
  to.interruption = ms_of(cell, "interruption_ms", to.interruption);
  const Value* const cells = radio.find("cells");
  if (cells == nullptr || !cells->is(Value::Kind::map) || cells->entries.empty() ||
      cells->entries.size() > kMostStations) {
    return radio.error("cells", "expected a map of 1 to " + std::to_string(kMostStations) +
                                    " base stations, for example `north: {at: [0, 200, 25]}`");
  }
  for (const config::Entry& entry : cells->entries) {
    const Section section(&entry.value, "radio.cells." + entry.key, problems,
                          {"at", "tx_power_dbm", "gain_dbi"});
    BaseStation& station = to.stations.emplace_back();
    station.name = entry.key;
    if (!section.has("at")) section.error("at", "is missing: give the place [x, y, z]");
    station.place = read_point(section, "at", problems);
    station.tx_power_dbm = section.real("tx_power_dbm", station.tx_power_dbm, -100, 100);
    station.gain_dbi = section.real("gain_dbi", station.gain_dbi, -50, 50);
  }
  if (scenario.network == NetworkKind::ns3) read_ns3(radio, cell, scenario);
}

}  // namespace hyphos::cosim
