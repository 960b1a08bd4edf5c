#include <gtest/gtest.h>

#include <string>

#include "hyphos/plan.hpp"

namespace hyphos {
namespace {

Plan plan_of(const std::string& section, const PlanOptions& options = {}) {
  return parse_plan("hyphos: 1\n" + section, "r.yaml", options).or_throw();
}
std::string error_of(const std::string& section) {
  const Result<Plan> plan = parse_plan("hyphos: 1\n" + section, "r.yaml");
  return plan ? "" : plan.error().message;
}

TEST(PlanClock, the_clock_is_real_by_default) {
  const Plan plan = plan_of("channels: {a: {}}");
  EXPECT_EQ(plan.clock.mode, ClockMode::real);
  EXPECT_EQ(plan.channel("clock"), nullptr);
  EXPECT_EQ(plan_of("clock: real").clock.mode, ClockMode::real);
}

TEST(PlanClock, sim_adds_its_channels) {
  const Plan plan = plan_of("clock: sim\nchannels: {a: {}}");
  EXPECT_EQ(plan.clock.mode, ClockMode::sim);
  EXPECT_EQ(plan.clock.channel, "clock");
  EXPECT_EQ(plan.clock.speed, 1);
  ASSERT_NE(plan.channel("clock"), nullptr);
  EXPECT_EQ(plan.channel("clock")->type, "hyphos.msgs.Clock");
  EXPECT_TRUE(plan.channel("clock")->policy.latched);
  ASSERT_NE(plan.channel("clock/control"), nullptr);
  EXPECT_EQ(plan.channel("clock/control")->reach, Reach::machine);
}

TEST(PlanClock, simulated_time_reaches_other_hosts) {
  const Plan plan = plan_of(
      "clock: {mode: sim, speed: 0.5}\n"
      "hosts: {x: {address: 10.0.0.1}, y: {address: 10.0.0.2}}\n"
      "processes: {a: {host: x}, b: {host: y}}\n");
  EXPECT_EQ(plan.clock.speed, 0.5);
  const Connections there = connections(plan, "b").or_throw();
  ASSERT_NE(there.channel("clock"), nullptr);
  EXPECT_TRUE(there.channel("clock")->uses("zmq"));
  EXPECT_FALSE(there.channel("clock/control")->uses("zmq"));
}

TEST(PlanClock, a_declared_channel_is_used_and_made_latched) {
  const Plan plan = plan_of("clock: {mode: sim, channel: t}\nchannels: {t: {depth: 3}}");
  EXPECT_EQ(plan.channel("t")->policy.depth, 3U);
  EXPECT_TRUE(plan.channel("t")->policy.latched);
  EXPECT_EQ(plan.channel("t")->type, "hyphos.msgs.Clock");
}

TEST(PlanClock, the_clock_can_be_set_on_the_command_line) {
  EXPECT_EQ(plan_of("robot: x", {{"clock=sim"}, false}).clock.mode, ClockMode::sim);
}

TEST(PlanClock, mistakes_are_named) {
  EXPECT_EQ(error_of("clock: simm"),
            "clock.mode: expected one of real, sim, found 'simm' (did you mean 'sim'?)");
  EXPECT_EQ(
      error_of("clock: {mode: sim, speed: -2}"),
      "clock.speed: expected a number above 0, at most 1000 (seconds of simulated time in one "
      "real second), found '-2'");
  EXPECT_EQ(error_of("clock: {mode: sim, speed: '2'}").substr(0, 30),
            "clock.speed: expected a number");
  EXPECT_EQ(error_of("clock: {speed: 2}"),
            "clock.speed: has no effect with mode real. Remove it, or write mode: sim");
  EXPECT_EQ(error_of("clock: {mode: sim, chanel: t}"),
            "clock.chanel: unknown key (did you mean 'channel'?)");
  EXPECT_EQ(error_of("clock: [sim]"),
            "clock: expected a map with keys mode, channel, speed, found a list");
  EXPECT_NE(error_of("clock: {mode: sim, channel: 'a b'}").find("clock.channel: 'a b': "),
            std::string::npos);
  EXPECT_EQ(error_of("clock: sim\nchannels: {clock: {type: hyphos.msgs.String}}"),
            "clock: channel 'clock' has type 'hyphos.msgs.String' at r.yaml:3:12, but simulated "
            "time is hyphos.msgs.Clock. Give the clock another channel");
  const Result<Plan> plan = parse_plan("hyphos: 1\nrobot: x\nclock: fast", "r.yaml");
  EXPECT_NE(plan.error().to_string().find("r.yaml:3:8"), std::string::npos);
}

TEST(PlanClock, the_clock_is_printed) {
  const Plan plan = plan_of("clock: {mode: sim, speed: 2.5}");
  EXPECT_NE(to_text(plan).find("CLOCK simulated, from channel clock, speed 2.5"),
            std::string::npos);
  EXPECT_NE(to_json(plan).find("\"clock\""), std::string::npos);
  EXPECT_EQ(to_text(plan_of("robot: x")).find("CLOCK"), std::string::npos);
}

}  // namespace
}  // namespace hyphos
