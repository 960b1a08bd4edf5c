#include "cosim/scenario/jammers.hpp"

#include <algorithm>
#include <cmath>

#include "cosim/scenario/point.hpp"

namespace hyphos::cosim {
namespace {

using config::Problems;
using config::Section;
using config::Value;

constexpr std::size_t kMostJammers = 1000;

/// Reads `band_mhz: [low, high]`.
void read_band(const Section& section, Jammer& jammer, Problems& problems) {
  if (!section.has("band_mhz")) return;
  const std::vector<config::Word> words = section.words("band_mhz");
  std::vector<double> ends;
  for (const config::Word& word : words) {
    Value value;
    value.kind = Value::Kind::scalar;
    value.text = word.text;
    double read = 0;
    if (!config::read_real(value, read) || !(read > 0) || read > 1e6) {
      return problems.error(
          word.source,
          section.path("band_mhz") + ": expected a frequency in MHz, found '" + word.text + "'");
    }
    ends.push_back(read * 1e6);
  }
  if (ends.size() != 2 || !(ends[0] < ends[1])) {
    return section.error("band_mhz", "expected [low, high], with low below high");
  }
  jammer.low_hz = ends[0];
  jammer.high_hz = ends[1];
}

Jammer read_jammer(const std::string& name, const Value& value, const Scenario& scenario,
                   Problems& problems) {
  const Section section(&value, "radio.jammers." + name, problems,
                        {"at", "robot", "power_dbm", "duty", "period_ms", "band_mhz"});
  Jammer jammer;
  if (section.has("at") == section.has("robot")) {
    problems.error(value.source, section.path() +
                                     ": needs one of `at` (a point) and `robot` (the name of the "
                                     "robot that carries it)");
  } else if (section.has("at")) {
    jammer.place = read_point(section, "at", problems);
  } else {
    const std::vector<std::string_view> names(scenario.robots.begin(), scenario.robots.end());
    const std::string robot = section.word_of("robot", "", names);
    const auto found = std::ranges::find(scenario.robots, robot);
    jammer.robot = static_cast<NodeId>(found - scenario.robots.begin());
  }
  jammer.power_dbm = section.real("power_dbm", jammer.power_dbm, -100, 100);
  jammer.duty = section.real("duty", jammer.duty, 0, 1);
  const double least = Jammers::kLeastPeriod.ms();
  jammer.period = {std::llround(section.real("period_ms", jammer.period.ms(), least, 1e6) * 1e6)};
  if (section.has("period_ms") && (jammer.duty == 0 || jammer.duty == 1)) {
    section.error("period_ms", "only valid with a `duty` between 0 and 1");
  }
  read_band(section, jammer, problems);
  return jammer;
}

}  // namespace

void read_jammers(const Section& radio, Scenario& scenario, Problems& problems) {
  const Value* const jammers = radio.find("jammers");
  if (jammers == nullptr) return;
  if (!radio.has("kind")) {
    return radio.error("jammers",
                       "only valid with `radio.kind`: write for example `kind: 802.11g`");
  }
  if (!jammers->is(Value::Kind::map) || jammers->entries.empty()) {
    return radio.error("jammers",
                       "expected a map of jammers, for example "
                       "`van: {at: [10, 0, 2], power_dbm: 20}`");
  }
  if (jammers->entries.size() > kMostJammers) {
    return radio.error("jammers", "at most " + std::to_string(kMostJammers) + " jammers, found " +
                                      std::to_string(jammers->entries.size()));
  }
  for (const config::Entry& entry : jammers->entries) {
    scenario.radio.jammers.push_back(read_jammer(entry.key, entry.value, scenario, problems));
  }
}

}  // namespace hyphos::cosim
