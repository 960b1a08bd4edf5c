// Log lines of nodes and of Hyphos itself on the channel `log`. Protobuf decodes the messages, so
// that the hand-written encoder is checked against log.proto.
#include "base/log.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "node/log/log_line.hpp"
#include "tests/node/harness.hpp"
#include <hyphos/msgs/log.pb.h>

namespace hyphos {
namespace {

using msgs::Log;
using test::eventually;
using test::fresh_domain;
using test::open_runtime;
using test::PlanFile;

/// The lines that a subscriber of `log` received.
class Lines {
 public:
  void operator()(const Message<Log>& message) {
    const std::lock_guard lock(mutex_);
    all_.push_back(*message);
  }
  [[nodiscard]] std::vector<Log> all() {
    const std::lock_guard lock(mutex_);
    return all_;
  }
  [[nodiscard]] std::optional<Log> find(const std::string& text) {
    for (Log& one : all()) {
      if (one.msg().find(text) != std::string::npos) return one;
    }
    return std::nullopt;
  }

 private:
  std::mutex mutex_;
  std::vector<Log> all_;
};

// The first line of a process waits a tenth of a second for subscribers. If the machine stalls
// meanwhile, the line is lost, and another process must write it.
constexpr int kMostTimes = 20;
constexpr std::chrono::seconds kWhile{3};

void hear(const Node& node, Lines& lines) {
  SubscriptionOptions deep;
  deep.policy = Policy{.depth = 4096};
  node.subscribe<Log>("log", deep, [&lines](const Message<Log>& m) { lines(m); });
}

struct Point {
  [[nodiscard]] std::string to_string() const { return "(1, 2)"; }
};

class LogChannelTest : public testing::Test {
 protected:
  void SetUp() override { testing::internal::CaptureStderr(); }
  void TearDown() override {
    testing::internal::GetCapturedStderr();
    log::set_level(log::Level::info);
  }
  const std::string domain_ = fresh_domain();
  Lines lines_;
};

TEST_F(LogChannelTest, a_line_reaches_another_process_with_all_its_fields) {
  const Node listener = open_runtime(domain_, "ears").node("listener").or_throw();
  hear(listener, lines_);
  std::optional<Node> node;
  std::int64_t before = 0;
  unsigned line = 0;
  for (int i = 0; i < kMostTimes && !lines_.find("battery"); ++i) {
    node.reset();
    node = open_runtime(domain_, "body").node("mapper").or_throw();
    if (before == 0) before = node->clock().now().ns;
    node->log().warn("battery at ", 11.5, " V, ", 3, ' ', true, " ", std::string("at "), Point{});
    line = __LINE__ - 1;
    (void)eventually([&] { return lines_.find("battery").has_value(); }, kWhile);
  }
  ASSERT_TRUE(lines_.find("battery"));
  const Log got = *lines_.find("battery");
  EXPECT_EQ(got.msg(), "battery at 11.5 V, 3 true at (1, 2)");
  EXPECT_EQ(got.level(), Log::WARN);
  EXPECT_EQ(got.name(), "mapper");
  EXPECT_EQ(got.file(), "log_test.cpp");
  EXPECT_EQ(got.line(), line);
  EXPECT_EQ(got.function(), "TestBody");
  EXPECT_GE(got.stamp_ns(), before);
  EXPECT_LE(got.stamp_ns(), node->clock().now().ns);
}

TEST_F(LogChannelTest, every_level_has_its_number) {
  const Node node = open_runtime(domain_).node("a").or_throw();
  hear(node, lines_);
  const Logger log = node.log();
  log.set_level(LogLevel::debug);
  log.debug("0");
  log.info("1");
  log.warn("2");
  log.error("3");
  log.fatal("4");
  ASSERT_TRUE(eventually([&] { return lines_.all().size() == 5; }));
  std::vector<int> levels;
  for (const Log& one : lines_.all()) levels.push_back(one.level());
  EXPECT_EQ(levels, (std::vector<int>{Log::DEBUG, Log::INFO, Log::WARN, Log::ERROR, Log::FATAL}));
}

TEST_F(LogChannelTest, below_the_level_no_text_is_formatted) {
  const Node node = open_runtime(domain_).node("a").or_throw();
  hear(node, lines_);
  struct Costly {
    int& made;
    [[nodiscard]] std::string to_string() const { return std::to_string(++made); }
  };
  int made = 0;
  node.log().debug("not ", Costly{made});
  EXPECT_EQ(made, 0);
  EXPECT_FALSE(node.log().enabled(LogLevel::debug));
  node.log().set_level(LogLevel::error);
  node.log().warn("not ", Costly{made});
  EXPECT_EQ(made, 0);
  node.log().set_level(std::nullopt);
  node.log().info("yes ", Costly{made});
  EXPECT_EQ(made, 1);
  ASSERT_TRUE(eventually([&] { return !lines_.all().empty(); }));
  EXPECT_EQ(lines_.all()[0].msg(), "yes 1");
}

TEST_F(LogChannelTest, the_plan_sets_the_level_of_a_process) {
  const PlanFile plan(
      "hyphos: 1\nrobot: r\nprocesses: {main: {nodes: [a], log_level: error}}\n"
      "nodes: {a: {executable: x}}\n");
  const Node node = Runtime::open(plan.options("main")).or_throw().node("a").or_throw();
  EXPECT_FALSE(node.log().enabled(LogLevel::warn));
  EXPECT_TRUE(node.log().enabled(LogLevel::error));
}

TEST_F(LogChannelTest, lines_of_hyphos_itself_are_published_too) {
  std::optional<Node> node;
  for (int i = 0; i < kMostTimes && !lines_.find("before"); ++i) {
    node.reset();
    Runtime runtime = open_runtime(domain_, "body");
    log::warn("shm", "before there was a node");
    node = runtime.node("a").or_throw();
    hear(*node, lines_);
    (void)eventually([&] { return lines_.find("before").has_value(); }, kWhile);
  }
  ASSERT_TRUE(lines_.find("before"));
  EXPECT_EQ(lines_.find("before")->name(), "body.shm");
  node->subscribe<msgs::Log>("log", serial, [](const auto&) { throw std::runtime_error("oh"); });
  node->log().info("whoever hears this throws");
  ASSERT_TRUE(eventually([&] { return lines_.find("threw: oh").has_value(); }));
  EXPECT_EQ(lines_.find("threw: oh")->level(), Log::ERROR);
}

TEST_F(LogChannelTest, the_first_runtime_publishes_lines_of_hyphos) {
  Lines second_lines;
  const Node first = open_runtime(domain_, "one").node("a").or_throw();
  const Node second = open_runtime(fresh_domain(), "two").node("b").or_throw();
  hear(first, lines_);
  hear(second, second_lines);
  log::warn("shm", "once");
  second.log().info("own");
  ASSERT_TRUE(eventually([&] { return lines_.find("once") && second_lines.find("own"); }));
  EXPECT_FALSE(second_lines.find("once"));
}

TEST_F(LogChannelTest, a_slow_subscriber_blocks_no_writer_and_losses_are_counted) {
  std::mutex gate;
  gate.lock();
  const Node node = open_runtime(domain_).node("a").or_throw();
  // Called in the publishing thread: the slowest possible subscriber.
  node.subscribe<Log>("log", inline_, [&](const Message<Log>& m) {
    const std::lock_guard wait(gate);
    lines_(m);
  });
  constexpr int kLines = 3000;
  for (int i = 0; i < kLines; ++i) node.log().info("line ", i);  // would not end if it waited
  gate.unlock();
  ASSERT_TRUE(eventually([&] { return lines_.find("are missing here").has_value(); }));
  node.log().info("last");
  ASSERT_TRUE(eventually([&] { return lines_.find("last").has_value(); }));
  int lost = 0;
  int notes = 0;  // more than one if the thread started late
  for (const Log& one : lines_.all()) {
    if (one.msg().find("are missing here") == std::string::npos) continue;
    lost += std::stoi(one.msg());
    ++notes;
  }
  EXPECT_GE(lost, 1000);
  EXPECT_EQ(static_cast<int>(lines_.all().size()), kLines - lost + notes + 1);
}

TEST_F(LogChannelTest, every_passes_one_line_and_counts_the_suppressed_ones) {
  const Node node = open_runtime(domain_).node("a").or_throw();
  hear(node, lines_);
  const Logger log = node.log();
  const auto speak = [&](Duration period) { log.every(period).warn("slow"); };
  for (int i = 0; i < 5; ++i) speak(Duration::from_ms(1'000'000));
  for (int i = 0; i < 5; ++i) log.once().warn("first");
  for (int i = 0; i < 2; ++i) log.every(Duration{0}).warn("each");
  log.info("end");
  ASSERT_TRUE(eventually([&] { return lines_.find("end").has_value(); }));
  std::vector<std::string> texts;
  for (const Log& one : lines_.all()) texts.push_back(one.msg());
  EXPECT_EQ(texts, (std::vector<std::string>{"slow", "first", "each", "each", "end"}));
  std::uint64_t refused = 0;
  const auto again = [&] {
    const Logger made = log.every(Duration::from_ms(20));
    refused += made.enabled(LogLevel::warn) ? 0 : 1;
    made.warn("again");
    return lines_.find("left out").has_value();
  };
  ASSERT_TRUE(eventually(again));
  EXPECT_GT(refused, 0U);
}

TEST_F(LogChannelTest, the_last_lines_before_the_end_are_sent) {
  const Node listener = open_runtime(domain_, "ears").node("listener").or_throw();
  hear(listener, lines_);
  {
    const Node node = open_runtime(domain_, "body").node("b").or_throw();
    ASSERT_TRUE(eventually([&] {
      node.log().info("opens the channel");
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      return lines_.find("opens").has_value();
    }));
    for (int i = 0; i < 50; ++i) node.log().info("line ", i);
    node.log().fatal("the end");
  }
  ASSERT_TRUE(eventually([&] { return lines_.find("the end").has_value(); }));
  const std::vector<Log> all = lines_.all();
  EXPECT_EQ(std::count_if(all.begin(), all.end(),
                          [](const Log& one) { return one.msg() != "opens the channel"; }),
            51);
}

TEST_F(LogChannelTest, a_closed_node_writes_only_to_stderr) {
  Runtime runtime = open_runtime(domain_);
  const Node a = runtime.node("a").or_throw();
  const Node b = runtime.node("b").or_throw();
  hear(a, lines_);
  const Logger log = b.log();
  log.info("open");
  b.close();
  log.info("closed");
  a.log().info("after");
  ASSERT_TRUE(eventually([&] { return lines_.find("after").has_value(); }));
  EXPECT_TRUE(lines_.find("open"));
  EXPECT_FALSE(lines_.find("closed"));
  for (const EndpointInfo& end : runtime.endpoints()) {
    EXPECT_FALSE(end.is_publisher && end.node == "b") << end.channel;
  }
}

TEST_F(LogChannelTest, a_process_without_log_lines_opens_no_log_channel) {
  Runtime runtime = open_runtime(domain_);
  const Node node = runtime.node("a").or_throw();
  node.log().debug("below the level");
  EXPECT_TRUE(runtime.channels().empty());
}

TEST_F(LogChannelTest, a_log_channel_of_another_type_leaves_only_stderr) {
  const Node node = open_runtime(domain_).node("a").or_throw();
  const auto other = node.publisher<int>("log");
  node.log().error("still on stderr");
  node.log().error("and this");
  // Ends the runtime's thread, so that all lines are written.
  const_cast<Node&>(node) = open_runtime(fresh_domain()).node("other").or_throw();
  const std::string text = testing::internal::GetCapturedStderr();
  testing::internal::CaptureStderr();
  EXPECT_NE(text.find("ERROR a: still on stderr\n"), std::string::npos) << text;
  EXPECT_NE(text.find("lines are written only to stderr: "), std::string::npos) << text;
  EXPECT_EQ(text.find("only to", text.find("only to") + 1), std::string::npos) << text;
}

TEST_F(LogChannelTest, in_lockstep_the_writer_publishes_its_line) {
  const PlanFile plan(
      "hyphos: 1\nrobot: r\nprocesses: {main: {nodes: [a]}}\nnodes: {a: {executable: x}}\n");
  RuntimeOptions options = plan.options("main");
  options.lockstep = true;
  Runtime runtime = Runtime::open(options).or_throw();
  const Node node = runtime.node("a").or_throw();
  hear(node, lines_);
  log::warn("shm", "depends on the machine");
  runtime.settle([&] {
    for (int i = 0; i < 100; ++i) node.log().info(std::to_string(i));
  });
  ASSERT_EQ(lines_.all().size(), 100U);
  EXPECT_EQ(lines_.all()[99].msg(), "99");
}

TEST(LogLine, text_is_bounded_and_valid) {
  EXPECT_EQ(log::bounded_text("grün €", 100), "grün €");
  EXPECT_EQ(log::bounded_text("abcdef", 4), "abcd… 2 more bytes");
  EXPECT_EQ(log::bounded_text("aü", 2), "a… 2 more bytes");
  EXPECT_EQ(log::bounded_text("\xff\xc3", 9), "??");
  EXPECT_EQ(log::bounded_text("\xc0\xaf", 9), "??");       // overlong
  EXPECT_EQ(log::bounded_text("\xed\xa0\x80", 9), "???");  // a surrogate
  EXPECT_EQ(log::bounded_text("\xf4\x90\x80\x80", 9), "????");
  EXPECT_EQ(log::bounded_text("\xf0\x9f\xa4\x96", 9), "\xf0\x9f\xa4\x96");
}

TEST(LogLine, protobuf_decodes_a_line) {
  log::Line line;
  line.stamp_ns = -1;
  line.level = log::Level::fatal;
  line.name = "n";
  line.text = std::string(5000, 'x');
  line.file = "f";
  line.function = "g";
  line.line = UINT32_MAX;
  const Buffer bytes = log::encode(line);
  Log read;
  ASSERT_TRUE(read.ParseFromArray(bytes.bytes().data(), static_cast<int>(bytes.size())));
  EXPECT_EQ(read.stamp_ns(), -1);
  EXPECT_EQ(read.level(), Log::FATAL);
  EXPECT_EQ(read.name() + read.file() + read.function(), "nfg");
  EXPECT_EQ(read.msg().size(), 5000U);
  EXPECT_EQ(read.line(), UINT32_MAX);
  EXPECT_EQ(log::line_type(), type_support<Log>().id);
}

}  // namespace
}  // namespace hyphos
