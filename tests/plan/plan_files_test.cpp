#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "hyphos/plan.hpp"
#include "tests/plan/plan_folder.hpp"

namespace hyphos {
namespace {

TEST(PlanInclude, the_including_file_overrides_its_includes) {
  const Folder folder;
  folder.write("parts/common.yaml",
               "robot: common\nchannels:\n  scan: {depth: 5, latched: true}\n  odom: {}\n"
               "include: more.yaml\n");
  folder.write("parts/more.yaml", "domain: d7\nchannels: {scan: {depth: 9, priority: low}}\n");
  const auto file = folder.write(
      "robot.yaml", "hyphos: 1\ninclude: [parts/common.yaml]\nchannels: {scan: {depth: 3}}\n");
  const Plan plan = load_plan(file).or_throw();
  EXPECT_EQ(plan.robot, "common");
  EXPECT_EQ(plan.domain, "d7");
  EXPECT_EQ(plan.channels.size(), 2U);
  EXPECT_EQ(plan.channel("scan")->policy.depth, 3U);
  EXPECT_TRUE(plan.channel("scan")->policy.latched);
  EXPECT_EQ(plan.channel("scan")->policy.priority, Priority::low);
  EXPECT_EQ(plan.directory, file.parent_path());
}

TEST(PlanInclude, errors_name_their_file) {
  const Folder folder;
  folder.write("common.yaml", "channels:\n  scan: {dept: 5}\n");
  const auto file = folder.write("robot.yaml", "hyphos: 1\ninclude: [common.yaml, gone.yaml]\n");
  const auto plan = load_plan(file);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().to_string(),
            folder.text("robot.yaml") +
                ":2:24: include: 'gone.yaml': cannot open the file: No such file or directory\n" +
                folder.text("common.yaml") +
                ":2:10: channels.scan.dept: unknown key (did you mean 'depth'?)\n"
                "2 errors [invalid_config]");
}

TEST(PlanInclude, cycles_are_refused_and_diamonds_are_accepted) {
  const Folder folder;
  folder.write("a.yaml", "include: b.yaml\n");
  folder.write("b.yaml", "include: ./a.yaml\n");
  const auto cycle = load_plan(folder.write("robot.yaml", "hyphos: 1\ninclude: a.yaml\n"));
  ASSERT_FALSE(cycle);
  EXPECT_EQ(cycle.error().to_string(),
            folder.text("b.yaml") +
                ":1:10: include: './a.yaml' includes itself, directly or through "
                "others. Remove one [invalid_config]");
  folder.write("a.yaml", "include: c.yaml\n");
  folder.write("b.yaml", "include: c.yaml\n");
  folder.write("c.yaml", "channels: {scan: {type: T}}\n");
  const auto diamond =
      load_plan(folder.write("robot.yaml", "hyphos: 1\ninclude: [a.yaml, b.yaml]\n"));
  ASSERT_TRUE(diamond) << diamond.error().to_string();
  EXPECT_EQ(diamond->channels.size(), 1U);
}

TEST(PlanInclude, two_types_for_one_channel_are_refused) {
  const Folder folder;
  folder.write("a.yaml", "channels: {scan: {type: A}}\n");
  const auto plan = load_plan(
      folder.write("robot.yaml", "hyphos: 1\ninclude: a.yaml\nchannels: {scan: {type: B}}\n"));
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().to_string(),
            folder.text("robot.yaml") + ":3:25: channels.scan.type: 'B' here, but 'A' at " +
                folder.text("a.yaml") + ":1:25. A channel has one type [invalid_config]");
}

TEST(PlanInclude, include_works_in_files_only) {
  EXPECT_EQ(parse_plan("hyphos: 1\ninclude: [/etc/passwd]\n", "r.yaml").error().to_string(),
            "r.yaml:2:11: include: works in files only, but this plan was given as text "
            "[invalid_config]");
}

TEST(PlanInclude, exponential_chains_are_bounded) {
  const Folder folder;
  for (int i = 0; i < 20; ++i) {
    const std::string next = "f" + std::to_string(i + 1) + ".yaml";
    folder.write("f" + std::to_string(i) + ".yaml", "include: [" + next + ", " + next + "]\n");
  }
  folder.write("f20.yaml", "robot: r\n");
  const auto plan = load_plan(folder.write("robot.yaml", "hyphos: 1\ninclude: f0.yaml\n"));
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().message.find("more than 64 files are included"), std::string::npos);
}

TEST(PlanLoad, a_missing_file_is_not_found) {
  const auto plan = load_plan("/nonexistent/robot.yaml");
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, Code::not_found);
}

