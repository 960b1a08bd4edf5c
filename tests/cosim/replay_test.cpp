#include "cosim/network/replay.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cosim/remote/remote.hpp"
#include "cosim/remote/serve.hpp"
#include "cosim/scenario/scenario.hpp"
#include "tests/cosim/conformance.hpp"
#include "tests/cosim/rig.hpp"

namespace hyphos::cosim {
namespace {

const std::vector<std::string> kNames{"a", "b", "c", "d"};

std::unique_ptr<Network> replay(const std::string& text,
                                const std::vector<std::string>& names = kNames) {
  return std::make_unique<Replay>(
      std::make_shared<const Recording>(Recording::parse(text, "net.csv", names).or_throw()));
}

/// Every delay is 0.7 ms, and some packets are lost.
struct Table {
  static std::unique_ptr<Network> make() {
    return replay(
        "time_ms,from,to,delay_ms,loss\n"
        "0,*,*,0.7,0.2\n");
  }
};
struct RemoteTable {
  static std::unique_ptr<Network> make() {
    return std::make_unique<RemoteNetwork>(
        Worker::fork({}, [](IpcChannel& channel) { serve(channel, *Table::make()); }).or_throw());
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PhysicsConformance);
using Replays = testing::Types<Table, RemoteTable>;
INSTANTIATE_TYPED_TEST_SUITE_P(Replay, NetworkConformance, Replays);

struct Sent {
  NodeId from;
  NodeId to;
  std::int64_t ns;
};

std::string outcomes_of(Network& network, const std::vector<Sent>& sends) {
  EXPECT_TRUE(network.init(4, 1).ok());
  PacketId id = 0;
  for (const Sent& sent : sends) {
    EXPECT_TRUE(network.inject({++id, sent.from, sent.to, {sent.ns}, {}}).ok());
  }
  EXPECT_TRUE(network.advance({10'000'000'000}).ok());
  std::vector<Outcome> outcomes;
  EXPECT_TRUE(network.poll(outcomes).ok());
  std::string text;
  for (const Outcome& outcome : outcomes) {
    text += std::to_string(outcome.id) + ":" + std::to_string(outcome.time.ns) + ":" +
            std::string(to_string(outcome.reason)) + " ";
  }
  return text;
}

TEST(Replay, a_link_has_the_state_of_its_latest_line) {
  const auto network = replay(
      "time_ms , from, to, loss, delay_ms  # in any order\n"
      "\n"
      "0, *, *, 0, 1\n"
      "0, a, b, 0, 2.000001\r\n"
      "100, a, b, 1, 3\n"
      "200, 0, 1, 0, 4.5\n");
  EXPECT_EQ(
      outcomes_of(
          *network,
          {{0, 1, 99'999'999}, {0, 1, 100'000'000}, {0, 1, 200'000'001}, {1, 0, 300'000'000}}),
      "1:102000000:none 2:103000000:channel_error 3:204500001:none 4:301000000:none ");
}

TEST(Replay, recorded_packets_of_one_instant_are_used_in_turn) {
  const auto network = replay(
      "time_ms,from,to,delay_ms,outcome\n"
      "10,a,b,1,delivered\n"
      "10,a,b,2,collision\n"
      "20,a,b,3,delivered\n");
  EXPECT_EQ(outcomes_of(*network, {{0, 1, 5'000'000},
                                   {0, 1, 10'000'000},
                                   {0, 1, 10'000'000},
                                   {0, 1, 10'000'000},
                                   {0, 1, 15'000'000},
                                   {0, 1, 30'000'000}}),
            "1:6000000:none 2:11000000:none 3:12000000:collision 4:12000000:collision "
            "5:17000000:collision 6:33000000:none ");
}

TEST(Replay, a_link_without_data_is_an_error_with_its_name) {
  const auto network = replay("time_ms,from,to,delay_ms,loss\n0,a,b,1,0\n");
  ASSERT_TRUE(network->init(4, 1).ok());
  const auto refused = network->inject({1, 1, 0, {0}, {}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::invalid_config);
  EXPECT_NE(refused.error().message.find("from node 1 to node 0"), std::string::npos);
}

TEST(Replay, errors_in_a_recording_have_their_line) {
  const std::string head = "time_ms,from,to,delay_ms,loss\n";
  const std::string packets = "time_ms,from,to,delay_ms,outcome\n";
  const std::string send = "100 send 1 from 0 to 1 bytes 4 hash 9f\n";
  const std::string all = "100 send 1 from 0 to everyone bytes 4 hash 9f\n";
  for (const auto& [text, line, what] : {
           std::tuple(std::string(), 0, "has no lines"),
           std::tuple(std::string("# nothing\n"), 1, "has no lines"),
           std::tuple(head, 1, "has no packets"),
           std::tuple(std::string("time,from\n"), 1, "unknown column 'time'"),
           std::tuple(std::string("time_ms,from,to,to\n"), 1, "twice"),
           std::tuple(std::string("time_ms,from,to,delay_ms\n"), 1, "one of the columns"),
           std::tuple(std::string("time_ms,from,to,loss\n"), 1, "'delay_ms' is missing"),
           std::tuple(head + "0,a,b,1\n", 2, "4 values for 5 columns"),
           std::tuple(head + "-1,a,b,1,0\n", 2, "'-1' is not a time"),
           std::tuple(head + "0,a,b,1.1234567,0\n", 2, "'1.1234567' is not a time"),
           std::tuple(head + "0,a,b,1e3,0\n", 2, "'1e3' is not a time"),
           std::tuple(head + "0,a,e,1,0\n", 2, "unknown node 'e'"),
           std::tuple(head + "0,a,4,1,0\n", 2, "unknown node '4'"),
           std::tuple(head + "0,a,0,1,0\n", 2, "to itself"),
           std::tuple(head + "0,a,b,1,1.5\n", 2, "not a probability"),
           std::tuple(head + "0,a,b,1,nan\n", 2, "not a probability"),
           std::tuple(head + "\n5,a,b,1,0\n4,a,b,1,0\n", 4, "previous line"),
           std::tuple(head + "5,a,b,1,0\n5,a,b,2,0\n", 3, "second line"),
           std::tuple(packets + "0,a,b,1,lost\n", 2, "not an outcome"),
           std::tuple(packets + "0,a,b,1,\n", 2, "an outcome is missing"),
           std::tuple(std::string("nonsense\n"), 1, "neither a line of a trace"),
           std::tuple(std::string("100 send 1 from 0\n"), 1, "not a send line of a trace"),
           std::tuple(send + send, 2, "second packet"),
           std::tuple(send + "200 delivered 2 to 1 read 300\n", 2, "packet 2 is not in flight"),
           std::tuple(send + "50 delivered 1 to 1 read 300\n", 2, "before the send"),
           std::tuple(send + "200 delivered 1 to 2 read 300\n", 2, "no copy"),
           std::tuple(send + "200 dropped 1 to 1 tired\n", 2, "not an outcome line"),
           std::tuple(all + "200 dropped 1 to everyone other copies 4\n", 2, "than are expected"),
           std::tuple(all + "200 dropped 1 to everyone other copies 3\n" +
                          "200 delivered 1 to 1 read 300\n",
                      3, "not in flight"),
       }) {
    const auto refused = Recording::parse(text, "net.csv", kNames);
    ASSERT_FALSE(refused.ok()) << text;
    EXPECT_EQ(refused.error().code, Code::invalid_config);
    EXPECT_EQ(refused.error().where, "net.csv:" + std::to_string(line)) << text;
    EXPECT_NE(refused.error().message.find(what), std::string::npos) << refused.error().message;
  }
}

/// Four robots: one is out of range, one leaves the range, and a wall separates some.
Trial moving(const Scene& scene) {
  Trial trial;
  trial.paths = {ConstantVelocity{{0, 0, 1}, {}}, ConstantVelocity{{120, 0, 1}, {20, 0, 0}},
                 ConstantVelocity{{60, -40, 1}, {0, 20, 0}}, ConstantVelocity{{9000, 0, 1}, {}}};
  trial.end = Duration::from_ms(3000);
  trial.scene = &scene;
  return trial;
}

TEST(Replay, replaying_a_trace_with_the_same_traffic_reproduces_it) {
  const Scene scene({{{30, -30, 0}, {31, 30, 3}, 15}});
  Trial trial = moving(scene);
  for (const bool everyone : {true, false}) {
    for (const char* method : {"lockstep", "adaptive", "variable_stepped"}) {
      trial.method = method;
      trial.window = Duration::from_ms(5);
      const Periodic::Options traffic{
          .nodes = 4, .rate_hz = 37, .bytes = 700, .everyone = everyone};
      AnalyticRadio radio({.queue_packets = 3}, &scene);
      Periodic programs(traffic);
      const Ran recorded = run(trial, radio, programs);
      ASSERT_TRUE(recorded.result.ok());
      EXPECT_GT(recorded.report.packets.delivered, 50U);
      EXPECT_GT(recorded.report.packets.all_dropped(), 100U);
      const auto again = replay(recorded.trace);
      Periodic same(traffic);
      const Ran replayed = run(trial, *again, same);
      ASSERT_TRUE(replayed.result.ok()) << replayed.result.error().to_string();
      EXPECT_EQ(replayed.trace, recorded.trace) << method << everyone;
    }
  }
}

TEST(Replay, a_replay_scenario_requires_its_recording) {
  const std::filesystem::path folder =
      testing::TempDir() + "hyphos-replay-" + std::to_string(::getpid());
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "net.csv") << "time_ms,from,to,delay_ms,loss\n0,*,*,2.5,0\n";
  std::ofstream(folder / "bad.csv") << "time_ms,from,to,delay_ms,loss\n0,*,*,2.5,7\n";
  const auto scenario = [&](const std::string& radio) {
    return parse_scenario(
        "duration_s: 1\nrobots: {x: {at: [0, 0, 0]}, y: {at: [1, 0, 0]}}\nradio: " + radio + "\n",
        (folder / "cosim.yaml").string());
  };
  const auto good = scenario("{simulator: replay, file: net.csv}");
  ASSERT_TRUE(good.ok()) << good.error().to_string();
  for (const bool process : {false, true}) {
    Trace trace;
    const auto report = run_scenario(*good, {.radio_process = process}, trace);
    ASSERT_TRUE(report.ok()) << report.error().to_string();
    EXPECT_EQ(report->packets.delivered, report->packets.sent);
  }
  for (const auto& [radio, what] :
       {std::pair("{simulator: replay}", "radio.file: is missing"),
        std::pair("{file: net.csv}", "only valid with `radio.simulator: replay`"),
        std::pair("{simulator: replay, file: none.csv}", "none.csv"),
        std::pair("{simulator: replay, file: bad.csv}", "bad.csv:2")}) {
    const auto refused = scenario(radio);
    ASSERT_FALSE(refused.ok()) << radio;
    EXPECT_NE(refused.error().to_string().find(what), std::string::npos)
        << refused.error().to_string();
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace hyphos::cosim
