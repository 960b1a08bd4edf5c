// The periodic reports of a node about its components.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tests/node/harness.hpp"
#include <hyphos/msgs/diagnostics.hpp>

namespace hyphos {
namespace {

using msgs::DiagnosticArray;
using msgs::DiagnosticStatus;
using test::eventually;
using test::offline_options;

/// Reports far apart, so that only publish() of the test makes one.
DiagnosticsOptions seldom() { return {.period = Duration::from_ms(3'600'000)}; }

class Received {
 public:
  explicit Received(const Node& node, const std::string& channel = "diagnostics") {
    node.subscribe<DiagnosticArray>(channel, serial, [this](const auto& message) {
      const std::lock_guard lock(mutex_);
      all_.push_back(*message);
    });
  }
  [[nodiscard]] std::size_t count() {
    const std::lock_guard lock(mutex_);
    return all_.size();
  }
  /// Waits for message number `count` and returns it.
  DiagnosticArray wait(std::size_t count) {
    EXPECT_TRUE(eventually([&] { return this->count() >= count; }));
    const std::lock_guard lock(mutex_);
    return all_.at(count - 1);
  }

 private:
  std::mutex mutex_;
  std::vector<DiagnosticArray> all_;
};

DiagnosticStatus made(const std::function<void(DiagnosticReport&)>& fill) {
  DiagnosticReport report("arm");
  fill(report);
  return std::move(report).take();
}

TEST(Diagnostics, a_report_has_the_worst_level_and_its_messages) {
  const auto status = made(
      [](DiagnosticReport& report) { report.ok("fine").warn("hot").warn("noisy").ok("late"); });
  EXPECT_EQ(status.level(), DiagnosticStatus::WARN);
  EXPECT_EQ(status.message(), "hot; noisy");
  EXPECT_EQ(made([](DiagnosticReport& report) { report.error("off").stale("silent"); }).level(),
            DiagnosticStatus::STALE);
}

TEST(Diagnostics, a_report_without_a_level_is_an_error) {
  const auto status = made([](DiagnosticReport& report) { report.value("n", 1); });
  EXPECT_EQ(status.level(), DiagnosticStatus::ERROR);
  EXPECT_EQ(status.message(), "the check reported no level");
}

TEST(Diagnostics, values_are_texts_numbers_and_bools) {
  const auto status = made([](DiagnosticReport& report) {
    report.ok("").value("port", std::string("/dev/a")).value("unit", "V").value("volts", 21.5);
    report.value("count", -3).value("big", std::uint64_t{1} << 63).value("on", true);
  });
  std::vector<std::string> texts;
  for (const auto& pair : status.values()) texts.push_back(pair.key() + "=" + pair.value());
  EXPECT_EQ(texts, (std::vector<std::string>{"port=/dev/a", "unit=V", "volts=21.5", "count=-3",
                                             "big=9223372036854775808", "on=true"}));
}

TEST(Diagnostics, all_checks_are_reported_each_period) {
  const Node node = Node::open("driver", offline_options()).or_throw();
  Received received(node);
  const Diagnostics diagnostics(
      node, {.period = Duration::from_ms(10), .hardware_id = "SN 12", .channel = "diagnostics"});
  diagnostics.add("left", [](DiagnosticReport& report) { report.ok("turns"); });
  diagnostics.add("right", [](DiagnosticReport& report) { report.warn("hot"); });
  std::size_t at = 1;  // the first message may come before the second check
  while (received.wait(at).status_size() < 2) ++at;
  for (const std::size_t number : {at, at + 1}) {
    const DiagnosticArray message = received.wait(number);
    ASSERT_EQ(message.status_size(), 2);
    EXPECT_GT(message.header().stamp_ns(), 0);
    EXPECT_EQ(message.status(0).name(), "driver: left");
    EXPECT_EQ(message.status(1).name(), "driver: right");
    EXPECT_EQ(message.status(1).level(), DiagnosticStatus::WARN);
    EXPECT_EQ(message.status(1).hardware_id(), "SN 12");
  }
  diagnostics.close();
}

TEST(Diagnostics, no_check_means_no_message) {
  const Node node = Node::open("driver", offline_options()).or_throw();
  Received received(node);
  const Diagnostics diagnostics(node, seldom());
  diagnostics.publish();
  diagnostics.add("arm", [](DiagnosticReport& report) { report.ok("first"); });
  diagnostics.publish();
  EXPECT_EQ(received.wait(1).status(0).message(), "first");
}

TEST(Diagnostics, a_check_is_replaced_and_removed) {
  const Node node = Node::open("driver", offline_options()).or_throw();
  Received received(node);
  const Diagnostics diagnostics(node, seldom());
  diagnostics.add("arm", [](DiagnosticReport& report) { report.ok("old"); });
  diagnostics.add("leg", [](DiagnosticReport& report) { report.ok("leg"); });
  diagnostics.add("arm", [](DiagnosticReport& report) { report.ok("new"); });
  diagnostics.publish();
  const DiagnosticArray both = received.wait(1);
  ASSERT_EQ(both.status_size(), 2);
  EXPECT_EQ(both.status(0).message(), "new");
  diagnostics.remove("arm");
  diagnostics.publish();
  const DiagnosticArray one = received.wait(2);
  ASSERT_EQ(one.status_size(), 1);
  EXPECT_EQ(one.status(0).name(), "driver: leg");
}

TEST(Diagnostics, an_exception_is_an_error_and_hides_no_other_check) {
  const Node node = Node::open("driver", offline_options()).or_throw();
  Received received(node);
  const Diagnostics diagnostics(node, seldom());
  diagnostics.add("arm", [](DiagnosticReport& report) {
    report.ok("fine").value("n", 1);
    throw std::runtime_error("no reply");
  });
  diagnostics.add("leg", [](DiagnosticReport& report) { report.ok("walks"); });
  EXPECT_THROW(diagnostics.publish(), std::runtime_error);
  const DiagnosticArray message = received.wait(1);
  ASSERT_EQ(message.status_size(), 2);
  EXPECT_EQ(message.status(0).level(), DiagnosticStatus::ERROR);
  EXPECT_EQ(message.status(0).message(), "no reply");
  EXPECT_EQ(message.status(1).message(), "walks");
  EXPECT_THROW(diagnostics.publish(), std::runtime_error);  // and it goes on
  received.wait(2);
}

TEST(Diagnostics, publish_in_a_check_has_no_effect) {
  const Node node = Node::open("driver", offline_options()).or_throw();
  Received received(node);
  std::optional<Diagnostics> diagnostics(std::in_place, node, seldom());
  std::atomic<int> runs = 0;
  diagnostics->add("arm", [&](DiagnosticReport& report) {
    ++runs;
    diagnostics->publish();
    report.ok("fine");
  });
  diagnostics->publish();
  received.wait(1);
  EXPECT_EQ(runs, 1);
}

TEST(Diagnostics, the_channel_can_be_chosen) {
  const Node node = Node::open("driver", offline_options()).or_throw();
  Received received(node, "left/diagnostics");
  DiagnosticsOptions options = seldom();
  options.channel = "left/diagnostics";
  const Diagnostics diagnostics(node, options);
  diagnostics.add("arm", [](DiagnosticReport& report) { report.ok("fine"); });
  diagnostics.publish();
  EXPECT_EQ(received.wait(1).status(0).name(), "driver: arm");
}

}  // namespace
}  // namespace hyphos
