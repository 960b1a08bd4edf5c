#include "cosim/scenario/scenario.hpp"

#include <gtest/gtest.h>

#include <tuple>

namespace hyphos::cosim {
namespace {

constexpr const char* kGood = R"(
duration_s: 2
seed: 7
physics: {rate_hz: 600}
method: {name: lockstep, window_ms: 5}
world: {boxes: [{low: [10, -5, 0], high: [11, 5, 3], loss_db: 12}]}
robots:
  a: {at: [0, 0, 1], velocity: [1, 0, 0]}
  b: {circle: {centre: [20, 0, 1], radius_m: 5, speed: 2}}
  c: {waypoints: [[0, 0, 1], [30, 0, 1]], speed: 3, loop: true}
radio: {rate_mbit: 12, shadowing_db: 2, host_jitter_us: 50}
traffic: {rate_hz: 20, bytes: 300, to: one}
)";

std::string changed(std::string text, const std::string& part, const std::string& with) {
  const auto at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return at == std::string::npos ? text : text.replace(at, part.size(), with);
}

TEST(CosimScenario, a_file_defines_a_whole_run) {
  const auto scenario = parse_scenario(kGood, "cosim.yaml");
  ASSERT_TRUE(scenario.ok()) << scenario.error().to_string();
  EXPECT_EQ(scenario->robots, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(scenario->step.denominator(), 3);
  EXPECT_EQ(scenario->window, Duration::from_ms(5));
  EXPECT_EQ(scenario->method, "lockstep");
  EXPECT_EQ(scenario->seed, 7U);
  EXPECT_EQ(scenario->scene.boxes().size(), 1U);
  EXPECT_EQ(scenario->scene.boxes()[0].loss_db, 12);
  EXPECT_EQ(std::get<Circle>(scenario->paths[1]).angular_speed, 0.4);
  EXPECT_EQ(std::get<Waypoints>(scenario->paths[2]).speed, 3);
  EXPECT_EQ(scenario->radio.rate_mbit, 12);
  EXPECT_EQ(scenario->radio.host_jitter, Duration::from_us(50));
  EXPECT_FALSE(scenario->traffic.everyone);
  EXPECT_EQ(scenario->traffic.bytes, 300U);
}

TEST(CosimScenario, one_process_and_two_give_the_same_run) {
  const Scenario scenario = parse_scenario(kGood, "cosim.yaml").or_throw();
  Trace one;
  const auto report = run_scenario(scenario, {}, one);
  ASSERT_TRUE(report.ok()) << report.error().to_string();
  EXPECT_GT(report->packets.delivered, 50U);
  EXPECT_TRUE(report->packets.balanced());
  Trace two;
  ASSERT_TRUE(run_scenario(scenario, {.skip = false, .radio_process = true}, two).ok());
  EXPECT_EQ(one.text(), two.text());
}

TEST(CosimScenario, the_ideal_network_delivers_every_packet_after_the_same_delay) {
  const auto text = changed(kGood, "radio: {", "radio: {simulator: ideal, delay_ms: 2.5, ");
  const auto scenario = parse_scenario(text, "cosim.yaml");
  ASSERT_TRUE(scenario.ok()) << scenario.error().to_string();
  EXPECT_EQ(to_string(scenario->network), "ideal");
  EXPECT_EQ(scenario->delay, Duration::from_us(2500));
  std::uint64_t delivered = 0;
  RunOptions options;
  options.observe = [&](const Outcome& outcome, const Packet& packet) {
    EXPECT_EQ(outcome.reason, DropReason::none);
    EXPECT_EQ(outcome.time - packet.stamp, Duration::from_us(2500));
    ++delivered;
  };
  Trace trace;
  const auto report = run_scenario(*scenario, options, trace);
  ASSERT_TRUE(report.ok()) << report.error().to_string();
  EXPECT_GT(delivered, 50U);
  EXPECT_EQ(report->packets.delivered, delivered);
  EXPECT_EQ(report->packets.sent, delivered + report->packets.in_flight);
  Trace two;
  ASSERT_TRUE(run_scenario(*scenario, {.radio_process = true}, two).ok());
  EXPECT_EQ(trace.text(), two.text());
}

TEST(CosimScenario, a_missing_simulator_library_gives_an_error_with_the_remedy) {
  for (const auto& [from, to, path] :
       {std::tuple{"radio: {", "radio: {simulator: ns3, ", "/nowhere/hyphos-cosim-ns3.so"},
        std::tuple{"physics: {", "physics: {simulator: mujoco, ",
                   "/nowhere/hyphos-cosim-mujoco.so"}}) {
    Trace trace;
    const auto scenario =
        parse_scenario(changed(changed(kGood, ", velocity: [1, 0, 0]", ""), from, to), "x.yaml");
    ASSERT_TRUE(scenario.ok()) << scenario.error().to_string();
    const auto report = run_scenario(*scenario, {.programs = "/nowhere"}, trace);
    ASSERT_FALSE(report.ok());
    EXPECT_EQ(report.error().code, Code::not_found);
    EXPECT_EQ(report.error().where, path);
    EXPECT_NE(report.error().message.find("scripts/setup core cosim"), std::string::npos);
  }
}

TEST(CosimScenario, method_and_seed_can_be_overridden) {
  const auto scenario = parse_scenario(kGood, "cosim.yaml", {"adaptive", "12"});
  ASSERT_TRUE(scenario.ok());
  EXPECT_EQ(scenario->method, "adaptive");
  EXPECT_EQ(scenario->seed, 12U);
  EXPECT_FALSE(parse_scenario(kGood, "cosim.yaml", {"", "-3"}).ok());
  const auto method = parse_scenario(kGood, "cosim.yaml", {"magic", ""});
  ASSERT_FALSE(method.ok());
  EXPECT_NE(method.error().message.find("The methods are: lockstep"), std::string::npos);
}

/// The scenario with one line changed must be refused with this text.
void expect_refused(const std::string& line, const std::string& with, const std::string& text) {
  const auto scenario = parse_scenario(changed(kGood, line, with), "cosim.yaml");
  ASSERT_FALSE(scenario.ok()) << with;
  EXPECT_EQ(scenario.error().code, Code::invalid_config);
  EXPECT_NE(scenario.error().to_string().find(text), std::string::npos)
      << scenario.error().to_string();
}

TEST(CosimScenario, errors_have_line_and_key) {
  expect_refused("seed: 7", "sead: 7", "cosim.yaml:3:1: sead: unknown key (did you mean 'seed'?)");
  expect_refused("name: lockstep", "name: lockstp", "did you mean 'lockstep'?");
  expect_refused("window_ms: 5", "window_ms: 4", "cosim.yaml:5");
  expect_refused("window_ms: 5", "window_ms: 4", "is not a whole number of steps");
  expect_refused("rate_mbit: 12", "rate_mbit: 13", "radio.rate_mbit");
  expect_refused("at: [0, 0, 1]", "at: [0, 0]", "robots.a.at: expected three numbers");
  expect_refused("at: [0, 0, 1], ", "", "robots.a: needs one of");
  expect_refused("radius_m: 5", "radius_m: -5", "robots.b.circle.radius_m");
  expect_refused("high: [11, 5, 3]", "high: [9, 5, 3]", "world.boxes[0].high");
  expect_refused("low: [10, -5, 0], ", "", "world.boxes[0].low");
  expect_refused("physics: {", "physics: {simulator: mujoco, ",
                 "robots.a.velocity: only valid with");
  expect_refused("radio: {", "radio: {transport: tcp, ", "radio.transport: only valid with");
  expect_refused("radio: {", "radio: {delay_ms: 1, ", "radio.delay_ms: only valid with");
  expect_refused("radio: {", "radio: {simulator: ideal, delay_ms: -1, ", "radio.delay_ms");
  expect_refused("b: {", "b: {kind: boat, ", "robots.b.kind");
}

}  // namespace
}  // namespace hyphos::cosim
