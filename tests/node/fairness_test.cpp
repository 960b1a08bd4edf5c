// Several processes publish faster than one callback takes: each of them gets through.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/node/harness.hpp"

namespace hyphos::test {
namespace {

constexpr int kTalkers = 6;

std::string plan_for(const std::string& transport) {
  std::string processes = "processes: {ear: {nodes: [listener]}";
  std::string nodes = "nodes: {listener: {}";
  std::string talkers;
  for (int i = 0; i < kTalkers; ++i) {
    const std::string name = "talker" + std::to_string(i);
    processes += ", p" + name + ": {nodes: [" + name + "]}";
    nodes += ", " + name + ": {}";
    talkers += (i == 0 ? "" : ", ") + name;
  }
  return "hyphos: 1\nrobot: test\n" + processes + "}\n" + nodes +
         "}\nchannels:\n  n: {publishers: [" + talkers +
         "], subscribers: [listener], reliability: reliable, depth: 4, transport: " + transport +
         "}\n";
}

class Fairness : public ::testing::TestWithParam<const char*> {};

TEST_P(Fairness, EveryPublisherHasItsTurnAtAQueueThatIsAlwaysFull) {
  constexpr std::uint64_t kEnough = 300 * kTalkers;
  const PlanFile file(plan_for(GetParam()));
  const std::string domain = fresh_domain();
  const auto open = [&](const std::string& process) {
    RuntimeOptions options = file.options(process);
    options.domain = domain;
    return Runtime::open(options).or_throw();
  };
  std::array<std::atomic<std::uint64_t>, kTalkers> heard{};
  std::atomic<std::uint64_t> total{0};
  std::atomic<bool> over{false};
  Runtime ear = open("ear");
  const Node listener = ear.node("listener").or_throw();
  listener.subscribe<Number>("n", serial, [&](const Message<Number>& m) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(100);
    while (std::chrono::steady_clock::now() < until) {
    }
    ++heard.at(static_cast<std::size_t>(m->value));
    ++total;
  });
  std::vector<Runtime> runtimes;
  std::vector<Node> talkers;
  std::vector<Publisher<Number>> publishers;
  for (int i = 0; i < kTalkers; ++i) {
    const std::string name = "talker" + std::to_string(i);
    runtimes.push_back(open("p" + name));
    talkers.push_back(runtimes.back().node(name).or_throw());
    publishers.push_back(talkers.back().publisher<Number>("n"));
  }
  ASSERT_TRUE(eventually([&] {
    return std::ranges::all_of(publishers, [](const auto& p) { return p.listeners() == 1; });
  }));
  std::vector<std::thread> threads;
  for (int i = 0; i < kTalkers; ++i) {
    threads.emplace_back([&, i] {
      while (!over) publishers[static_cast<std::size_t>(i)].publish({i});
    });
  }
  EXPECT_TRUE(eventually([&] { return total >= kEnough; }));
  std::vector<std::uint64_t> shares;
  for (const auto& one : heard) shares.push_back(one);
  over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(std::ranges::min(shares), kEnough / kTalkers / 4) << ::testing::PrintToString(shares);
}

INSTANTIATE_TEST_SUITE_P(Transports, Fairness, ::testing::Values("shm", "zmq"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace hyphos::test
