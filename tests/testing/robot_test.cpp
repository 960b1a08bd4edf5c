// hyphos/testing.hpp: robots under test in GoogleTest.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "hyphos/hyphos.hpp"
#include "hyphos/testing.hpp"
#include "tests/node/number.hpp"

// GoogleTest finds it in the namespace of the type.
static void PrintTo(const Number& number, std::ostream* out) { *out << number.value; }

namespace hyphos {
namespace {

using testing::Robot;
using testing::RobotOptions;

/// Publishes 1, 2, 3, ... ten times a second.
class Counter {
 public:
  explicit Counter(const Node& node) : out_(node.publisher<Number>("count")) {
    node.every(Duration::from_ms(100), [this] { out_.publish({++count_}); });
  }

 private:
  Publisher<Number> out_;
  std::int64_t count_ = 0;
};

class Doubler {
 public:
  explicit Doubler(const Node& node) : out_(node.publisher<Number>("doubled")) {
    node.subscribe<Number>("count", serial, [this](const Message<Number>& count) {
      if (count->value == 13) throw std::runtime_error("cannot double 13");
      out_.publish({2 * count->value});
    });
  }

 private:
  Publisher<Number> out_;
};

/// -1 without a message, so that a test fails instead of reading it.
std::int64_t value(const Message<Number>& one) { return one ? one->value : -1; }

std::vector<std::int64_t> values(const std::vector<Message<Number>>& messages) {
  std::vector<std::int64_t> found;
  for (const Message<Number>& one : messages) found.push_back(one->value);
  return found;
}

class TestingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              ("hyphos_testing_" + std::to_string(::getpid()) + "_" + info->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// A plan with the plug-in that repeats "in" on "out".
  std::filesystem::path plan(const std::string& more = "") {
    std::ofstream file(folder_ / "robot.yaml");
    file << "hyphos: 1\nplugin_path: ['" << TEST_PLUGIN_DIR << "']\n"
         << "processes: {main: {nodes: [echo], restart: on_failure, backoff_ms: 1}}\n"
         << "nodes: {echo: {plugin: libtest_plugin_echo.so, params: {add: 1}}}\n"
         << "channels:\n  in: {type: test.Number}\n"
         << "  out: {type: test.Number, publishers: [echo], subscribers: []}\n"
         << more;
    return folder_ / "robot.yaml";
  }

  std::filesystem::path folder_;
};

TEST_F(TestingTest, nodes_of_the_test_run_at_exact_times) {
  Robot robot;
  robot.watch<Number>("count");
  robot.add<Counter>("counter");
  robot.add<Doubler>("doubler");
  const auto ten = robot.expect<Number>("doubled", [](const Number& n) { return n.value == 10; });
  ASSERT_TRUE(ten);
  EXPECT_EQ(robot.elapsed(), Duration::from_ms(500));
  EXPECT_EQ(value(robot.expect<Number>("doubled")), 12) << "the next one";
  robot.step(Duration::from_ms(150));
  EXPECT_EQ(robot.elapsed(), Duration::from_ms(750));
  EXPECT_EQ(values(robot.messages<Number>("count")),
            (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(TestingTest, a_message_that_does_not_come_is_a_failure) {
  Robot robot;
  robot.add<Counter>("counter");
  const auto never = [](const Number&) { return false; };
  EXPECT_NONFATAL_FAILURE(
      EXPECT_FALSE(robot.expect<Number>("count", never, Duration::from_ms(500))),
      "none of 5 messages on 'count' within 0.5 s is the expected one, the last is 5");
  EXPECT_NONFATAL_FAILURE(
      (void)robot.expect<Number>("cuont", Duration::from_ms(100)),
      "'cuont' within 0.1 s, which has no publisher. The robot publishes count");
  robot.expect_none<Number>(
      "count", [](const Number& n) { return n.value > 10; }, Duration::from_ms(400));
  EXPECT_NONFATAL_FAILURE(
      robot.expect_none<Number>("count", [](const Number& n) { return n.value > 10; }),
      "a message on 'count' that must not come: 11");
}

TEST_F(TestingTest, an_exception_in_a_callback_is_a_failure) {
  const auto run = [](RobotOptions options) {
    Robot robot(std::move(options));
    robot.add<Counter>("counter");
    robot.add<Doubler>("doubler");
    robot.step(Duration::from_seconds(2));
  };
  EXPECT_NONFATAL_FAILURE(run({.failures = folder_ / "kept"}),
                          "callback of channel 'count' threw: cannot double 13");
  run({.allow_exceptions = true});
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_F(TestingTest, a_failure_keeps_messages_and_drawing) {
  const auto failures = folder_ / "failures";
  const auto run = [&](Duration span) {
    Robot robot({.failures = failures});
    robot.watch<Number>("count");
    robot.add<Counter>("counter");
    robot.add<Doubler>("doubler");
    robot.step(span);
  };
  run(Duration::from_ms(500));
  EXPECT_FALSE(std::filesystem::exists(failures)) << "a passed test leaves nothing";
  EXPECT_NONFATAL_FAILURE(run(Duration::from_seconds(2)), "cannot double 13");
  const auto kept = failures / "TestingTest.a_failure_keeps_messages_and_drawing";
  EXPECT_NE(text_of(kept / "messages.txt").find("count\n1 1\n2 2\n3 3\n"), std::string::npos)
      << text_of(kept / "messages.txt");
  const std::string drawing = text_of(kept / "graph.dot");
  for (const char* line : {R"("node counter" -> "channel count";)",
                           R"("channel count" -> "node doubler";)", R"([label="doubled\n)"}) {
    EXPECT_NE(drawing.find(line), std::string::npos) << drawing;
  }
}

TEST_F(TestingTest, plug_ins_of_a_plan_run_in_the_test) {
  Robot robot({.plan = plan(), .settings = {"nodes.echo.params.add=5"}});
  robot.watch<Number>("out");
  robot.publish<Number>("in", {37});
  EXPECT_EQ(values(robot.messages<Number>("out")), std::vector<std::int64_t>{42});
  EXPECT_NONFATAL_FAILURE(robot.publish<Number>("nothing", {1}, Duration::from_ms(10)),
                          "no subscriber of 'nothing' within 0.01 s");
}

TEST_F(TestingTest, a_sensor_is_damaged_cut_and_repaired) {
  Robot robot({.plan = plan(), .intercept = {"out"}});
  robot.watch<Number>("out");
  robot.publish<Number>("in", {1});
  robot.damage<Number>("out", [](const Number& n) -> std::optional<Number> {
    if (n.value == 3) return std::nullopt;
    return Number{-n.value};
  });
  robot.publish<Number>("in", {2});
  robot.publish<Number>("in", {3});
  robot.cut("out");
  robot.publish<Number>("in", {4});
  robot.repair("out");
  robot.publish<Number>("in", {5});
  EXPECT_EQ(values(robot.messages<Number>("out")), (std::vector<std::int64_t>{2, -4, 6}));
}

constexpr const char* kTwo =
    "  in: {type: test.Number, subscribers: [echo, other]}\n"
    "  other: {type: test.Number, publishers: [other], subscribers: []}\n";

/// A second node repeats "in" on "other".
std::filesystem::path two_subscribers(const std::filesystem::path& plan) {
  std::string text = text_of(plan);
  const std::string in = "  in: {type: test.Number}\n";
  text.replace(text.find(in), in.size(), kTwo);
  text.replace(text.find("[echo], restart"), 6, "[echo, other]");
  const std::string nodes = "nodes: {";
  text.replace(text.find(nodes + "echo:"), nodes.size(),
               nodes +
                   "other: {plugin: libtest_plugin_echo.so, remap: {out: other}, "
                   "params: {add: 100}}, ");
  std::ofstream(plan) << text;
  return plan;
}

TEST_F(TestingTest, one_of_several_subscribers_loses_its_link) {
  Robot robot({.plan = two_subscribers(plan()), .intercept = {"in:other"}});
  robot.watch<Number>("out");
  robot.watch<Number>("other");
  robot.publish<Number>("in", {1});
  robot.cut("in", "other");
  robot.publish<Number>("in", {2});
  robot.damage<Number>(
      "in", [](const Number& n) { return std::optional(Number{-n.value}); }, "other");
  robot.publish<Number>("in", {3});
  robot.repair("in", "other");
  robot.publish<Number>("in", {4});
  EXPECT_EQ(values(robot.messages<Number>("out")), (std::vector<std::int64_t>{2, 3, 4, 5}));
  EXPECT_EQ(values(robot.messages<Number>("other")), (std::vector<std::int64_t>{101, 97, 104}));
  EXPECT_THROW(robot.cut("in", "echo"), Exception) << "not named in intercept";
  EXPECT_THROW(Robot({.plan = folder_ / "robot.yaml", .intercept = {"in:absent"}}), Exception);
}

TEST_F(TestingTest, a_link_between_processes_is_cut) {
  if (!std::filesystem::exists(TEST_HYPHOS)) GTEST_SKIP() << "this build has no command hyphos";
  Robot robot({.plan = two_subscribers(plan()),
               .lockstep = false,
               .intercept = {"in:other"},
               .command = TEST_HYPHOS});
  const Duration patience = Duration::from_seconds(30);
  robot.watch<Number>("out");
  robot.watch<Number>("other");
  robot.publish<Number>("in", {1}, patience);
  ASSERT_EQ(value(robot.expect<Number>("other", patience)), 101);
  robot.cut("in", "other");
  robot.publish<Number>("in", {2});
  robot.repair("in", "other");
  robot.publish<Number>("in", {3});
  ASSERT_EQ(value(robot.expect<Number>("other", patience)), 103);
  const auto three = [](const Number& n) { return n.value == 4; };
  ASSERT_TRUE(robot.expect<Number>("out", three, patience));
  EXPECT_EQ(values(robot.messages<Number>("out")), (std::vector<std::int64_t>{2, 3, 4}));
}

TEST_F(TestingTest, two_subscribers_of_one_process_are_one_connection) {
  if (!std::filesystem::exists(TEST_HYPHOS)) GTEST_SKIP() << "this build has no command hyphos";
  Robot robot({.plan = two_subscribers(plan()),
               .lockstep = false,
               .strict = false,
               .command = TEST_HYPHOS});
  const Duration patience = Duration::from_seconds(30);
  robot.watch<Number>("out");
  robot.watch<Number>("other");
  robot.publish<Number>("in", {1}, patience);
  EXPECT_EQ(value(robot.expect<Number>("out", patience)), 2);
  EXPECT_EQ(value(robot.expect<Number>("other", patience)), 101);
}

TEST_F(TestingTest, a_channel_that_is_not_intercepted_is_an_error) {
  Robot robot({.plan = plan()});
  EXPECT_THROW(robot.cut("out"), Exception);
  EXPECT_THROW(Robot({.plan = plan(), .intercept = {"in"}}), Exception);
}

TEST_F(TestingTest, a_robot_in_processes_of_its_own) {
  if (!std::filesystem::exists(TEST_HYPHOS)) GTEST_SKIP() << "this build has no command hyphos";
  Robot robot({.plan = plan(), .lockstep = false, .intercept = {"out"}, .command = TEST_HYPHOS});
  const Duration patience = Duration::from_seconds(30);
  robot.watch<Number>("out");
  robot.publish<Number>("in", {1}, patience);
  ASSERT_EQ(value(robot.expect<Number>("out", patience)), 2);
  robot.damage<Number>("out", [](const Number& n) { return std::optional(Number{-n.value}); });
  robot.publish<Number>("in", {1});
  ASSERT_EQ(value(robot.expect<Number>("out", patience)), -2);
}

TEST_F(TestingTest, a_fault_of_a_process_keeps_the_logs) {
  if (!std::filesystem::exists(TEST_HYPHOS)) GTEST_SKIP() << "this build has no command hyphos";
  {
    std::ofstream file(folder_ / "robot.yaml");
    file << "hyphos: 1\nnodes: {bad: {plugin: " << TEST_PLUGIN_DIR
         << "/libtest_plugin_throwing.so}}\n";
  }
  const auto failures = folder_ / "failures";
  ::testing::TestPartResultArray found;
  {
    const ::testing::ScopedFakeTestPartResultReporter reporter(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &found);
    const Robot robot({.plan = folder_ / "robot.yaml",
                       .lockstep = false,
                       .command = TEST_HYPHOS,
                       .failures = failures});
  }
  ASSERT_GE(found.size(), 1);
  const auto kept = failures / "TestingTest.a_fault_of_a_process_keeps_the_logs";
  for (const char* file : {"run.log", "graph.dot", "messages.txt"}) {
    EXPECT_TRUE(std::filesystem::exists(kept / file)) << file;
  }
  EXPECT_NE(std::string(found.GetTestPartResult(0).message()).find("process 'main' failed"),
            std::string::npos)
      << found.GetTestPartResult(0).message();
}

}  // namespace
}  // namespace hyphos
