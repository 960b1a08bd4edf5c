#include <gtest/gtest.h>

#include <map>

#include "cosim/scenario/scenario.hpp"

namespace hyphos::cosim {
namespace {

// A chain: each robot reaches its neighbours only. `d` is reached over `b` and `c`, or over `e`
// and `c`.
constexpr const char* kChain = R"(
duration_s: 12
seed: 7
physics: {rate_hz: 500}
robots:
  a: {at: [0, 0, 1]}
  b: {at: [100, 40, 1], off_s: [6]}
  c: {at: [200, 0, 1]}
  d: {at: [300, 0, 1], velocity: [0, 1, 0]}
  e: {at: [100, -40, 1]}
radio: {rate_mbit: 6}
routing: {protocol: aodv}
traffic:
  flows:
    there: {from: a, to: d, rate_hz: 20, bytes: 200, start_s: 1}
    rtt: {kind: ping, from: d, to: a, rate_hz: 5, bytes: 64, start_s: 1.5}
    beacon: {from: c, to: everyone, rate_hz: 2, bytes: 60}
)";

std::string changed(std::string text, const std::string& part, const std::string& with) {
  const auto at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return at == std::string::npos ? text : text.replace(at, part.size(), with);
}

std::string with_routing(const std::string& routing) {
  return changed(kChain, "routing: {protocol: aodv}", routing);
}

void expect_refused(const std::string& text, const std::string& part) {
  const auto scenario = parse_scenario(text, "cosim.yaml");
  ASSERT_FALSE(scenario.ok()) << part;
  EXPECT_NE(scenario.error().to_string().find(part), std::string::npos)
      << scenario.error().to_string();
  EXPECT_NE(scenario.error().to_string().find("cosim.yaml:"), std::string::npos);
}

struct Ran {
  Report report;
  RoutingReport routing;
  std::uint64_t hash = 0;
  std::string text;
};

Ran run(const std::string& text, RunOptions options = {}, const std::string& seed = "") {
  const auto scenario = parse_scenario(text, "cosim.yaml", {"", seed});
  EXPECT_TRUE(scenario.ok()) << scenario.error().to_string();
  Ran ran;
  Trace trace;
  options.routing = &ran.routing;
  auto report = run_scenario(*scenario, options, trace);
  EXPECT_TRUE(report.ok()) << report.error().to_string();
  ran.report = std::move(*report);
  EXPECT_TRUE(ran.report.packets.balanced());
  ran.hash = trace.hash();
  ran.text = to_text(*scenario, ran.routing);
  return ran;
}

TEST(CosimRouting, a_flow_finds_its_way_over_several_robots_and_around_a_failed_one) {
  const Ran ran = run(kChain);
  ASSERT_EQ(ran.routing.robots.size(), 5U);
  EXPECT_GT(ran.routing.robots[2].relayed, 200U);  // c relays everything
  EXPECT_GT(ran.routing.robots[1].relayed + ran.routing.robots[4].relayed, 200U);
  ASSERT_EQ(ran.routing.healings.size(), 2U);
  for (const Healing& healing : ran.routing.healings) {
    EXPECT_EQ(healing.robot, 1U);
    EXPECT_EQ(healing.at.ns, 6'000'000'000);
    EXPECT_LT(healing.after, Duration::from_ms(6000));
    EXPECT_LT(healing.lost, 40U);
  }
  EXPECT_NE(ran.text.find("searches found a route"), std::string::npos) << ran.text;
  EXPECT_NE(ran.text.find("when b went off: flow there arrives again after"), std::string::npos)
      << ran.text;
}

TEST(CosimRouting, without_routing_robots_out_of_range_stay_apart) {
  const Ran ran = run(changed(kChain, "routing: {protocol: aodv}\n", ""));
  EXPECT_TRUE(ran.routing.robots.empty());
  ASSERT_EQ(ran.routing.healings.size(), 2U);
  for (const Healing& healing : ran.routing.healings) EXPECT_EQ(healing.after.ns, kNever.ns);
  EXPECT_NE(ran.text.find("never arrives again"), std::string::npos) << ran.text;
}

TEST(CosimRouting, fixed_routes_relay_and_do_not_heal) {
  const std::string table = with_routing(
      "routing: {protocol: table, routes: {a: {default: b}, b: {d: c}, c: {a: b}, d: {default: "
      "c}}}");
  const Ran ran = run(table);
  EXPECT_GT(ran.routing.robots[1].relayed, 100U);
  EXPECT_GT(ran.routing.robots[2].relayed, 100U);
  ASSERT_EQ(ran.routing.healings.size(), 2U);
  for (const Healing& healing : ran.routing.healings) EXPECT_EQ(healing.after.ns, kNever.ns);
  const Ran healthy = run(changed(table, ", off_s: [6]", ""));
  EXPECT_GT(healthy.routing.robots[1].relayed, 250U);
  EXPECT_TRUE(healthy.routing.healings.empty());
}

TEST(CosimRouting, a_run_has_one_trace_in_all_ways_of_running) {
  for (const std::string& text :
       {std::string(kChain), with_routing("routing: {protocol: aodv, hello_s: 0.5}"),
        with_routing("routing: {protocol: table, routes: {a: {d: b}, b: {d: c}}}"),
        changed(kChain, "{rate_mbit: 6}", "{kind: 802.11g, rate_control: minstrel}"),
        changed(kChain, "{rate_mbit: 6}", "{kind: lora}"),
        changed(kChain, "{rate_mbit: 6}", "{simulator: ideal, delay_ms: 2}")}) {
    std::uint64_t last = 0;
    for (int seed = 1; seed <= 10; ++seed) {
      const std::string number = std::to_string(seed);
      const std::uint64_t hash = run(text, {}, number).hash;
      EXPECT_EQ(run(text, {.skip = false}, number).hash, hash) << text << seed;
      if (seed <= 2) {
        EXPECT_EQ(run(text, {.radio_process = true}, number).hash, hash) << text << seed;
      }
      EXPECT_NE(hash, last);
      last = hash;
    }
  }
}

TEST(CosimRouting, packets_of_a_robot_that_is_off_are_counted) {
  for (const char* radio : {"{rate_mbit: 6}", "{kind: 802.11g}", "{simulator: ideal}"}) {
    const std::string text = changed(
        changed(changed(kChain, "{rate_mbit: 6}", radio), "routing: {protocol: aodv}\n", ""),
        "there: {from: a, to: d", "there: {from: a, to: b");
    const Ran ran = run(text);
    const auto off = ran.report.packets.dropped[static_cast<std::size_t>(DropReason::node_off)];
    EXPECT_GE(off, 110U) << radio;  // 20 messages a second for 6 s
  }
  // The neighbours receive a robot again after its outage.
  const std::string text =
      changed(changed(changed(kChain, "off_s: [6]", "off_s: [0, 2, 6, 6.5, 7, 8]"),
                      "routing: {protocol: aodv}\n", ""),
              "there: {from: a, to: d", "there: {from: a, to: b");
  const auto packets = run(text).report.packets;
  EXPECT_NEAR(static_cast<double>(packets.dropped[static_cast<std::size_t>(DropReason::node_off)]),
              50, 8);  // 20 messages a second for 2.5 s
  EXPECT_GE(packets.delivered, 165U);
}

TEST(CosimRouting, a_radio_is_off_in_half_open_intervals) {
  const OffTimes times{{10}, {20}, {30}};
  const std::map<std::int64_t, bool> expected{{0, false},  {9, false},  {10, true}, {19, true},
                                              {20, false}, {29, false}, {30, true}, {1000, true}};
  for (const auto& [at, off] : expected) EXPECT_EQ(is_off(times, {at}), off) << at;
  EXPECT_FALSE(is_off({}, {5}));
}

TEST(CosimRouting, mistakes_have_their_line_and_a_remedy) {
  expect_refused(with_routing("routing: {}"), "routing.protocol: is missing");
  expect_refused(with_routing("routing: {protocol: olsr}"), "routing.protocol");
  expect_refused(with_routing("routing: {protocol: aodv, colour: red}"), "routing.colour");
  expect_refused(with_routing("routing: {protocol: aodv, routes: {a: {d: b}}}"),
                 "routing.routes: only valid with `protocol: table`");
  expect_refused(with_routing("routing: {protocol: table}"), "routing.routes: expected a map");
  expect_refused(with_routing("routing: {protocol: table, hello_s: 1, routes: {a: {d: b}}}"),
                 "routing.hello_s: only valid with");
  expect_refused(with_routing("routing: {protocol: table, routes: {x: {d: b}}}"),
                 "unknown robot 'x'");
  expect_refused(with_routing("routing: {protocol: table, routes: {a: {d: x}}}"),
                 "unknown robot 'x'");
  expect_refused(with_routing("routing: {protocol: table, routes: {a: {d: a}}}"),
                 "the next robot is the robot itself");
  expect_refused(with_routing("routing: {protocol: table, routes: {a: {a: b}}}"),
                 "needs no route to itself");
  expect_refused(with_routing("routing: {protocol: table, routes: {a: b}}"), "expected a map from");
  expect_refused(
      with_routing("routing: {protocol: table, routes: {a: {d: b}, b: {d: e}, e: {d: a}}}"),
      "the packets to d go in a circle: a → b → e → a");
  expect_refused(with_routing("routing: {protocol: aodv, hello_s: -1}"), "routing.hello_s");
  expect_refused(changed(kChain, "  flows:", "  via: c\n  flows:"), "not valid with `traffic.via`");
  expect_refused(with_routing("routing: {protocol: babel}\nrealtime: {subnet6: none}"),
                 "babel needs IPv6");
  for (const char* wrong : {"[6, 6]", "[-1]", "[6, 5]", "soon", "[.inf]"}) {
    expect_refused(changed(kChain, "off_s: [6]", std::string("off_s: ") + wrong),
                   "robots.b.off_s: expected times in seconds that increase");
  }
}

TEST(CosimRouting, a_daemon_of_real_time_is_refused_in_lock_step) {
  const Scenario scenario =
      parse_scenario(with_routing("routing: {protocol: babel}"), "cosim.yaml").or_throw();
  Trace trace;
  const auto ran = run_scenario(scenario, {}, trace);
  ASSERT_FALSE(ran.ok());
  EXPECT_NE(ran.error().to_string().find("use aodv or table"), std::string::npos);
}

TEST(CosimRouting, a_radio_without_acknowledgements_needs_hello_messages) {
  const std::string lora = changed(kChain, "{rate_mbit: 6}", "{kind: lora}");
  EXPECT_EQ(parse_scenario(lora, "cosim.yaml").or_throw().routing.hello, Duration::from_ms(1000));
  expect_refused(changed(lora, "protocol: aodv", "protocol: aodv, hello_s: 0"), "routing.hello_s");
}

}  // namespace
}  // namespace hyphos::cosim
