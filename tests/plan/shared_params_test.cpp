// The tree that all nodes share, in a plan.
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/param_tree.hpp"
#include "tests/plan/plan_folder.hpp"

namespace hyphos {
namespace {

const std::string kPlain =
    "# of a robot\n"
    "profile:\n"
    "  name: \"rover 7\"\n"
    "  car_id: {level1: 122, level2: 233}\n"
    "grid: [[1, 2.5], [], [-3]]\n"
    "cameras:\n"
    "  - {name: left, fov: 1.2}\n"
    "  - {name: right, fov: 1.3}\n"
    "nodes: 3\n"
    "channels: {scan: {type: none}}\n"
    "empty:\n"
    "none: {}\n";

std::string mistake(const std::string& shared) {
  const auto plan = parse_plan("hyphos: 1\n" + shared, "r.yaml");
  return plan ? "no mistake" : plan.error().message;
}

TEST(SharedParams, a_plain_file_loads_as_it_is) {
  const Folder folder;
  folder.write("config/param_file.yaml", kPlain);
  const auto file =
      folder.write("robot.yaml", "hyphos: 1\nshared_params: config/param_file.yaml\n");
  const Plan plan = load_plan(file).or_throw();
  const ParamValue& shared = plan.shared_params;
  EXPECT_EQ(shared.find("profile.name")->as_text().or_throw(), "rover 7");
  EXPECT_EQ(shared.find("profile.car_id.level2")->as_integer().or_throw(), 233);
  EXPECT_EQ(shared.find("grid")->items.at(0).items.at(1).as_real().or_throw(), 2.5);
  EXPECT_EQ(shared.find("cameras")->items.at(1).find("name")->as_text().or_throw(), "right");
  EXPECT_EQ(shared.find("channels.scan.type")->as_text().or_throw(), "none");
  EXPECT_EQ(shared.find("grid")->source.to_string(),
            folder.text("config/param_file.yaml") + ":5:7");
  EXPECT_NE(to_text(plan).find("SHARED PARAMETERS 9 values"), std::string::npos);
  EXPECT_NE(to_json(plan).find("\"level2\": 233"), std::string::npos) << to_json(plan);
}

TEST(SharedParams, later_files_and_options_win_value_by_value) {
  const Folder folder;
  folder.write("a.yaml", "channels: {x: {type: one}}\nkept: 1\ngain: {p: 1, i: 2}\n");
  folder.write("b.yaml", "channels: {x: {type: two}}\ngain: {p: 5}\n");
  folder.write("base.yaml", "hyphos: 1\nshared_params: {speed: 1, mode: calm}\n");
  const auto file = folder.write(
      "robot.yaml", "hyphos: 1\ninclude: [base.yaml]\nshared_params: [a.yaml, b.yaml]\n");
  const Plan plan = load_plan(file, {{"shared_params.speed=7"}, false, {}}).or_throw();
  const ParamValue& shared = plan.shared_params;
  EXPECT_EQ(shared.find("speed")->text, "7");
  EXPECT_EQ(shared.find("mode")->text, "calm");
  EXPECT_EQ(shared.find("kept")->text, "1");
  EXPECT_EQ(shared.find("gain.p")->text, "5");
  EXPECT_EQ(shared.find("gain.i")->text, "2");
  EXPECT_EQ(shared.find("channels.x.type")->text, "two");
}

TEST(SharedParams, a_mistake_names_file_line_and_remedy) {
  EXPECT_NE(mistake("shared_params: file.yaml\n").find("works in files only"), std::string::npos);
  EXPECT_NE(mistake("shared_params: {a: {\"\": 1}}\n").find("a word between the dots is empty"),
            std::string::npos);
  const Folder folder;
  folder.write("list.yaml", "- 1\n- 2\n");
  folder.write("twice.yaml", "a: 1\na: 2\n");
  const auto error_of = [&](const std::string& name) {
    const auto file = folder.write("robot.yaml", "hyphos: 1\nshared_params: " + name + "\n");
    const auto plan = load_plan(file);
    return plan ? std::string("no mistake") : plan.error().to_string();
  };
  EXPECT_NE(error_of("absent.yaml").find("robot.yaml:2:16: shared_params: 'absent.yaml'"),
            std::string::npos)
      << error_of("absent.yaml");
  EXPECT_NE(error_of("list.yaml").find("list.yaml:1:1: expected a map of parameters"),
            std::string::npos);
  EXPECT_NE(error_of("twice.yaml").find("twice.yaml:2:1"), std::string::npos);
  EXPECT_NE(error_of("/tmp/x.yaml").find("relative to this file"), std::string::npos);
  EXPECT_NE(error_of("[{a: 1}]").find("expected the name of a file"), std::string::npos);
}

TEST(SharedParams, a_tree_beyond_the_limits_is_refused) {
  std::string many = "shared_params:\n";
  for (std::size_t i = 0; i <= kMaxSharedParams; ++i) many += "  k" + std::to_string(i) + ": 1\n";
  EXPECT_NE(mistake(many).find("at most 4096 values, found 4097"), std::string::npos);
  const std::string large(kMaxSharedValueBytes + 1, 'x');
  EXPECT_NE(mistake("shared_params: {a: " + large + "}\n").find("'a': a value has at most 65536"),
            std::string::npos);
  const std::string name(kMaxSharedPath + 1, 'n');
  EXPECT_NE(mistake("shared_params: {" + name + ": 1}\n").find("a path has at most 256 bytes"),
            std::string::npos);
}

TEST(SharedParams, several_hosts_share_one_channel) {
  const Plan plan = plan_of(std::string(kThreeProcesses) + "shared_params: {a: 1}\n");
  const ChannelPlan* channel = plan.channel(plan::kSharedParamsChannel);
  ASSERT_NE(channel, nullptr);
  EXPECT_EQ(*channel->publishers, (Names{"world", "driver", "mapper"}));
  EXPECT_EQ(channel->publishers, channel->subscribers);
  EXPECT_TRUE(channel->policy.latched);
  EXPECT_EQ(plan_of("hyphos: 1\nshared_params: {a: 1}\n").channel(plan::kSharedParamsChannel),
            nullptr);
}

TEST(SharedParams, yaml_of_a_tree_reads_back_as_the_same_tree) {
  const ParamValue tree =
      plan::parse_value(
          kPlain + "\"odd key: \\n\": [\"1\", ~, \"a: b\"]\n" + "text: |\n  two\n  lines\n", "text")
          .or_throw();
  const std::string text = to_yaml(tree);
  const ParamValue again = plan::parse_value(text, "again").or_throw();
  EXPECT_EQ(to_yaml(again), text);
  EXPECT_EQ(plan::flow_yaml(again), plan::flow_yaml(tree));
  EXPECT_EQ(again.find("text")->text, "two\nlines\n");
  EXPECT_TRUE(again.find("profile.name")->quoted);
}

}  // namespace
}  // namespace hyphos
