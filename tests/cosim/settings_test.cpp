#include "cosim/scenario/settings.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "cosim/scenario/check.hpp"
#include "cosim/scenario/scenario.hpp"

namespace hyphos::cosim {
namespace {

constexpr const char* kScenario = R"(
duration_s: 2
method: {name: adaptive, window_ms: 50}
world: {boxes: [{low: [10, -5, 0], high: [11, 5, 3], loss_db: 12}]}
robots:
  a: {at: [0, 0, 1], velocity: [1, 0, 0]}
  b: {circle: {centre: [20, 0, 1], radius_m: 5, speed: 2}}
  c: {waypoints: [[0, 2.5, 1], [30, 2.5, 1]], speed: 3, loop: true}
radio: {tx_power_dbm: 16}
traffic: {flows: {imu: {kind: accelerometer, from: a, to: c}}}
)";

Result<Scenario> with(std::initializer_list<const char*> settings,
                      std::string_view text = kScenario) {
  Overrides overrides;
  for (const char* setting : settings) overrides.settings.push_back({"--set", setting});
  return parse_scenario(text, "cosim.yaml", overrides);
}

std::string error_of(std::initializer_list<const char*> settings) {
  const auto made = with(settings);
  return made ? "" : made.error().to_string();
}

Vec3 start_of(const Scenario& scenario, std::size_t robot) {
  return std::get<ConstantVelocity>(scenario.paths[robot]).start;
}

TEST(CosimSettings, a_setting_replaces_adds_and_reaches_into_lists) {
  const auto scenario =
      with({"radio.tx_power_dbm=20", "radio.rate_mbit=12", "world.boxes[0].loss_db=30",
            "robots.a.velocity=[0, 2, 0]", "traffic.flows.imu.rate_hz=50", "method.name=lockstep",
            "physics.rate_hz=500", "robots.c.waypoints[1]=[40, 2.5, 1]", "duration_s=3"});
  ASSERT_TRUE(scenario.ok()) << scenario.error().to_string();
  EXPECT_EQ(scenario->radio.tx_power_dbm, 20);
  EXPECT_EQ(scenario->radio.rate_mbit, 12);
  EXPECT_EQ(scenario->scene.boxes()[0].loss_db, 30);
  EXPECT_EQ(std::get<ConstantVelocity>(scenario->paths[0]).velocity, (Vec3{0, 2, 0}));
  EXPECT_EQ(scenario->flows.flows[0].rate_hz, 50);
  EXPECT_EQ(scenario->method, "lockstep");
  EXPECT_EQ(scenario->step.longest(), Duration::from_ms(2));
  EXPECT_EQ(std::get<Waypoints>(scenario->paths[2]).points[1], (Vec3{40, 2.5, 1}));
  EXPECT_EQ(scenario->duration, Duration::from_ms(3000));
}

TEST(CosimSettings, the_last_of_two_settings_of_a_key_counts) {
  EXPECT_EQ(with({"radio.tx_power_dbm=1", "radio.tx_power_dbm=2"}).value().radio.tx_power_dbm, 2);
}

TEST(CosimSettings, mistakes_name_the_option_the_key_and_the_remedy) {
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(error_of({"radio.power_dbm=10"}), "--set: radio.power_dbm: unknown key");
  has(error_of({"radio.tx_power_db=10"}), "did you mean 'tx_power_dbm'?");
  has(error_of({"radio.tx_power_dbm=loud"}), "--set: radio.tx_power_dbm: expected a number");
  has(error_of({"robots.d.velocity=[1, 0, 0]"}), "robots.d: there is no 'd'");
  has(error_of({"traffic.flows.im.rate_hz=1"}), "did you mean 'imu'?");
  has(error_of({"world.boxes[1].loss_db=3"}), "world.boxes[1]: the list has 1 items");
  has(error_of({"world.boxes.loss_db=3"}), "world.boxes[0].loss_db");
  has(error_of({"duration_s.x=3"}), "duration_s: has no key 'x'");
  has(error_of({"radio.tx_power_dbm"}), "expected KEY=VALUE");
  has(error_of({"=3"}), "expected KEY=VALUE");
  has(error_of({"radio..x=3"}), "expected KEY=VALUE");
  has(error_of({"radio[=3"}), "expected KEY=VALUE");
  has(error_of({"radio.tx_power_dbm=[1"}), "radio.tx_power_dbm: the value is not YAML");
  has(error_of({"radio={a: 1, a: 2}"}), "the value is not YAML");
  has(error_of({"robots=1"}), "expected the number of robots from 2 to 10000");
  has(error_of({"robots=many"}), "expected the number of robots");
  has(error_of({"robots=1000000000000000000000"}), "expected the number of robots");
  has(error_of({"robots=2"}), "traffic.flows.imu.to");
  has(error_of({"copies.apart_m=[0, 0, 0]"}), "copies.apart_m: expected three numbers");
  has(error_of({"copies.apart=[0, 1, 0]"}), "copies.apart: unknown key");
}

TEST(CosimSettings, a_smaller_team_has_the_first_robots) {
  const auto scenario = with({"robots=2", "traffic.flows.imu.to=b"});
  ASSERT_TRUE(scenario.ok()) << scenario.error().to_string();
  EXPECT_EQ(scenario->robots, (std::vector<std::string>{"a", "b"}));
}

TEST(CosimSettings, a_larger_team_has_copies_beside_the_team) {
  const auto scenario = with({"robots=8"});
  ASSERT_TRUE(scenario.ok()) << scenario.error().to_string();
  EXPECT_EQ(scenario->robots,
            (std::vector<std::string>{"a", "b", "c", "a_2", "b_2", "c_2", "a_3", "b_3"}));
  // The team is 10 m wide along y, from -5 to 5, because of the circle.
  EXPECT_EQ(start_of(*scenario, 3), (Vec3{0, 15, 1}));
  EXPECT_EQ(start_of(*scenario, 6), (Vec3{0, 30, 1}));
  EXPECT_EQ(std::get<Circle>(scenario->paths[4]).centre, (Vec3{20, 15, 1}));
  EXPECT_EQ(std::get<Circle>(scenario->paths[4]).radius, 5);
  EXPECT_EQ(std::get<Waypoints>(scenario->paths[5]).points[1], (Vec3{30, 17.5, 1}));
  EXPECT_EQ(std::get<ConstantVelocity>(scenario->paths[3]).velocity, (Vec3{1, 0, 0}));
}

TEST(CosimSettings, the_file_and_settings_place_copies) {
  const auto scenario = with({"copies.apart_m=[0, 0, 3]", "robots=4", "robots.a.at=[7, 0, 1]"});
  ASSERT_TRUE(scenario.ok()) << scenario.error().to_string();
  EXPECT_EQ(start_of(*scenario, 3), (Vec3{7, 0, 4})) << "the size of the team is applied last";
}

TEST(CosimSettings, a_copy_does_not_take_the_name_of_a_robot) {
  const auto scenario = with({"robots.a_2={at: [1, 1, 1]}", "robots=5"});
  ASSERT_TRUE(scenario.ok()) << scenario.error().to_string();
  EXPECT_EQ(scenario->robots[4], "a_3");
}

TEST(CosimSettings, the_same_scenario_in_the_file_gives_the_same_run) {
  std::string text = kScenario;
  const std::string part = "tx_power_dbm: 16";
  text.replace(text.find(part), part.size(), "tx_power_dbm: 5");
  const auto run = [](const Scenario& scenario) {
    Trace trace;
    EXPECT_TRUE(run_scenario(scenario, {}, trace).ok());
    return std::string(trace.text());
  };
  EXPECT_EQ(run(with({"radio.tx_power_dbm=5"}).or_throw()),
            run(parse_scenario(text, "cosim.yaml").or_throw()));
}

TEST(CosimSettings, runs_are_checked_together_and_every_mistake_is_named_once) {
  const std::string path = testing::TempDir() + "check_runs.yaml";
  std::ofstream(path) << kScenario;
  const auto good = check_runs(path, {}, "--vary", "robots=3\tduration_s=1\nrobots=9\n");
  ASSERT_TRUE(good.ok()) << good.error().to_string();
  EXPECT_EQ(*good, 2U);
  const auto bad = check_runs(path, {}, "--vary",
                              "duration_s=0\tseed=1\nduration_s=0\tseed=2\nradio.x=1\tseed=1\n");
  ASSERT_FALSE(bad.ok());
  const std::string text = bad.error().to_string();
  EXPECT_EQ(text.find("duration_s: expected"), text.rfind("duration_s: expected")) << text;
  EXPECT_NE(text.find("--vary: radio.x: unknown key"), std::string::npos) << text;
}

TEST(CosimSettings, keys_of_algorithm_1_are_read_and_checked) {
  const auto scenario =
      with({"method.loss_threshold_percent=25", "method.most_changes=3", "method.publisher=a",
            "method.subscriber=c", "method.name=algorithm_1_ms"});
  ASSERT_TRUE(scenario.ok()) << scenario.error().to_string();
  EXPECT_EQ(scenario->loss_threshold, 0.25);
  EXPECT_EQ(scenario->most_changes, 3);
  EXPECT_EQ(scenario->publisher, 0U);
  EXPECT_EQ(scenario->subscriber, 2U);
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(error_of({"method.publisher=x"}), "method.publisher");
  has(error_of({"method.publisher=a", "method.subscriber=a"}), "must not be the publisher");
  has(error_of({"method.loss_threshold_percent=101"}), "method.loss_threshold_percent");
  has(error_of({"method.most_changes=0"}), "method.most_changes");
}

}  // namespace
}  // namespace hyphos::cosim
