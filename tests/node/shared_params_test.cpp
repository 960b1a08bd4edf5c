// The tree of parameters that all nodes share, between runtimes and processes.
#include <gtest/gtest.h>

#include <fstream>

#include "hyphos/inspect.hpp"
#include "tests/node/child.hpp"
#include "tests/node/harness.hpp"

namespace hyphos::test {
namespace {

constexpr Duration kPatience = Duration::from_ms(60'000);

TEST(SharedParams, every_node_reads_keys_that_no_node_declared) {
  const PlanFile file("hyphos: 1\ndomain: \"" + fresh_domain() +
                      "\"\nshared_params:\n  profile: {name: rover, car_id: {level1: 122}}\n"
                      "  grid: [[1, 2.5], [], [-3]]\n  on: true\n");
  const Runtime runtime = Runtime::open(file.options("main")).or_throw();
  const Node node = Runtime(runtime).node("any").or_throw();
  const SharedParams shared = node.shared_params();
  EXPECT_EQ(shared.get<std::string>("profile.name").or_throw(), "rover");
  EXPECT_EQ(shared.get<std::uint8_t>("profile.car_id.level1").or_throw(), 122);
  EXPECT_TRUE(shared.get<bool>("on").or_throw());
  using Rows = std::vector<std::vector<double>>;
  EXPECT_EQ(shared.get<Rows>("grid").or_throw(), (Rows{{1, 2.5}, {}, {-3}}));
  EXPECT_EQ((shared.get<std::map<std::string, int>>("profile.car_id").or_throw()),
            (std::map<std::string, int>{{"level1", 122}}));
  EXPECT_EQ(shared.get<int>("absent", 7), 7);
  const auto similar = shared.get<std::string>("profile.nam");
  EXPECT_EQ(similar.error().code, Code::not_found);
  EXPECT_NE(similar.error().message.find("did you mean 'profile.name'"), std::string::npos);
  const auto other_type = shared.get<double>("profile.name");
  EXPECT_EQ(other_type.error().code, Code::invalid_config);
  EXPECT_NE(other_type.error().where.find("robot.yaml:4:"), std::string::npos)
      << other_type.error().to_string();
  EXPECT_FALSE(shared.get<std::int8_t>("grid").ok());
  EXPECT_NE(shared.get<std::int8_t>("profile.car_id").error().message.find("a map"),
            std::string::npos);
}

TEST(SharedParams, a_change_reaches_the_watchers_of_all_processes) {
  // The watcher uses these until the runtimes end.
  std::mutex mutex;
  std::vector<std::string> seen;
  const std::string domain = fresh_domain();
  const Runtime one = open_runtime(domain, "one");
  const Runtime two = open_runtime(domain, "two");
  const SharedParams a = Runtime(one).node("a").or_throw().shared_params();
  const SharedParams b = Runtime(two).node("b").or_throw().shared_params();
  ASSERT_TRUE(a.wait(kPatience).ok());
  ASSERT_TRUE(b.wait(kPatience).ok());
  b.watch("profile", [&](const std::vector<std::string>& changed) {
    const std::lock_guard lock(mutex);
    seen.insert(seen.end(), changed.begin(), changed.end());
  });
  ASSERT_TRUE(a.set("other", 1).ok());
  ASSERT_TRUE(a.set("profile.name", "rover").ok());
  EXPECT_EQ(a.get<std::string>("profile.name").or_throw(), "rover");  // at once
  EXPECT_EQ(a.settle(kPatience).or_throw(), 1U);
  EXPECT_EQ(b.get<std::string>("profile.name").or_throw(), "rover");
  EXPECT_TRUE(eventually([&] {
    const std::lock_guard lock(mutex);
    return seen == std::vector<std::string>{"profile.name"};
  }));
  ASSERT_TRUE(b.remove("profile").ok());
  EXPECT_EQ(b.settle(kPatience).or_throw(), 1U);
  EXPECT_FALSE(a.get<std::string>("profile.name").ok());
}

TEST(SharedParams, a_late_process_gets_values_of_a_process_that_is_gone) {
  const std::string domain = fresh_domain();
  const Runtime keeper = open_runtime(domain, "keeper");
  const SharedParams kept = Runtime(keeper).node("keeper").or_throw().shared_params();
  {
    const Runtime setter = open_runtime(domain, "setter");
    const SharedParams set = Runtime(setter).node("setter").or_throw().shared_params();
    ASSERT_TRUE(set.wait(kPatience).ok());
    ASSERT_TRUE(set.set("grid", std::vector<std::vector<int>>{{1, 2}, {3}}).ok());
    EXPECT_EQ(set.settle(kPatience).or_throw(), 1U);
  }
  const Runtime late = open_runtime(domain, "late");
  const SharedParams seen = Runtime(late).node("late").or_throw().shared_params();
  ASSERT_TRUE(seen.wait(kPatience).ok());
  EXPECT_TRUE(eventually([&] { return seen.get<ParamValue>("grid").ok(); }));
  EXPECT_EQ((seen.get<std::vector<std::vector<int>>>("grid").or_throw()),
            (std::vector<std::vector<int>>{{1, 2}, {3}}));
}

TEST(SharedParams, settle_names_no_process_that_has_ended) {
  const std::string domain = fresh_domain();
  const Runtime one = open_runtime(domain, "one");
  const SharedParams a = Runtime(one).node("a").or_throw().shared_params();
  {
    const Runtime two = open_runtime(domain, "two");
    const SharedParams b = Runtime(two).node("b").or_throw().shared_params();
    ASSERT_TRUE(a.wait(kPatience).ok());
  }
  ASSERT_TRUE(a.set("x", 1).ok());
  EXPECT_EQ(a.settle(kPatience).or_throw(), 0U);
}

TEST(SharedParams, set_values_survive_a_restart_within_a_run) {
  const std::string domain = fresh_domain();
  const PlanFile file("hyphos: 1\ndomain: \"" + domain +
                      "\"\nshared_params: {speed: 1, mode: x}\n");
  RuntimeOptions options = file.options("main");
  options.state_folder = file.path().parent_path() / "run";
  {
    const Runtime first = Runtime::open(options).or_throw();
    ASSERT_TRUE(Runtime(first).node("n").or_throw().shared_params().set("speed", 2.5).ok());
  }
  const Runtime second = Runtime::open(options).or_throw();
  const SharedParams shared = Runtime(second).node("n").or_throw().shared_params();
  EXPECT_EQ(shared.get<double>("speed").or_throw(), 2.5);
  EXPECT_EQ(shared.get<std::string>("mode").or_throw(), "x");
}

TEST(SharedParams, a_process_shares_its_plan_although_no_node_asks) {
  const std::string domain = fresh_domain();
  const PlanFile file("hyphos: 1\ndomain: \"" + domain + "\"\nshared_params: {speed: 1}\n");
  const Runtime robot = Runtime::open(file.options("main")).or_throw();
  Runtime(robot).ready();
  const Runtime tool = open_runtime(domain, "tool");
  const SharedParams seen = Runtime(tool).node("tool").or_throw().shared_params();
  ASSERT_TRUE(seen.wait(kPatience).ok());
  EXPECT_EQ(seen.get<int>("speed").or_throw(), 1);
}

TEST(SharedParams, machines_of_a_plan_share_the_tree_over_the_network) {
  const std::string domain = fresh_domain();
  const PlanFile file(
      "hyphos: 1\ndomain: \"" + domain +
      "\"\nhosts: {ugv: {address: 127.0.0.1}, base: {address: 127.0.0.2}}\n"
      "processes:\n"
      "  drive: {host: ugv, endpoint: \"tcp://127.0.0.1:" +
      std::to_string(own_port()) + "\"}\n" +
      "  desk: {host: base, endpoint: \"tcp://127.0.0.2:" + std::to_string(own_port()) + "\"}\n" +
      "nodes: {driver: {process: drive}, operator: {process: desk}}\n"
      "shared_params: {speed: 1}\n");
  const Runtime drive = Runtime::open(file.options("drive")).or_throw();
  const Runtime desk = Runtime::open(file.options("desk")).or_throw();
  const SharedParams a = Runtime(drive).node("driver").or_throw().shared_params();
  const SharedParams b = Runtime(desk).node("operator").or_throw().shared_params();
  ASSERT_TRUE(a.wait(kPatience).ok());
  ASSERT_TRUE(b.wait(kPatience).ok());
  ASSERT_TRUE(b.set("speed", 2).ok());
  EXPECT_TRUE(eventually([&] { return a.get<int>("speed").or_throw() == 2; }));
}

TEST(SharedParams, values_stay_readable_after_the_end) {
  Runtime runtime = Runtime::open(offline_options()).or_throw();
  const SharedParams shared = runtime.node("n").or_throw().shared_params();
  ASSERT_TRUE(shared.set("a.b", 1).ok());
  EXPECT_EQ(shared.settle(kPatience).or_throw(), 0U);
  runtime.request_stop();
  {
    const Runtime gone = std::move(runtime);
  }
  EXPECT_EQ(shared.get<int>("a.b").or_throw(), 1);
  EXPECT_EQ(shared.set("a.b", 2).error().code, Code::disconnected);
}

}  // namespace
}  // namespace hyphos::test
