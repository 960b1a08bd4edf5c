#include "hyphos/remote_params.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/node/child.hpp"
#include "tests/node/harness.hpp"

namespace hyphos::test {
namespace {

constexpr Duration kPatience = Duration::from_ms(60'000);

std::string read_all(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A plan with the node `tunable` in a separate process, and that process.
class Robot {
 public:
  explicit Robot(const std::string& params, const std::string& rest = "")
      : domain_(fresh_domain()),
        file_("hyphos: 1\ndomain: \"" + domain_ +
              "\"\nnodes:\n  tunable:\n    plugin: " + TEST_PLUGIN_DIR +
              "/libtest_plugin_tunable.so\n    params: {" + params + "}\n" + rest),
        state_(file_.path().parent_path() / "run") {}

  void start() {
    child_ = std::make_unique<Child>(
        std::vector<std::string>{TEST_HOST, "--hyphos-plan", file_.path().string(),
                                 "--hyphos-process", "main", "--hyphos-state", state_.string()});
  }
  int stop(int signal) { return child_->stop(signal); }
  /// Terminates it like an operator, but not before it handles the signal.
  int terminate() {
    EXPECT_TRUE(comes_to_spin(domain_, "main"));
    return stop(SIGTERM);
  }
  [[nodiscard]] const std::string& domain() const { return domain_; }
  [[nodiscard]] std::filesystem::path folder() const { return file_.path().parent_path(); }

 private:
  const std::string domain_;
  const PlanFile file_;
  const std::filesystem::path state_;
  std::unique_ptr<Child> child_;
};

TEST(RemoteParams, another_runtime_can_read_set_and_watch_parameters) {
  Arrivals told;
  const std::string domain = fresh_domain();
  Runtime one = open_runtime(domain, "one");
  Runtime two = open_runtime(domain, "two");
  const Node owner = one.node("own-er").or_throw();
  const auto speed =
      owner.params().declare<double>("speed", {.value = 0.5, .unit = "m/s", .range = {0, 2}});
  const auto names = owner.params().declare<std::vector<std::string>>("names", {.value = {"a"}});

  const Node reader = two.node("reader").or_throw();
  const RemoteParams remote = reader.remote_params("own-er");
  const ParamSet seen = remote.wait(kPatience).or_throw();
  EXPECT_TRUE(eventually([&] { return remote.values().size() == 2; }));
  EXPECT_EQ(remote.values().get<double>("speed"), 0.5);
  EXPECT_EQ(remote.values().find("speed")->unit, "m/s");
  EXPECT_EQ(remote.values().find("speed")->allowed(), "0.0 to 2.0");
  EXPECT_EQ(remote.process(), "one");
  EXPECT_TRUE(eventually([&] { return remote.present(); }));

  remote.watch([&](const ParamSet& now) {
    if (now.changed("speed")) told.add(static_cast<std::int64_t>(now.get<double>("speed") * 10));
  });
  ASSERT_TRUE(remote.set("speed", 1.5, kPatience).ok());
  EXPECT_EQ(*speed, 1.5);
  EXPECT_EQ(remote.values().get<double>("speed"), 1.5);  // at once: the reply contained it
  ASSERT_TRUE(told.wait_for(1));
  EXPECT_EQ(told.values().front(), 15);

  const auto refused = remote.set("speed", 3.0, kPatience);
  EXPECT_EQ(refused.error().code, Code::invalid_config);
  EXPECT_NE(refused.error().message.find("3.0 is not in 0.0 to 2.0 m/s"), std::string::npos);
  EXPECT_EQ(remote.set("sped", 1.0, kPatience).error().code, Code::not_found);
  EXPECT_EQ(remote.set({{"speed", 1.0}, {"names", true}}, kPatience).error().code,
            Code::type_mismatch);
  EXPECT_EQ(*speed, 1.5);
  ASSERT_TRUE(
      remote.set({{"speed", 1.0}, {"names", std::vector<std::string>{"b", "c"}}}, kPatience).ok());
  EXPECT_EQ(names->size(), 2U);

  // The owner's own changes are seen, too.
  ASSERT_TRUE(speed.set(0.25).ok());
  EXPECT_TRUE(eventually([&] { return remote.values().get<double>("speed") == 0.25; }));
  EXPECT_EQ(*nodes_with_params(domain), std::vector<std::string>{"own-er"});
}

TEST(RemoteParams, a_late_process_sees_the_newest_values_at_once) {
  const std::string domain = fresh_domain();
  Runtime one = open_runtime(domain, "one");
  const Node owner = one.node("owner").or_throw();
  const auto count = owner.params().declare<std::int64_t>("count");
  for (int i = 1; i <= 50; ++i) ASSERT_TRUE(count.set(i).ok());
  Runtime two = open_runtime(domain, "two");
  const Node late = two.node("late").or_throw();
  const RemoteParams remote = late.remote_params("owner");
  ASSERT_TRUE(remote.wait(kPatience).ok());
  EXPECT_TRUE(eventually([&] { return remote.values().get<std::int64_t>("count") == 50; }));
}

TEST(RemoteParams, an_unknown_node_is_reported_with_the_known_nodes) {
  const std::string domain = fresh_domain();
  Runtime one = open_runtime(domain, "one");
  const Node owner = one.node("mapper").or_throw();
  owner.params().declare<bool>("on");
  const RemoteParams remote = owner.remote_params("maper");
  ASSERT_TRUE(eventually([&] { return nodes_with_params(domain).value().size() == 1; }));
  const auto waited = remote.wait(Duration::from_ms(1));
  EXPECT_EQ(waited.error().code, Code::timeout);
  EXPECT_NE(waited.error().message.find("did you mean 'mapper'"), std::string::npos);
  const auto set = remote.set("on", true, Duration::from_ms(1));
  EXPECT_FALSE(set.ok());
  EXPECT_FALSE(remote.present());
}

TEST(RemoteParams, many_threads_can_set_values) {
  const std::string domain = fresh_domain();
  Runtime one = open_runtime(domain, "one");
  Runtime two = open_runtime(domain, "two");
  const Node owner = one.node("owner").or_throw();
  for (int t = 0; t < 3; ++t) owner.params().declare<std::int64_t>("p" + std::to_string(t));
  const Node setter = two.node("setter").or_throw();
  const RemoteParams remote = setter.remote_params("owner");
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, name = "p" + std::to_string(t)] {
      for (std::int64_t i = 1; i <= 50; ++i) {
        if (!remote.set(name, i, kPatience)) ++failed;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(failed.load(), 0);
  for (int t = 0; t < 3; ++t) {
    EXPECT_EQ(owner.params().values().get<std::int64_t>("p" + std::to_string(t)), 50);
    EXPECT_EQ(remote.values().get<std::int64_t>("p" + std::to_string(t)), 50);
  }
}

TEST(RemoteParams, values_survive_kill_9_within_one_run) {
  Robot robot("low: 3, high: 9");
  robot.start();
  Runtime tools = open_runtime(robot.domain(), "tool");
  const Node tool = tools.node("tool").or_throw();
  const RemoteParams remote = tool.remote_params("tunable");
  ASSERT_TRUE(remote.wait(kPatience).ok());
  EXPECT_TRUE(eventually([&] { return remote.values().size() == 4; }));
  ASSERT_TRUE(remote.set({{"low", 20.5}, {"high", 30.0}}, kPatience).ok());
  EXPECT_EQ(robot.stop(SIGKILL), 128 + SIGKILL);  // right after the reply arrived
  EXPECT_TRUE(eventually([&] { return !remote.present(); }));
  EXPECT_EQ(remote.values().get<double>("low"), 20.5);  // as last seen
  robot.start();
  EXPECT_TRUE(eventually([&] {
    const ParamSet now = remote.values();
    return now.find("low")->origin == ParamOrigin::restored && now.find("mode") != nullptr;
  }));
  EXPECT_EQ(remote.values().get<double>("low"), 20.5);
  EXPECT_EQ(remote.values().get<double>("high"), 30.0);
  EXPECT_EQ(remote.values().find("mode")->origin, ParamOrigin::standard);
  // It can be set again.
  ASSERT_TRUE(remote.set("mode", "fast", kPatience).ok());
  EXPECT_EQ(robot.terminate(), 0);
}

TEST(RemoteParams, a_persisted_file_is_read_at_the_next_run) {
  Robot robot("low: 3, high: 9", "    persist: kept/tunable.yaml\n");
  const std::filesystem::path kept = robot.folder() / "kept/tunable.yaml";
  robot.start();
  Runtime tools = open_runtime(robot.domain(), "tool");
  const Node tool = tools.node("tool").or_throw();
  const RemoteParams remote = tool.remote_params("tunable");
  ASSERT_TRUE(remote.wait(kPatience).ok());
  ASSERT_TRUE(eventually([&] { return remote.values().size() == 4; }));  // all are declared
  ASSERT_TRUE(remote.set("high", 12.5, kPatience).ok());
  EXPECT_NE(read_all(kept).find("high: 12.5"), std::string::npos);
  EXPECT_EQ(read_all(kept).find("low"), std::string::npos);  // the plan's value is not saved
  EXPECT_EQ(robot.terminate(), 0);
  std::filesystem::remove_all(robot.folder() / "run");  // another run
  robot.start();
  EXPECT_TRUE(eventually([&] {
    const ParamSet values = remote.values();
    const ParamInfo* high = values.find("high");
    return high != nullptr && high->origin == ParamOrigin::restored &&
           high->value == ParamVariant(12.5);
  }));
  EXPECT_EQ(robot.terminate(), 0);
}

TEST(RemoteParams, a_corrupt_file_is_set_aside_and_the_plan_is_used) {
  Robot robot("low: 3, high: 9", "    persist: on\n");
  const std::filesystem::path kept = robot.folder() / "state/tunable.params.yaml";
  std::filesystem::create_directories(kept.parent_path());
  std::ofstream(kept) << "nodes: {tunable: {params: {low: [";
  robot.start();
  Runtime tools = open_runtime(robot.domain(), "tool");
  const Node tool = tools.node("tool").or_throw();
  const RemoteParams remote = tool.remote_params("tunable");
  ASSERT_TRUE(remote.wait(kPatience).ok());
  EXPECT_TRUE(eventually([&] { return remote.values().size() == 4; }));
  EXPECT_EQ(remote.values().get<double>("low"), 3.0);
  EXPECT_FALSE(std::filesystem::exists(kept));
  EXPECT_TRUE(std::filesystem::exists(kept.string() + ".corrupt"));
}

TEST(RemoteParams, a_saved_value_that_is_no_longer_valid_is_ignored) {
  Robot robot("low: 3, high: 9", "    persist: on\n");
  const std::filesystem::path kept = robot.folder() / "state/tunable.params.yaml";
  std::filesystem::create_directories(kept.parent_path());
  std::ofstream(kept) << "nodes: {tunable: {params: {low: -5, high: many, mode: fast, old: 1}}}";
  robot.start();
  Runtime tools = open_runtime(robot.domain(), "tool");
  const Node tool = tools.node("tool").or_throw();
  const RemoteParams remote = tool.remote_params("tunable");
  ASSERT_TRUE(remote.wait(kPatience).ok());
  EXPECT_TRUE(eventually([&] { return remote.values().size() == 4; }));
  EXPECT_EQ(remote.values().get<double>("low"), 3.0);
  EXPECT_EQ(remote.values().get<double>("high"), 9.0);
  EXPECT_EQ(remote.values().get<std::string>("mode"), "fast");
  ASSERT_TRUE(remote.set("high", 10.0, kPatience).ok());
  EXPECT_NE(read_all(kept).find("old: 1"), std::string::npos);  // an undeclared value is not lost
}

/// Two hosts of a plan, both on this machine: no message between them uses shared memory.
TEST(RemoteParams, another_host_of_the_plan_can_read_and_set_parameters) {
  const std::string port = std::to_string(own_port());
  const PlanFile file("hyphos: 1\ndomain: \"" + fresh_domain() + R"("
hosts: {robot: {address: 127.0.0.1}, desk: {address: 127.0.0.2}}
processes: {main: {host: robot}, desk: {host: desk}}
nodes:
  tunable: {process: main, services: [tunable/_set_params]}
  operator: {process: desk, calls: [tunable/_set_params]}
channels:
  tunable/_params: {reliability: reliable, overflow: drop_oldest, latched: true, publishers: [tunable]}
network: {base_port: )" +
                      port + "}\n");
  Runtime robot = Runtime::open(file.options("main")).or_throw();
  Runtime desk = Runtime::open(file.options("desk")).or_throw();
  const Node tunable = robot.node("tunable").or_throw();
  const auto speed = tunable.params().declare<double>("speed", {.value = 1, .range = {0, 2}});
  const Node person = desk.node("operator").or_throw();
  const RemoteParams remote = person.remote_params("tunable");
  ASSERT_TRUE(remote.wait(kPatience).ok());
  ASSERT_TRUE(remote.set("speed", 1.5, kPatience).ok());
  EXPECT_EQ(*speed, 1.5);
  EXPECT_EQ(remote.set("speed", 5.0, kPatience).error().code, Code::invalid_config);
  ASSERT_TRUE(speed.set(0.5).ok());
  EXPECT_TRUE(eventually([&] { return remote.values().get<double>("speed") == 0.5; }));
}

TEST(RemoteParams, undeclared_values_of_the_plan_are_reported) {
  Robot robot("low: 1.5, hihg: 9, laser: {rate: 3}");
  robot.start();
  Runtime tools = open_runtime(robot.domain(), "tool");
  const Node tool = tools.node("tool").or_throw();
  const RemoteParams remote = tool.remote_params("tunable");
  ASSERT_TRUE(remote.wait(kPatience).ok());
  EXPECT_TRUE(eventually([&] { return remote.undeclared().size() == 2; }));
  EXPECT_EQ(remote.undeclared(), (std::vector<std::string>{"hihg", "laser.rate"}));
}

}  // namespace
}  // namespace hyphos::test
