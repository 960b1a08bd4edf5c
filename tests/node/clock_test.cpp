// Simulated time over channels, between runtimes in a separate domain.
#include <gtest/gtest.h>

#include <cmath>

#include "hyphos/inspect.hpp"
#include "tests/node/harness.hpp"

namespace hyphos::test {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr Time kStart{5'000'000 * kMs};

Runtime open_sim(const std::string& domain, const std::string& process) {
  RuntimeOptions options;
  options.domain = domain;
  options.process = process;
  options.clock = ClockMode::sim;
  return Runtime::open(options).or_throw();
}

SimTime paused_time(const Node& node) {
  SimTimeOptions options;
  options.start = kStart;
  options.paused = true;
  return SimTime::open(node, options).or_throw();
}

bool at(const Clock& clock, Time time) {
  return eventually([&] { return clock.now() == time; });
}

TEST(SimTime, steps_reach_two_processes_and_fire_timers_exactly) {
  Arrivals calls_a;
  Arrivals calls_b;
  const std::string domain = fresh_domain();
  Runtime a = open_sim(domain, "a");
  Runtime b = open_sim(domain, "b");
  const Node in_a = a.node("in_a").or_throw();
  const Node in_b = b.node("in_b").or_throw();
  const Timer timer_a = in_a.every(Duration::from_ms(10), [&] { calls_a.add(); });
  const Timer timer_b = in_b.every(Duration::from_ms(25), [&] { calls_b.add(); });
  Runtime c = open_runtime(domain, "c");
  SimTime time = paused_time(c.node("time").or_throw());
  ASSERT_TRUE(at(in_a.clock(), kStart));
  ASSERT_TRUE(at(in_b.clock(), kStart));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(time.step(Duration::from_ms(5)).ok());
  ASSERT_TRUE(time.step(Duration::from_ms(900)).ok());
  ASSERT_TRUE(calls_a.wait_for(100));
  ASSERT_TRUE(calls_b.wait_for(40));
  // Any extra call would arrive before the calls of the next step.
  ASSERT_TRUE(time.step(Duration::from_ms(50)).ok());
  ASSERT_TRUE(calls_a.wait_for(105));
  ASSERT_TRUE(calls_b.wait_for(42));
  timer_a.close();
  timer_b.close();
  EXPECT_EQ(calls_a.count(), 105U);
  EXPECT_EQ(calls_b.count(), 42U);
  EXPECT_EQ(timer_a.skipped() + timer_b.skipped(), 0U);
  EXPECT_EQ(in_a.clock().elapsed().ns, 1'050 * kMs);
  EXPECT_EQ(in_b.clock().base(), kStart);
}

TEST(SimTime, time_runs_at_its_speed) {
  const std::string domain = fresh_domain();
  Runtime a = open_sim(domain, "a");
  const Node node = a.node("node").or_throw();
  Runtime c = open_runtime(domain, "c");
  SimTimeOptions options;
  options.start = kStart;
  options.speed = 100;
  const Time real_start = monotonic_now();
  const SimTime time = SimTime::open(c.node("time").or_throw(), options).or_throw();
  ASSERT_TRUE(node.clock().sleep_until(kStart + Duration::from_ms(5'000)));
  // It cannot have run faster: 5 s of simulated time take 50 ms. The machine may make it slower.
  EXPECT_GE((monotonic_now() - real_start).ns, 49 * kMs);
  EXPECT_EQ(node.clock().speed(), 100);
  EXPECT_EQ((node.clock().now() - kStart).ns % kMs, 0) << "ticks stay on their grid";
}

TEST(SimTime, a_late_process_gets_the_paused_time) {
  const std::string domain = fresh_domain();
  Runtime c = open_runtime(domain, "c");
  SimTime time = paused_time(c.node("time").or_throw());
  ASSERT_TRUE(time.step(Duration::from_ms(123)).ok());
  Runtime late = open_sim(domain, "late");
  ASSERT_TRUE(at(late.clock(), kStart + Duration::from_ms(123)));
  EXPECT_TRUE(late.clock().paused());
  time.resume();
  ASSERT_TRUE(eventually([&] { return late.clock().now() > kStart + Duration::from_ms(200); }));
  time.pause();
  const Time stands = time.now();
  ASSERT_TRUE(at(late.clock(), stands));
  EXPECT_EQ(time.now(), stands);
}

TEST(SimTime, a_jump_back_is_reported_and_timers_continue_from_there) {
  Arrivals jumps;
  Arrivals calls;
  const std::string domain = fresh_domain();
  Runtime a = open_sim(domain, "a");
  const Node node = a.node("node").or_throw();
  node.on_clock_jump([&](const ClockJump& jump) { jumps.add(jump.delta().ns); });
  node.every(Duration::from_ms(10), [&] { calls.add(); });
  Runtime c = open_runtime(domain, "c");
  SimTime time = paused_time(c.node("time").or_throw());
  ASSERT_TRUE(jumps.wait_for(1));
  ASSERT_TRUE(time.step(Duration::from_ms(30)).ok());
  ASSERT_TRUE(calls.wait_for(3));
  ASSERT_TRUE(time.jump(kStart - Duration::from_ms(60'000)).ok());
  ASSERT_TRUE(jumps.wait_for(2));
  EXPECT_EQ(jumps.values()[1], -60'030 * kMs);
  ASSERT_TRUE(time.step(Duration::from_ms(9)).ok());
  ASSERT_TRUE(time.step(Duration::from_ms(1)).ok());
  ASSERT_TRUE(calls.wait_for(4));
  ASSERT_TRUE(time.jump(kStart + Duration::from_ms(3'600'000)).ok());
  ASSERT_TRUE(jumps.wait_for(3));
  ASSERT_TRUE(time.step(Duration::from_ms(10)).ok());
  ASSERT_TRUE(calls.wait_for(5));
  node.close();
  EXPECT_EQ(calls.count(), 5U) << "the skipped hour causes no calls";
}

TEST(SimTime, a_callback_can_sleep_on_a_pool_of_one_thread) {
  Arrivals woke;
  const std::string domain = fresh_domain();
  RuntimeOptions options;
  options.domain = domain;
  options.threads = 1;
  options.clock = ClockMode::sim;
  Runtime a = Runtime::open(options).or_throw();
  const Node node = a.node("node").or_throw();
  Runtime c = open_runtime(domain, "c");
  SimTimeOptions fast;
  fast.speed = 1000;
  const SimTime time = SimTime::open(c.node("time").or_throw(), fast).or_throw();
  node.every(Duration::from_ms(1), [&] {
    if (node.clock().sleep_for(Duration::from_ms(500))) woke.add();
  });
  ASSERT_TRUE(woke.wait_for(2)) << "ticks are taken although all threads sleep";
}

TEST(SimTime, closing_a_node_ends_the_sleep_of_its_callbacks) {
  Arrivals begun;
  Arrivals ended;
  const std::string domain = fresh_domain();
  Runtime a = open_sim(domain, "a");
  Runtime c = open_runtime(domain, "c");
  SimTime time = paused_time(c.node("time").or_throw());
  const Node node = a.node("node").or_throw();
  ASSERT_TRUE(at(node.clock(), kStart));
  node.every(Duration::from_ms(10), [&] {
    begun.add();
    if (!node.clock().sleep_for(Duration::from_ms(1'000))) ended.add();
  });
  ASSERT_TRUE(time.step(Duration::from_ms(10)).ok());
  ASSERT_TRUE(begun.wait_for(1));
  node.close();  // would wait forever, because the time is paused
  EXPECT_EQ(ended.count(), 1U);
  const Node other = a.node("other").or_throw();
  std::thread sleeper(
      [&] { EXPECT_TRUE(other.clock().sleep_until(kStart + Duration::from_ms(20))); });
  ASSERT_TRUE(time.step(Duration::from_ms(10)).ok());
  sleeper.join();
}

TEST(SimTime, stopping_the_process_ends_all_sleeps) {
  Arrivals ended;
  const std::string domain = fresh_domain();
  std::thread loop;
  {
    Runtime a = open_sim(domain, "a");
    const Node node = a.node("node").or_throw();
    const Clock clock = node.clock();
    Arrivals begun;
    loop = std::thread([clock, &ended] {
      Rate rate(clock, Duration::from_ms(10));
      while (rate.sleep()) {
      }
      ended.add();
    });
    node.subscribe<Number>("go", serial, [&](const Message<Number>&) {
      begun.add();
      EXPECT_FALSE(clock.sleep_for(Duration::from_ms(1)));
      ended.add();
    });
    node.publisher<Number>("go").publish({1});
    ASSERT_TRUE(begun.wait_for(1));
    a.request_stop();
    ASSERT_TRUE(ended.wait_for(2));
  }
  loop.join();
}

TEST(SimTime, a_simulator_can_advance_time_in_its_own_steps) {
  Arrivals steps;
  const std::string domain = fresh_domain();
  Runtime a = open_sim(domain, "a");
  Runtime c = open_runtime(domain, "c");
  SimTimeOptions options;
  options.start = kStart;
  options.manual = true;
  SimTime time = SimTime::open(c.node("time").or_throw(), options).or_throw();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(time.advance(Duration::from_ms(2)));
  ASSERT_TRUE(at(a.clock(), kStart + Duration::from_ms(10)));
  EXPECT_FALSE(time.step(Duration::from_ms(1)).ok()) << "it is running";
  time.pause();
  std::thread simulator([&] {
    while (time.advance(Duration::from_ms(2))) steps.add();
  });
  ASSERT_TRUE(time.step(Duration::from_ms(6)).ok());
  ASSERT_TRUE(steps.wait_for(3));
  ASSERT_TRUE(at(a.clock(), kStart + Duration::from_ms(16)));
  c.request_stop();
  simulator.join();
  EXPECT_EQ(steps.count(), 3U);
}

TEST(SimTime, impossible_settings_are_refused) {
  Runtime c = open_runtime(fresh_domain(), "c");
  const Node node = c.node("time").or_throw();
  SimTimeOptions options;
  for (const double speed : {0.0, -1.0, 1001.0, std::nan("")}) {
    options.speed = speed;
    EXPECT_EQ(SimTime::open(node, options).error().code, Code::invalid_config) << speed;
  }
  options.speed = 1;
  options.tick = Duration{0};
  EXPECT_FALSE(SimTime::open(node, options).ok());
  SimTime time = paused_time(node);
  EXPECT_FALSE(time.step(Duration{0}).ok());
  EXPECT_FALSE(time.jump(Time{-1}).ok());
  EXPECT_FALSE(time.set_speed(0).ok());
  time.resume();
  EXPECT_FALSE(time.step(Duration::from_ms(1)).ok());
}

TEST(SimTime, malformed_ticks_are_ignored) {
  const std::string domain = fresh_domain();
  Runtime a = open_sim(domain, "a");
  Runtime c = open_runtime(domain, "c");
  const Node node = c.node("liar").or_throw();
  Policy latched;
  latched.latched = true;
  const auto pub =
      node.raw_publisher("clock", make_type_id("hyphos.msgs.Clock", Encoding::protobuf),
                         {Scope::network, latched})
          .or_throw();
  ASSERT_TRUE(eventually([&] { return pub.listeners() == 1; }));
  for (const std::string& bytes :
       {std::string("\xff\xff\xff"),
        std::string("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11)}) {
    pub.publish(Buffer::copy_of(std::as_bytes(std::span(bytes))));
  }
  const std::string good("\x08\x05", 2);
  pub.publish(Buffer::copy_of(std::as_bytes(std::span(good))));
  ASSERT_TRUE(at(a.clock(), Time{5}));
  EXPECT_EQ(a.clock().jumps(), 1U);
}

TEST(SimTime, tools_see_the_clock_of_a_process) {
  const std::string domain = fresh_domain();
  Runtime a = open_sim(domain, "a");
  Runtime c = open_runtime(domain, "c");
  const auto status = [&](const std::string& name) {
    for (const ProcessInfo& process : inspect(domain).or_throw()) {
      if (process.name == name) return process.clock;
    }
    return ClockStatus{};
  };
  EXPECT_EQ(status("a").mode, ClockMode::sim);
  EXPECT_FALSE(status("a").ready);
  EXPECT_EQ(status("c").mode, ClockMode::real);
  EXPECT_EQ(status("c").base_ns, c.clock().base().ns);
  const SimTime time = paused_time(c.node("time").or_throw());
  ASSERT_TRUE(eventually([&] { return status("a").ready; }));  // which is written last
  const ClockStatus seen = status("a");
  EXPECT_EQ(seen.now_ns, kStart.ns);
  EXPECT_TRUE(seen.paused);
  EXPECT_FALSE(seen.replayed);
  EXPECT_EQ(seen.channel, "clock");
  EXPECT_EQ(seen.base_ns, kStart.ns);
}

TEST(RealTime, a_node_has_timers_rates_and_a_base_in_real_time) {
  Arrivals calls;
  RuntimeOptions options = offline_options();
  options.base_ns = wall_now().ns - 1'000 * kMs;
  Runtime runtime = Runtime::open(options).or_throw();
  const Node node = runtime.node("n").or_throw();
  EXPECT_EQ(node.clock().base().ns, options.base_ns);
  EXPECT_GE(node.clock().elapsed().ns, 999 * kMs);
  EXPECT_EQ(node.clock().mode(), ClockMode::real);
  node.every(Duration::from_ms(1), [&] { calls.add(); });
  ASSERT_TRUE(calls.wait_for(3));
  const Time before = monotonic_now();
  Rate rate(node.clock(), Duration::from_ms(1));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(rate.sleep());
  if (rate.skipped() == 0) {
    EXPECT_GE((monotonic_now() - before).ns, 2 * kMs);
  }
}

TEST(PlanClock, a_plan_sets_simulated_time_and_its_speed) {
  const PlanFile plan("hyphos: 1\ndomain: " + fresh_domain() +
                      "\nclock: {mode: sim, channel: world/clock, speed: 4}\n"
                      "processes: {a: {}, b: {}}\n"
                      "nodes: {n: {process: a}, time: {process: b}}\n"
                      "channels: {other: {}}\n");
  Runtime a = Runtime::open(plan.options("a")).or_throw();
  Runtime b = Runtime::open(plan.options("b")).or_throw();
  const Node n = a.node("n").or_throw();
  EXPECT_EQ(n.clock().mode(), ClockMode::sim);
  SimTimeOptions options;
  options.start = kStart;
  const SimTime time = SimTime::open(b.node("time").or_throw(), options).or_throw();
  EXPECT_EQ(time.speed(), 4);
  ASSERT_TRUE(n.clock().sleep_until(kStart + Duration::from_ms(20)));
  EXPECT_EQ(n.clock().speed(), 4);
}

TEST(CommandLine, options_set_the_clock_and_the_base) {
  const std::string domain = fresh_domain();
  const auto open = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"program", "--hyphos-domain", domain});
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    return Runtime::open(static_cast<int>(pointers.size()), pointers.data());
  };
  EXPECT_EQ(open({"--hyphos-clock", "sim"}).or_throw().clock().mode(), ClockMode::sim);
  EXPECT_EQ(open({"--hyphos-base-ns", "12345"}).or_throw().clock().base().ns, 12345);
  for (const std::vector<std::string>& bad : std::vector<std::vector<std::string>>{
           {"--hyphos-clock", "fast"}, {"--hyphos-base-ns", "12x"}, {"--hyphos-base-ns", "-1"}}) {
    EXPECT_EQ(open(bad).error().code, Code::invalid_config) << bad[1];
  }
}

}  // namespace
}  // namespace hyphos::test
