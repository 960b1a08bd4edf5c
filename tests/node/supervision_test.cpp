#include <gtest/gtest.h>

#include "hyphos/inspect.hpp"
#include "tests/node/harness.hpp"

namespace hyphos::test {
namespace {

ProcessInfo look(const std::string& domain) {
  const auto processes = inspect(domain).or_throw();
  return processes.empty() ? ProcessInfo{} : processes.front();
}

std::string plan_text(const std::string& domain, const std::string& health) {
  return "hyphos: 1\ndomain: " + domain + "\nprocesses: {p: {threads: 1" + health + "}}\n" +
         "nodes: {n: {process: p}}\n";
}

TEST(Supervised, a_process_is_ready_when_it_spins) {
  const std::string domain = fresh_domain();
  Runtime runtime = open_runtime(domain);
  EXPECT_EQ(look(domain).state, ProcessState::starting);
  std::thread spinning([&] { runtime.spin(); });
  EXPECT_TRUE(eventually([&] { return look(domain).state == ProcessState::ready; }));
  runtime.request_stop();
  spinning.join();
}

TEST(Supervised, the_heartbeat_stops_with_the_thread_pool) {
  const std::string domain = fresh_domain();
  const PlanFile file(plan_text(domain, ", health: {heartbeat_ms: 20}"));
  const Runtime runtime = Runtime::open(file.options("p")).or_throw();
  const std::int64_t first = look(domain).heartbeat_ns;
  EXPECT_GT(first, 0);
  EXPECT_TRUE(eventually([&] { return look(domain).heartbeat_ns > first; }));

  Node node = Runtime(runtime).node("n").or_throw();
  auto publisher = node.publisher<Number>("number");
  std::atomic<bool> stuck{false};
  std::atomic<bool> release{false};
  const auto subscription = node.subscribe<Number>("number", hyphos::serial, [&](const auto&) {
    stuck = true;
    while (!release) std::this_thread::yield();
  });
  publisher.publish(Number{});
  ASSERT_TRUE(eventually([&] { return stuck.load(); }));
  // The pool's only thread hangs in the callback, and all earlier heartbeats were seen. The
  // heartbeats of another runtime show that time passes.
  const std::int64_t last = look(domain).heartbeat_ns;
  const std::string other = fresh_domain();
  const PlanFile other_file(plan_text(other, ", health: {heartbeat_ms: 20}"));
  const Runtime beating = Runtime::open(other_file.options("p")).or_throw();
  for (int beats = 0; beats < 5; ++beats) {
    const std::int64_t before = look(other).heartbeat_ns;
    EXPECT_TRUE(eventually([&] { return look(other).heartbeat_ns > before; }));
  }
  EXPECT_EQ(look(domain).heartbeat_ns, last);
  release = true;
  EXPECT_TRUE(eventually([&] { return look(domain).heartbeat_ns > last; }));
  node.close();
}

TEST(Supervised, there_is_no_heartbeat_unless_the_plan_enables_it) {
  const std::string domain = fresh_domain();
  const PlanFile file(plan_text(domain, ""));
  const Runtime runtime = Runtime::open(file.options("p")).or_throw();
  EXPECT_EQ(look(domain).heartbeat_ns, 0);
}

TEST(Supervised, an_offline_runtime_lists_its_endpoints) {
  Runtime runtime = Runtime::open(offline_options()).or_throw();
  const Node node = runtime.node("n").or_throw();
  const auto publisher = node.publisher<Number>("number");
  const auto ends = runtime.endpoints();
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].channel, "number");
  EXPECT_EQ(ends[0].node, "n");
  EXPECT_TRUE(ends[0].is_publisher);
}

}  // namespace
}  // namespace hyphos::test
