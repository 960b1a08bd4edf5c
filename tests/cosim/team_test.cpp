// Robots of a scenario whose nodes run in separate processes.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cosim/scenario/scenario.hpp"

namespace hyphos::cosim {
namespace {

namespace fs = std::filesystem;

/// A scenario of two robots that publish a counter, in a temporary folder.
class TeamFiles {
 public:
  TeamFiles() : folder_(fs::temp_directory_path() / ("cosim-team-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
    write("robot.yaml",
          "hyphos: 1\nprocesses: {one: {nodes: [sample]}}\nnodes:\n  sample: {plugin: " +
              std::string(COSIM_SAMPLE_NODE) + "}\n");
  }
  TeamFiles(const TeamFiles&) = delete;
  TeamFiles& operator=(const TeamFiles&) = delete;
  ~TeamFiles() { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  /// `a`: additional keys of the first robot. `rest`: additional sections.
  [[nodiscard]] Result<Scenario> scenario(const std::string& a = "",
                                          const std::string& rest = "") const {
    const std::string text =
        "duration_s: 1\nmethod: {name: lockstep}\nrobots:\n"
        "  anna: {at: [0, 0, 1], plan: robot.yaml" +
        a +
        "}\n"
        "  bert: {at: [10, 0, 1], plan: robot.yaml}\n" +
        rest;
    return parse_scenario(text, (folder_ / "cosim.yaml").string());
  }

 private:
  fs::path folder_;
};

constexpr const char* kChannels = "channels: {count: {}}\n";

RunOptions options() {
  RunOptions options;
  options.programs = COSIM_PROGRAMS;
  return options;
}

Result<Report> run(const Result<Scenario>& scenario, Trace& trace, RunOptions how = options()) {
  if (!scenario) return scenario.error();
  return run_scenario(*scenario, how, trace);
}

/// Every process that a test started has ended and was reaped.
void expect_no_child() {
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(CosimTeam, robots_in_separate_processes_give_identical_runs) {
  const TeamFiles files;
  std::string first;
  for (int i = 0; i < 4; ++i) {
    RunOptions how = options();
    how.skip = i % 2 == 0;
    how.radio_process = i > 1;
    Trace trace;
    const auto report = run(files.scenario("", kChannels), trace, how);
    ASSERT_TRUE(report.ok()) << report.error().to_string();
    EXPECT_EQ(report->packets.packets, 98U);  // 49 timers of 20 ms before 1 s, on each
    EXPECT_TRUE(report->packets.balanced());
    EXPECT_TRUE(report->lost.empty());
    if (i == 0) first = trace.text();
    EXPECT_EQ(trace.text(), first) << "run " << i;
  }
  expect_no_child();
}

/// The error of a run in which robot anna performs an action at its fifth count, at 100 ms.
Error ends_with(const std::string& then, const std::string& rest = "") {
  const TeamFiles files;
  Trace trace;
  const auto report = run(
      files.scenario(", set: ['nodes.sample.params.then=" + then + "']", kChannels + rest), trace);
  EXPECT_FALSE(report.ok());
  expect_no_child();
  return report.ok() ? Error{} : report.error();
}

TEST(CosimTeam, a_throwing_node_gives_an_error_with_its_robot) {
  const Error error = ends_with("throw");
  EXPECT_EQ(error.message,
            "robot 'anna': node 'sample': a timer's callback threw: five is too many");
  EXPECT_EQ(error.where, "at 100000000 ns");
}

TEST(CosimTeam, a_killed_robot_process_gives_an_error_with_its_name) {
  const Error error = ends_with("die");
  EXPECT_EQ(error.code, Code::disconnected);
  EXPECT_NE(error.message.find("robot 'anna' (process "), std::string::npos);
  EXPECT_NE(error.message.find("was killed by signal 9"), std::string::npos);
  EXPECT_EQ(error.where, "at 100000000 ns");
}

TEST(CosimTeam, a_hanging_robot_is_killed_after_its_timeout) {
  const Error error = ends_with("hang", "nodes: {timeout_s: 10}\n");
  EXPECT_EQ(error.code, Code::timeout);
  EXPECT_NE(error.message.find("robot 'anna'"), std::string::npos);
  EXPECT_NE(error.message.find("for 10000 ms"), std::string::npos);
}

TEST(CosimTeam, the_trace_does_not_depend_on_the_number_of_running_robots) {
  const TeamFiles files;
  std::string first;
  for (const std::size_t at_once : {1U, 2U}) {
    auto scenario = files.scenario("", kChannels);
    ASSERT_TRUE(scenario.ok());
    scenario->team.wiring.at_once = at_once;
    Trace trace;
    const auto report = run(scenario, trace);
    ASSERT_TRUE(report.ok()) << report.error().to_string();
    if (at_once == 1) first = trace.text();
    EXPECT_EQ(trace.text(), first);
  }
  EXPECT_FALSE(first.empty());
  expect_no_child();
}

TEST(CosimTeam, the_first_of_several_failing_robots_is_reported) {
  const TeamFiles files;
  for (const std::string then : {"throw", "die"}) {
    files.write("robot.yaml",
                "hyphos: 1\nprocesses: {one: {nodes: [sample]}}\nnodes:\n  sample: {plugin: " +
                    std::string(COSIM_SAMPLE_NODE) + ", params: {then: " + then + "}}\n");
    auto scenario = files.scenario("", kChannels);
    ASSERT_TRUE(scenario.ok());
    scenario->team.wiring.at_once = 2;
    Trace trace;
    const auto report = run(scenario, trace);
    ASSERT_FALSE(report.ok());
    EXPECT_NE(report.error().message.find("robot 'anna'"), std::string::npos)
        << report.error().to_string();
    expect_no_child();
  }
}

TEST(CosimTeam, a_node_that_cannot_be_created_gives_its_reason) {
  const Error error = ends_with("refuse");
  EXPECT_NE(
      error.message.find("robot 'anna': node 'sample' could not be set up: there is no camera"),
      std::string::npos)
      << error.to_string();
}

TEST(CosimTeam, errors_have_line_and_key) {
  const TeamFiles files;
  const auto expect = [&](const Result<Scenario>& scenario, const std::string& text) {
    ASSERT_FALSE(scenario.ok());
    EXPECT_NE(scenario.error().to_string().find(text), std::string::npos)
        << scenario.error().to_string();
  };
  expect(files.scenario(), "channels: expected a map of the channels that cross the network");
  expect(files.scenario("", "channels: {count: {from: ana}}"), "did you mean 'anna'?");
  expect(files.scenario("", "channels: {count: {as_: x}}"), "channels.count.as_: unknown key");
  expect(files.scenario("", std::string(kChannels) + "traffic: {rate_hz: 1}\n"),
         "traffic: only valid for robots without nodes");
  expect(files.scenario("", std::string(kChannels) + "nodes: {timeout_s: 0}\n"), "nodes.timeout_s");
  const std::string plain = "robots: {a: {at: [0, 0, 0]}, b: {at: [1, 0, 0]}}\n";
  expect(parse_scenario(plain + "channels: {x: {}}", "x.yaml"),
         "channels: only valid with robots that have a `plan`");
  expect(parse_scenario("robots: {a: {at: [0, 0, 0], set: [x=1]}, b: {at: [1, 0, 0]}}", "x.yaml"),
         "robots.a.set: only valid with `plan`");
}

TEST(CosimTeam, a_plan_that_cannot_be_stepped_is_refused) {
  const TeamFiles files;
  files.write("robot.yaml",
              "hyphos: 1\nprocesses: {one: {nodes: [camera]}, two: {nodes: [planner]}}\n"
              "nodes:\n  camera: {executable: /bin/true}\n  planner: {python: 'planner.py:P'}\n");
  Trace trace;
  const auto executable = run(files.scenario("", kChannels), trace);
  ASSERT_FALSE(executable.ok());
  EXPECT_EQ(executable.error().code, Code::unsupported);
  EXPECT_NE(executable.error().message.find("node 'camera' has its own process"),
            std::string::npos);
  const auto python = run(files.scenario(", nodes: [planner]", kChannels), trace);
  ASSERT_FALSE(python.ok());
  EXPECT_NE(python.error().message.find("hyphos cosim run"), std::string::npos);
  const auto nobody = run(files.scenario(", nodes: [pilot]", kChannels), trace);
  ASSERT_FALSE(nobody.ok());
  EXPECT_NE(nobody.error().message.find("'pilot'"), std::string::npos);
}

}  // namespace
}  // namespace hyphos::cosim
