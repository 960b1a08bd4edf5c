#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "tests/node/child.hpp"
#include "tests/node/harness.hpp"
#include "transport/announce.hpp"

namespace hyphos::test {
namespace {

std::string plan_text(const std::string& domain, const std::string& rest) {
  return "hyphos: 1\nrobot: test\ndomain: \"" + domain + "\"\n" + rest;
}

std::string plugin(const std::string& name) {
  return std::string(TEST_PLUGIN_DIR) + "/libtest_plugin_" + name + ".so";
}

TEST(Plan, nodes_get_parameters_channels_and_policies) {
  const PlanFile file(plan_text(fresh_domain(), R"(
processes: {main: {}}
nodes:
  one:
    process: main
    params: {gain: 2.5, count: 7, on: true, name: lidar}
    remap: {in: front/in}
  two: {process: main}
channels:
  front/in: {depth: 3, overflow: drop_newest}
)"));
  Runtime runtime = Runtime::open(file.options("main")).or_throw();
  const Node one = runtime.node("one").or_throw();
  EXPECT_DOUBLE_EQ(one.param("gain", 1.0), 2.5);
  EXPECT_EQ(one.param("count", 0), 7);
  EXPECT_TRUE(one.param("on", false));
  EXPECT_EQ(one.param("name", ""), "lidar");
  EXPECT_EQ(one.param("absent", 3), 3);
  EXPECT_THROW((void)one.param("name", 1), Exception);
  EXPECT_EQ(one.publisher<Number>("in").channel(), "front/in");
  EXPECT_EQ(runtime.node("three").error().code, Code::not_found);
}

TEST(Plan, a_closed_channel_opens_at_run_time) {
  Arrivals got;
  const PlanFile file(plan_text(fresh_domain(), R"(
processes: {main: {}}
nodes: {one: {process: main}}
channels: {n: {open: nowhere}}
)"));
  Runtime runtime = Runtime::open(file.options("main")).or_throw();
  const Node node = runtime.node("one").or_throw();
  node.subscribe<Number>("n", inline_, [&](const Message<Number>&) { got.add(); });
  const auto pub = node.publisher<Number>("n");
  EXPECT_FALSE(pub.publish({1}));
  ASSERT_TRUE(runtime.set_channel_open("n", true).ok());
  EXPECT_TRUE(pub.publish({2}));
  EXPECT_EQ(got.count(), 1U);
}

TEST(Plan, errors_in_the_file_reach_the_caller) {
  const PlanFile file(plan_text("0", "chanels: {}\n"));
  const auto opened = Runtime::open(file.options("main"));
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().to_string().find("robot.yaml:4"), std::string::npos);
  EXPECT_NE(opened.error().to_string().find("channels"), std::string::npos);
}

TEST(Plan, plugins_run_in_this_process) {
  Arrivals got;
  const PlanFile file(plan_text(fresh_domain(), R"(
processes: {main: {}, other: {}}
nodes:
  echo: {plugin: )" + plugin("echo") + R"(, process: main, params: {add: 100}}
  probe: {process: main}
)"));
  Runtime runtime = Runtime::open(file.options("main")).or_throw();
  ASSERT_TRUE(runtime.load_plugins().ok());
  const Node probe = runtime.node("probe").or_throw();
  probe.subscribe<Number>("out", serial, [&](const Message<Number>& m) { got.add(m->value); });
  probe.publisher<Number>("in").publish({5});
  ASSERT_TRUE(got.wait_for(1));
  EXPECT_EQ(got.values().front(), 105);
}

TEST(Plan, bad_plugins_are_refused_with_the_reason) {
  const auto load = [](const std::string& file_name) {
    const PlanFile file(plan_text(fresh_domain(), "processes: {main: {}}\nnodes:\n  n: {plugin: " +
                                                      file_name + ", process: main}\n"));
    Runtime runtime = Runtime::open(file.options("main")).or_throw();
    return runtime.load_plugins().error();
  };
  EXPECT_EQ(load("/nowhere/libx.so").code, Code::not_found);
  EXPECT_NE(load(plugin("empty")).message.find("HYPHOS_NODE"), std::string::npos);
  EXPECT_NE(load(plugin("throwing")).message.find("no camera on /dev/video7"), std::string::npos);
}

/// Recorders and other tools are not part of the plan. They also receive channels that need no
/// transport.
TEST(Plan, a_tool_receives_a_channel_that_stays_in_one_process) {
  Arrivals got;
  const std::string domain = fresh_domain();
  const PlanFile file(plan_text(domain, R"(
processes: {main: {nodes: [one, two]}}
nodes: {one: {}, two: {}}
channels:
  n: {publishers: [one], subscribers: [two]}
  private: {publishers: [one], subscribers: [two], scope: local}
)"));
  Runtime runtime = Runtime::open(file.options("main")).or_throw();
  const Node one = runtime.node("one").or_throw();
  const auto pub = one.publisher<Number>("n");
  const auto priv = one.publisher<Number>("private");
  Runtime outside = open_runtime(domain, "tool");
  const Node tool = outside.node("tool").or_throw();
  tool.subscribe<Number>("private", serial, [&](const Message<Number>&) { got.add(-1); });
  tool.subscribe<Number>("n", serial, [&](const Message<Number>& m) { got.add(m->value); });
  ASSERT_TRUE(eventually([&] { return pub.listeners() == 1; }));
  EXPECT_EQ(priv.listeners(), 0U);
  priv.publish({1});
  pub.publish({2});
  ASSERT_TRUE(got.wait_for(1));
  EXPECT_EQ(got.values(), std::vector<std::int64_t>{2});
}

/// ... and channels that use other transports. The plan's own processes use ZeroMQ, and tools
/// receive and send the same messages through shared memory.
TEST(Plan, a_tool_joins_a_channel_that_uses_zeromq) {
  Arrivals at_mind;
  Arrivals at_tool;
  const std::string domain = fresh_domain();
  const PlanFile file(plan_text(domain, R"(
processes: {body: {nodes: [eye]}, brain: {nodes: [mind]}}
nodes: {eye: {}, mind: {}}
channels:
  n: {publishers: [eye], subscribers: [mind], transport: zmq, reliability: reliable, depth: 256}
)"));
  Runtime body = Runtime::open(file.options("body")).or_throw();
  Runtime brain = Runtime::open(file.options("brain")).or_throw();
  Runtime outside = open_runtime(domain, "tool");
  const Node eye = body.node("eye").or_throw();
  const Node mind = brain.node("mind").or_throw();
  const Node tool = outside.node("tool").or_throw();
  mind.subscribe<Number>("n", serial, [&](const Message<Number>& m) { at_mind.add(m->value); });
  const auto pub = eye.publisher<Number>("n");
  ASSERT_TRUE(eventually([&] { return pub.listeners() == 1; }));
  tool.subscribe<Number>("n", {.policy = Policy{.depth = 256}},
                         [&](const Message<Number>& m) { at_tool.add(m->value); });
  ASSERT_TRUE(eventually([&] { return pub.listeners() == 2; }));
  std::vector<std::int64_t> sent;
  for (std::int64_t i = 1; i <= 200; ++i) {
    ASSERT_TRUE(pub.publish({i}));
    sent.push_back(i);
  }
  ASSERT_TRUE(at_mind.wait_for(200));
  ASSERT_TRUE(at_tool.wait_for(200));
  const auto from_tool = tool.publisher<Number>("n");
  ASSERT_TRUE(eventually([&] { return from_tool.listeners() == 2; }));  // the mind and the tool
  from_tool.publish({1000});
  sent.push_back(1000);
  ASSERT_TRUE(at_mind.wait_for(201));
  ASSERT_TRUE(at_tool.wait_for(201));
  EXPECT_EQ(pub.listeners(), 2U) << "the mind is connected to the eye by one transport only";
  EXPECT_EQ(at_mind.values(), sent);
  EXPECT_EQ(at_tool.values(), sent);
}

/// Network namespaces divide a machine into hosts, but not its shared memory.
TEST(Plan, hosts_that_share_a_machine_get_each_message_once) {
  const std::string domain = fresh_domain();
  const int port = own_port();
  const PlanFile file(plan_text(domain, R"(
hosts: {ugv: {address: 127.0.0.1}, base: {address: 127.0.0.2}}
processes:
  p1: {host: ugv, nodes: [one], endpoint: "tcp://127.0.0.1:)" +
                                            std::to_string(port) + R"("}
  p2: {host: ugv, nodes: [two]}
  p3: {host: base, nodes: [three], endpoint: "tcp://127.0.0.2:)" +
                                            std::to_string(port + 1) + R"("}
  p4: {host: base, nodes: [four]}
nodes: {one: {}, two: {}, three: {}, four: {}}
channels:
  n: {publishers: [one, three], subscribers: [two, four], reliability: reliable, depth: 256}
)"));
  std::vector<Runtime> runtimes;
  for (const char* process : {"p1", "p2", "p3", "p4"}) {
    runtimes.push_back(Runtime::open(file.options(process)).or_throw());
  }
  runtimes.push_back(open_runtime(domain, "tool"));
  const Node one = runtimes[0].node("one").or_throw();
  const Node two = runtimes[1].node("two").or_throw();
  const Node three = runtimes[2].node("three").or_throw();
  const Node four = runtimes[3].node("four").or_throw();
  const Node tool = runtimes[4].node("tool").or_throw();
  std::array<Arrivals, 3> got;
  two.subscribe<Number>("n", serial, [&](const Message<Number>& m) { got[0].add(m->value); });
  four.subscribe<Number>("n", serial, [&](const Message<Number>& m) { got[1].add(m->value); });
  tool.subscribe<Number>("n", {.policy = Policy{.depth = 256}},
                         [&](const Message<Number>& m) { got[2].add(m->value); });
  const auto from_one = one.publisher<Number>("n");
  const auto from_three = three.publisher<Number>("n");
  ASSERT_TRUE(eventually([&] { return from_one.listeners() == 3 && from_three.listeners() == 3; }));
  for (std::int64_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(from_one.publish({i}));
    ASSERT_TRUE(from_three.publish({1000 + i}));
  }
  for (Arrivals& arrivals : got) ASSERT_TRUE(arrivals.wait_for(200));
  EXPECT_EQ(from_one.listeners(), 3U);
  EXPECT_EQ(from_three.listeners(), 3U);
  for (Arrivals& arrivals : got) {
    auto values = arrivals.values();
    std::sort(values.begin(), values.end());
    EXPECT_EQ(values.size(), 200U);
    EXPECT_EQ(std::unique(values.begin(), values.end()), values.end()) << "no value arrives twice";
  }
}

/// The same node, moved by one word of the plan: here it runs in a separate process.
TEST(Plan, a_host_process_runs_plugins_until_a_signal) {
  Arrivals got;
  const std::string domain = fresh_domain();
  const PlanFile file(plan_text(domain, R"(
processes: {main: {}, other: {}}
nodes:
  echo: {plugin: )" + plugin("echo") + R"(, process: other, params: {add: 100}}
  probe: {process: main}
)"));
  Runtime runtime = Runtime::open(file.options("main")).or_throw();
  Child host({TEST_HOST, "--hyphos-plan", file.path().string(), "--hyphos-process", "other"});
  ASSERT_TRUE(host.started());
  const Node probe = runtime.node("probe").or_throw();
  probe.subscribe<Number>("out", serial, [&](const Message<Number>& m) { got.add(m->value); });
  const auto in = probe.publisher<Number>("in");
  ASSERT_TRUE(eventually([&] { return in.listeners() == 1; }));
  // The reverse direction may open a little later.
  while (got.count() == 0) {
    in.publish({5});
    std::this_thread::yield();
  }
  EXPECT_EQ(got.values().front(), 105);
  ASSERT_TRUE(comes_to_spin(domain, "other"));
  EXPECT_EQ(host.stop(SIGINT), 0);
  EXPECT_TRUE(eventually([&] { return in.listeners() == 0; }));
}

TEST(Plan, a_host_process_with_a_bad_plan_reports_it_and_exits) {
  const PlanFile file(plan_text(
      fresh_domain(), "processes: {p: {}}\nnodes:\n  n: {plugin: /nowhere/libx.so, process: p}\n"));
  EXPECT_EQ(
      Child({TEST_HOST, "--hyphos-plan", file.path().string(), "--hyphos-process", "p"}).wait(), 2);
  EXPECT_EQ(Child({TEST_HOST, "--hyphos-plan", "/nowhere.yaml", "--hyphos-process", "p"}).wait(),
            2);
  EXPECT_EQ(
      Child({TEST_HOST, "--hyphos-plan", file.path().string(), "--hyphos-process", "q"}).wait(), 2);
}

/// Two hosts in the plan: messages between them use ZeroMQ over TCP.
TEST(Plan, processes_on_two_hosts_communicate_over_tcp) {
  Arrivals got;
  const int port = own_port();
  const PlanFile file(plan_text(fresh_domain(), R"(
hosts:
  ugv: {address: 127.0.0.1}
  base: {address: 127.0.0.2}
processes:
  sense: {host: ugv, endpoint: "tcp://127.0.0.1:)" + std::to_string(port) +
                                                    R"("}
  think: {host: base, endpoint: "tcp://127.0.0.2:)" +
                                                    std::to_string(port + 1) + R"("}
nodes:
  talker: {process: sense}
  listener: {process: think}
channels:
  n: {reliability: reliable, overflow: block, depth: 8}
)"));
  Runtime a = Runtime::open(file.options("sense")).or_throw();
  Runtime b = Runtime::open(file.options("think")).or_throw();
  const Node talker = a.node("talker").or_throw();
  const Node listener = b.node("listener").or_throw();
  listener.subscribe<Number>("n", serial, [&](const Message<Number>& m) { got.add(m->value); });
  const auto pub = talker.publisher<Number>("n");
  ASSERT_TRUE(eventually([&] { return pub.listeners() == 1; }));
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(pub.publish({i}));
  ASSERT_TRUE(got.wait_for(500));
  const auto values = got.values();
  for (int i = 0; i < 500; ++i) ASSERT_EQ(values[static_cast<std::size_t>(i)], i);

  // Closed for one peer by either side, and opened again.
  EXPECT_EQ(b.set_channel_open("n", "nobody", false).error().code, Code::not_found);
  for (const auto& [side, peer] : {std::pair(&a, "think"), std::pair(&b, "sense")}) {
    ASSERT_TRUE(side->set_channel_open("n", peer, false).ok());
    EXPECT_TRUE(eventually([&] { return pub.listeners() == 0; }));
    ASSERT_TRUE(side->set_channel_open("n", peer, true).ok());
    EXPECT_TRUE(eventually([&] { return pub.listeners() == 1; }));
  }
}

/// Another process of the network receives the announcement with the endpoints.
TEST(Plan, multicast_discovery_announces_the_process) {
  const std::string domain = fresh_domain();
  const int port = own_port();
  const PlanFile file(plan_text(domain, R"(
processes:
  sense: {endpoint: "tcp://127.0.0.1:)" + std::to_string(port) +
                                            R"("}
nodes: {talker: {process: sense}}
channels: {n: {type: test.Number}}
network:
  discovery: {multicast: on, interface: lo, interval_ms: 50, port: )" +
                                            std::to_string(port) + R"(}
)"));
  transport::AnnounceConfig config;
  config.domain = domain;
  config.process_name = "listener";
  config.session = 1;
  config.port = static_cast<std::uint16_t>(port);
  config.interfaces = {"127.0.0.1"};
  config.period_ms = 50;
  const auto listener = transport::make_announcer(config);
  std::mutex mutex;
  std::vector<transport::AnnouncedPeer> found;
  std::atomic<int> lost{0};
  const auto started = listener->start(
      [&](const transport::AnnouncedPeer& peer) {
        const std::lock_guard lock(mutex);
        found.push_back(peer);
      },
      [&](const transport::AnnouncedPeer&) { ++lost; });
  ASSERT_TRUE(started.ok()) << started.error().to_string();
  {
    Runtime runtime = Runtime::open(file.options("sense")).or_throw();
    ASSERT_TRUE(eventually([&] {
      const std::lock_guard lock(mutex);
      return !found.empty();
    }));
    const std::lock_guard lock(mutex);
    EXPECT_EQ(found[0].process, "sense");
    ASSERT_EQ(found[0].endpoints.size(), 1U);
    EXPECT_NE(found[0].endpoints[0].find("127.0.0.1"), std::string::npos);
    EXPECT_TRUE(found[0].endpoints[0].ends_with(":" + std::to_string(port)));
    EXPECT_EQ(found[0].channels, std::vector<std::string>{"n"});
  }
  EXPECT_TRUE(eventually([&] { return lost > 0; }));  // it sent a goodbye
  listener->stop();
}

}  // namespace
}  // namespace hyphos::test