TEST(PlanOverride, an_override_sets_present_and_absent_keys) {
  const Plan plan = plan_of(kThreeProcesses,
                            {.overrides = {"channels.scan.depth=3", "network.base_port=6000",
                                           "channels.open.scope=network",
                                           "nodes.world.params.laser.rate_hz=40", "robot=other"}});
  EXPECT_EQ(plan.channel("scan")->policy.depth, 3U);
  EXPECT_EQ(plan.process("sense")->endpoint, "tcp://10.0.0.1:6000");
  EXPECT_EQ(plan.robot, "other");
  EXPECT_EQ(plan.node("world")->params.find("laser.rate_hz")->as_integer().value(), 40);
}

TEST(PlanOverride, an_override_moves_a_node) {
  const Plan plan = plan_of(kThreeProcesses, {.overrides = {"nodes.world.process=think"}});
  EXPECT_EQ(plan.node("world")->process, "think");
  EXPECT_TRUE(plan.process("sense")->nodes.empty());
  EXPECT_EQ(plan.process("think")->nodes, (Names{"mapper", "world"}));
  ASSERT_EQ(plan.warnings.size(), 1U);
  EXPECT_EQ(
      plan.warnings[0],
      "r.yaml:6:3: processes.sense: no node is placed here, so `hyphos run` does not start it");
}

TEST(PlanOverride, mistakes_name_the_option) {
  const auto error = [](const std::string& option) {
    return parse_plan(kThreeProcesses, "r.yaml", {.overrides = {option}}).error().to_string();
  };
  EXPECT_EQ(error("channels.scan.dept=3"),
            "--set channels.scan.dept=3: channels.scan.dept: unknown key (did you mean 'depth'?) "
            "[invalid_config]");
  EXPECT_EQ(error("channels.scan"),
            "--set channels.scan: expected KEY.KEY=VALUE, as in channels.scan.depth=3 "
            "[invalid_config]");
  EXPECT_EQ(error("a..b=1"), "--set a..b=1: a key between the dots is empty [invalid_config]");
  EXPECT_EQ(error("nodes.world.process=thnk"),
            "--set nodes.world.process=thnk: nodes.world.process: unknown process 'thnk' (did you "
            "mean 'think'?) [invalid_config]");
  EXPECT_EQ(error("hyphos.x=1"),
            "--set hyphos.x=1: 'hyphos' is not a map at r.yaml:1:9, so nothing can be set below it "
            "[invalid_config]");
  EXPECT_EQ(error("include=x.yaml"),
            "--set include=x.yaml: include cannot be set by an option [invalid_config]");
}

TEST(PlanFiles, paths_of_keys_are_relative_to_the_plan) {
  const Folder folder;
  folder.write("keys/a.pub", "");
  const auto file = folder.write(
      "robot.yaml",
      "hyphos: 1\nnetwork:\n  curve: {public_key_file: keys/a.pub, secret_key_file: keys/a.key}\n");
  const auto plan = load_plan(file, {.overrides = {}, .check_files = true});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().message,
            "network.curve.secret_key_file: '" + folder.text("keys/a.key") + "' does not exist");
}

TEST(PlanFiles, an_executable_beside_the_plan_is_not_searched_in_path) {
  const Plan plan =
      parse_plan("hyphos: 1\nnodes: {a: {executable: ./tool}, b: {executable: tool}}\n",
                 "robot.yaml")
          .or_throw();
  EXPECT_EQ(plan.program_file(*plan.node("a")), "./tool");
  EXPECT_EQ(plan.program_file(*plan.node("b")), "./tool");
}

TEST(PlanFiles, a_bare_executable_is_searched_beside_the_plan_then_in_path) {
  const Folder folder;
  const auto file = folder.write("robot.yaml", "hyphos: 1\nnodes:\n  a: {executable: sh}\n");
  const Plan plan = load_plan(file).or_throw();
  EXPECT_EQ(plan.program_file(*plan.node("a")).filename(), "sh");
  EXPECT_TRUE(plan.program_file(*plan.node("a")).is_absolute());
  EXPECT_NE(plan.program_file(*plan.node("a")), folder.text("sh"));
  (void)folder.write("sh", "");
  EXPECT_EQ(plan.program_file(*plan.node("a")), folder.text("sh"));
}

TEST(PlanFiles, plugins_are_found_in_the_plugin_path) {
  const Folder folder;
  const auto library = folder.write("lib/libworld.so", "");
  const auto file = folder.write("robot.yaml",
                                 "hyphos: 1\nplugin_path: [none, lib]\nnodes:\n"
                                 "  a: {plugin: libworld.so}\n  b: {plugin: libother.so}\n"
                                 "  c: {plugin: ./own.so}\n  d: {executable: bin/run}\n");
  const Plan plan = load_plan(file).or_throw();
  EXPECT_EQ(plan.program_file(*plan.node("a")), library);
  EXPECT_EQ(plan.program_file(*plan.node("b")), "libother.so");
  EXPECT_EQ(plan.program_file(*plan.node("c")), folder.text("own.so"));
  EXPECT_EQ(plan.program_file(*plan.node("d")), folder.text("bin/run"));
  EXPECT_EQ(plan.resolve("/abs"), "/abs");
}

}  // namespace
}  // namespace hyphos
