// Named radios and channels in scenarios: keys, errors, and one trace in all ways of running.
#include <gtest/gtest.h>

#include "cosim/scenario/curves.hpp"
#include "cosim/scenario/scenario.hpp"

namespace hyphos::cosim {
namespace {

constexpr const char* kGood = R"(
duration_s: 1.5
method: {name: adaptive, window_ms: 20, latency_budget_ms: 8}
world: {boxes: [{low: [40, -15, 0], high: [50, 15, 5], loss_db: 30}]}
robots:
  a: {at: [0, 0, 1], antenna: {height_m: 0.5, gain_dbi: 2}}
  b: {at: [70, 0, 1], velocity: [3, 5, 0], antenna: {pattern: dipole}}
  c: {circle: {centre: [60, 10, 30], radius_m: 20, speed: 6}}
radio:
  kind: 802.11g
  rate: 24
  shadowing_db: 4
  channel: {path_loss: two_ray, diffraction: knife_edge, fading: rician, k_los_db: 6}
traffic: {rate_hz: 30, bytes: 200}
)";

std::string changed(std::string text, const std::string& part, const std::string& with) {
  const auto at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return at == std::string::npos ? text : text.replace(at, part.size(), with);
}

void expect_refused(const std::string& text, const std::string& message) {
  const auto scenario = parse_scenario(text, "cosim.yaml");
  ASSERT_FALSE(scenario.ok()) << message;
  EXPECT_EQ(scenario.error().code, Code::invalid_config);
  EXPECT_NE(scenario.error().to_string().find(message), std::string::npos)
      << scenario.error().to_string();
}

TEST(CosimRadioScenario, a_file_defines_radio_channel_and_antennas) {
  const auto scenario = parse_scenario(kGood, "cosim.yaml");
  ASSERT_TRUE(scenario.ok()) << scenario.error().to_string();
  const RadioOptions& radio = scenario->radio;
  EXPECT_EQ(radio.kind, "802.11g");
  EXPECT_EQ(radio.rate, "24");
  EXPECT_EQ(radio.channel.path_loss, "two_ray");
  EXPECT_TRUE(radio.channel.knife_edge);
  EXPECT_EQ(radio.channel.fading, "rician");
  EXPECT_EQ(radio.channel.k_los_db, 6);
  ASSERT_EQ(radio.antennas.size(), 3U);
  EXPECT_EQ(radio.antennas[0].height_m, 0.5);
  EXPECT_EQ(radio.antennas[0].gain_dbi, 2);
  EXPECT_EQ(radio.antennas[1].pattern, Pattern::dipole);
  EXPECT_EQ(radio.retry_limit, 7U);
  const auto zigbee = parse_scenario(
      changed(changed(kGood, "kind: 802.11g", "kind: 802.15.4"), "  rate: 24\n", ""), "cosim.yaml");
  ASSERT_TRUE(zigbee.ok()) << zigbee.error().to_string();
  EXPECT_EQ(zigbee->radio.retry_limit, 4U);
}

TEST(CosimRadioScenario, wrong_keys_have_line_and_remedy) {
  const auto radio = [](const std::string& with) { return changed(kGood, "  rate: 24\n", with); };
  const auto channel = [](const std::string& with) {
    return changed(kGood, "path_loss: two_ray", with);
  };
  expect_refused(changed(kGood, "kind: 802.11g", "kind: 802.11h"),
                 "cosim.yaml:10:9: radio.kind: expected one of 802.11g, 802.11n");
  expect_refused(radio("  rate: 25\n"), "cosim.yaml:11:9: radio.rate: the rates of 802.11g are: 6");
  expect_refused(radio("  rate_mbit: 24\n"), "radio.rate_mbit: only valid without `radio.kind`");
  expect_refused(radio("  noise_dbm: -90\n"), "channel.noise_figure_db");
  expect_refused(radio("  detection_dbm: -90\n"), "detects frames by their preamble");
  expect_refused(radio("  rate: 24\n  rate_control: minstrel\n"), "radio.rate: only valid with");
  expect_refused(
      radio("  path_loss_exponent: 3\n"),
      "radio.path_loss_exponent: only valid with `radio.channel.path_loss: log_distance");
  expect_refused(radio("  simulator: ideal\n"), "radio.kind: only valid with `radio.simulator");
  expect_refused(changed(radio("  simulator: ns3\n"), "802.11g", "lora"),
                 "radio.kind: the adapter for ns-3 has no lora: choose a radio of 802.11");
  const auto zigbee = [&](const std::string& with) {
    return changed(radio("  simulator: ns3\n" + with), "802.11g", "802.15.4");
  };
  expect_refused(zigbee("  rate_control: minstrel\n"), "radio.rate_control: 802.15.4 has one rate");
  expect_refused(zigbee("  transport: tcp\n"), "radio.transport: 802.15.4 has no tcp");
  expect_refused(zigbee("  jammers: {x: {at: [1, 2, 3]}}\n"),
                 "radio.jammers: ns-3 has jammers for");
  const auto cell = [&](const std::string& keys) {
    return changed(radio("  simulator: ns3\n  cells: {mast: {at: [0, 50, 25]}}\n" + keys),
                   "802.11g", "cell");
  };
  EXPECT_TRUE(parse_scenario(cell(""), "cosim.yaml").ok());
  expect_refused(cell("  transport: tcp\n"), "radio.transport: cell has no tcp");
  expect_refused(cell("  cell: {load: 0.3}\n"), "radio.cell.load: ns-3 simulates the traffic");
  expect_refused(cell("  cell: {interruption_ms: 9}\n"), "radio.cell.interruption_ms: ns-3");
  expect_refused(cell("  cell: {handover_db: 16}\n"), "radio.cell.handover_db: at most 15 in ns-3");
  std::string masts;
  for (int i = 0; i < 33; ++i) masts += "m" + std::to_string(i) + ": {at: [0, 50, 25]}, ";
  expect_refused(changed(cell(""), "mast: {at: [0, 50, 25]}", masts),
                 "radio.cells: 33 base stations: at most 32 in ns-3, or write");
  expect_refused(cell("  cell: {time_to_trigger_ms: 6000}\n"),
                 "radio.cell.time_to_trigger_ms: at most 5120 in ns-3");
  expect_refused(channel("models: hyphos"), "radio.channel.models: only valid with `radio.simul");
  expect_refused(radio("  rate_control: ideal\n"),
                 "radio.rate_control: expected one of fixed, min");
  expect_refused(channel("path_loss: two_rays"), "did you mean 'two_ray'?");
  expect_refused(channel("environment: urban"), "radio.channel.environment: only valid with");
  expect_refused(channel("path_loss: elevation, environment: rural"), "radio.channel.environment");
  expect_refused(channel("m_los: 2"), "radio.channel.m_los: only valid with `fading: nakagami`");
  expect_refused(channel("sight_distance_m: 9"), "radio.channel.sight_distance_m: only valid with");
  expect_refused(channel("noise_figure_db: -3"), "radio.channel.noise_figure_db");
  expect_refused(channel("colour: red"), "radio.channel.colour: unknown key");
  expect_refused(changed(kGood, "fading: rician, k_los_db: 6", "scatterer_speed: 1"),
                 "radio.channel.scatterer_speed: only valid with `fading`");
  expect_refused(
      changed(kGood, "  shadowing_db: 4\n  channel: {", "  channel: {shadowing_distance_m: 4, "),
      "radio.channel.shadowing_distance_m: only valid with `radio.shadowing_db`");
  expect_refused(changed(kGood, "pattern: dipole", "pattern: yagi"), "robots.b.antenna.pattern");
  expect_refused(changed(kGood, "height_m: 0.5", "height_m: -2"), "robots.a.antenna.height_m");
  expect_refused(changed(changed(kGood, "  kind: 802.11g\n", ""), "  rate: 24\n", ""),
                 "radio.channel: only valid with `radio.kind`: write for example");
}

/// The scenario with this radio.
std::string with_kind(const RadioKind& kind) {
  std::string text = changed(kGood, "kind: 802.11g", "kind: " + std::string(kind.name));
  if (kind.cellular) {
    return changed(text, "  rate: 24\n", "  cells: {mast: {at: [0, 50, 25]}}\n");
  }
  return changed(text, "  rate: 24\n", kind.acknowledges ? "  rate_control: minstrel\n" : "");
}

std::uint64_t trace_of(const Scenario& scenario, const RunOptions& options) {
  Trace trace = Trace::hash_only();
  const auto report = run_scenario(scenario, options, trace);
  EXPECT_TRUE(report.ok()) << report.error().to_string();
  EXPECT_TRUE(report->packets.balanced());
  return trace.hash();
}

TEST(CosimRadioScenario, every_radio_has_one_trace_in_all_ways_of_running) {
  for (const RadioKind* kind : known_radios()) {
    const std::string text = with_kind(*kind);
    std::uint64_t last = 0;
    for (int seed = 1; seed <= 10; ++seed) {
      const auto scenario = parse_scenario(text, "cosim.yaml", {"", std::to_string(seed)});
      ASSERT_TRUE(scenario.ok()) << scenario.error().to_string();
      const std::uint64_t hash = trace_of(*scenario, {});
      for (const bool process : {false, true}) {
        const RunOptions whole{.skip = false, .radio_process = process};
        EXPECT_EQ(trace_of(*scenario, whole), hash) << kind->name << seed << process;
      }
      EXPECT_EQ(trace_of(*scenario, {.radio_process = true}), hash) << kind->name << seed;
      EXPECT_NE(hash, last) << "another seed is another run";
      last = hash;
    }
  }
}

TEST(CosimRadioScenario, curves_cover_every_radio_and_name_unknown_robots) {
  for (const RadioKind* kind : known_radios()) {
    const Scenario scenario = parse_scenario(with_kind(*kind), "cosim.yaml").or_throw();
    const std::string from = kind->cellular ? "mast" : "c";
    const auto curves = radio_curves(scenario, {from, "a"});
    ASSERT_TRUE(curves.ok()) << curves.error().to_string();
    EXPECT_NE(curves->find("\"from\": \"" + from + "\""), std::string::npos);
    EXPECT_NE(curves->find("\"" + std::string(kind->rates.back().name) + "\""), std::string::npos);
    EXPECT_NE(radio_list().find(kind->source), std::string::npos);
  }
  const Scenario scenario = parse_scenario(kGood, "cosim.yaml").or_throw();
  const auto unknown = radio_curves(scenario, {"d", ""});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().message, "no robot 'd': the robots are a, b, c");
  const auto ideal = parse_scenario(
      "robots: {a: {at: [0, 0, 0]}, b: {at: [1, 0, 0]}}\nradio: {simulator: ideal}\n", "i.yaml");
  ASSERT_TRUE(ideal.ok()) << ideal.error().to_string();
  EXPECT_FALSE(radio_curves(*ideal, {}).ok());
}

}  // namespace
}  // namespace hyphos::cosim
