// Several processes publish faster than one callback consumes, and each of them gets through. No
// callback delays another, on any thread.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <numeric>
#include <random>
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

TEST_P(Fairness, every_publisher_gets_through_an_always_full_queue) {
  constexpr std::uint64_t kEnough = 300 * kTalkers;
  const PlanFile file(plan_for(GetParam()));
  const std::string domain = fresh_domain();
  const auto open = [&](const std::string& process) {
    RuntimeOptions options = file.options(process);
    options.domain = domain;
    return Runtime::open(options).or_throw();
  };
  std::array<std::atomic<std::uint64_t>, kTalkers> heard{};
  std::atomic<bool> over{false};
  Runtime ear = open("ear");
  const Node listener = ear.node("listener").or_throw();
  listener.subscribe<Number>("n", serial, [&](const Message<Number>& m) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(100);
    while (std::chrono::steady_clock::now() < until) {
    }
    ++heard.at(static_cast<std::size_t>(m->value));
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
  // A machine that stalls one thread delays its share, which grows again afterwards.
  std::vector<std::uint64_t> shares(kTalkers);
  EXPECT_TRUE(eventually([&] {
    std::ranges::copy(heard, shares.begin());
    const auto all = std::accumulate(shares.begin(), shares.end(), std::uint64_t{0});
    return all >= kEnough && std::ranges::min(shares) >= all / kTalkers / 4;
  })) << ::testing::PrintToString(shares);
  over = true;
  for (std::thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(Transports, Fairness, ::testing::Values("shm", "zmq"),
                         [](const auto& instance) { return std::string(instance.param); });

struct TwoProcesses {
  const std::string domain = fresh_domain();
  Runtime mouth = open_runtime(domain, "mouth");
  Runtime ear = open_runtime(domain, "ear");
  const Node talker = mouth.node("talker").or_throw();
  const Node listener = ear.node("listener").or_throw();
};

// A leader runs the callback itself for an isolated message. The next message may arrive at any
// time around then and must wake a follower.
TEST(LongCallback, a_long_callback_delays_no_other_message) {
  const TwoProcesses both;
  const Node& talker = both.talker;
  const Node& listener = both.listener;
  std::atomic<int> quick{0};
  std::atomic<int> slow{0};
  listener.subscribe<Number>("quick", serial, [&](const Message<Number>& m) { quick = m->value; });
  listener.subscribe<Number>("slow", serial, [&](const Message<Number>& m) {
    if (eventually([&] { return quick == m->value; }, std::chrono::seconds(10))) slow = m->value;
  });
  const auto say_quick = talker.publisher<Number>("quick");
  const auto say_slow = talker.publisher<Number>("slow");
  ASSERT_TRUE(eventually([&] { return say_quick.listeners() + say_slow.listeners() == 2; }));
  std::minstd_rand random(1);
  for (int i = 1; i <= 1000; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    say_slow.publish({i});
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::nanoseconds(random() % 60'000);
    while (std::chrono::steady_clock::now() < until) {
    }
    say_quick.publish({i});
    ASSERT_TRUE(eventually([&] { return slow == i; }, std::chrono::seconds(15))) << i;
  }
}

// A leader may run a callback itself, but not when it has another callback to run first.
TEST(InlineCallback, an_inline_callback_delays_no_other) {
  const TwoProcesses both;
  const Node& talker = both.talker;
  const Node& listener = both.listener;
  std::atomic<int> heard{0};
  std::atomic<int> answered{0};
  std::atomic<int> waited{0};
  listener.subscribe<Number>("n", serial, [&](const Message<Number>& m) { heard = m->value; });
  listener.subscribe<Number>("echo", serial,
                             [&](const Message<Number>& m) { answered = m->value; });
  const auto echo = listener.publisher<Number>("echo");
  listener.subscribe<Number>("n", inline_, [&](const Message<Number>& m) {
    echo.publish(*m);
    if (eventually([&] { return heard == m->value && answered == m->value; },
                   std::chrono::seconds(10))) {
      ++waited;
    }
  });
  const auto publisher = talker.publisher<Number>("n");
  ASSERT_TRUE(eventually([&] { return publisher.listeners() == 1; }));
  constexpr int kMessages = 50;
  for (int i = 1; i <= kMessages; ++i) {
    publisher.publish({i});
    ASSERT_TRUE(eventually([&] { return waited == i; }, std::chrono::seconds(15))) << i;
  }
}

}  // namespace
}  // namespace hyphos::test
