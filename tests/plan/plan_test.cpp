#include "hyphos/plan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "tests/plan/plan_folder.hpp"

namespace hyphos {
namespace {

TEST(Plan, an_empty_plan_has_defaults) {
  const Plan plan = plan_of("hyphos: 1\n");
  EXPECT_EQ(plan.robot, "robot");
  EXPECT_EQ(plan.domain, "0");
  ASSERT_EQ(plan.hosts.size(), 1U);
  EXPECT_EQ(plan.hosts[0].name, "local");
  ASSERT_EQ(plan.processes.size(), 1U);
  EXPECT_EQ(plan.processes[0].name, "main");
  EXPECT_EQ(plan.processes[0].threads, 0);
  EXPECT_TRUE(plan.channels.empty());
  EXPECT_FALSE(plan.record.enabled);
  EXPECT_FALSE(plan.network.curve.enabled);
  EXPECT_TRUE(plan.warnings.empty());
  const Connections links = connections(plan, "main").or_throw();
  EXPECT_EQ(links.transports, (std::vector<std::string>{"shm"}));
}

TEST(Plan, the_policy_of_a_channel_is_read) {
  const Plan plan = plan_of(R"(hyphos: 1
channels:
  plain: {}
  sure: {reliability: reliable, block_timeout_ms: 50}
  full: {reliability: reliable, overflow: drop_newest, depth: 65536, latched: yes,
         deadline_ms: 200, lifespan_ms: 3000, latched_depth: 7, priority: high, transport: zmq,
         scope: machine, type: a::B}
)");
  EXPECT_EQ(plan.channel("plain")->policy, Policy{});
  EXPECT_EQ(plan.channel("sure")->policy.overflow, Overflow::block);
  EXPECT_EQ(plan.channel("sure")->policy.block_timeout_ms, 50);
  const ChannelPlan& full = *plan.channel("full");
  const Policy expected{.reliability = Reliability::reliable,
                        .overflow = Overflow::drop_newest,
                        .priority = Priority::high,
                        .latched = true,
                        .depth = 65536,
                        .deadline_ms = 200,
                        .block_timeout_ms = 0,
                        .lifespan_ms = 3000,
                        .latched_depth = 7};
  EXPECT_EQ(full.policy, expected);
  EXPECT_EQ(full.transport, "zmq");
  EXPECT_EQ(full.reach, Reach::machine);
  EXPECT_EQ(full.type, "a::B");
  EXPECT_FALSE(full.publishers.has_value());
  EXPECT_EQ(full.source.to_string(), "r.yaml:5:3");
}

TEST(Plan, nodes_run_in_their_configured_processes) {
  const Plan plan = plan_of(R"(hyphos: 1
processes:
  sense: {nodes: [world, camera]}
  map: {threads: 3, env: {A: 1, B: two}, prefix: gdb  -batch --args, cpu_affinity: [1, 0], log_level: debug}
nodes:
  camera: {plugin: libcamera.so}
  world: {plugin: libworld.so, process: sense}
  mapper: {python: "patrol.mapper:Mapper", process: map}
  driver: {executable: ./driver, args: [--fast, 3]}
  lost: {plugin: libworld.so, remap: {scan: front/scan}}
)");
  EXPECT_EQ(plan.process("sense")->nodes, (Names{"world", "camera"}));
  EXPECT_EQ(plan.process("map")->nodes, Names{"mapper"});
  EXPECT_EQ(plan.process("main")->nodes, Names{"lost"});
  EXPECT_EQ(plan.process("driver")->nodes, Names{"driver"});
  EXPECT_EQ(plan.process("sense")->kind, ProcessKind::native);
  EXPECT_EQ(plan.process("map")->kind, ProcessKind::python);
  EXPECT_EQ(plan.process("driver")->kind, ProcessKind::executable);
  EXPECT_EQ(plan.process("map")->cpu_affinity, (std::vector<int>{1, 0}));
  EXPECT_EQ(plan.process("map")->env[1].second, "two");
  EXPECT_EQ(plan.process("map")->prefix, (std::vector<std::string>{"gdb", "-batch", "--args"}));
  EXPECT_EQ(plan.node("mapper")->program, "patrol.mapper");
  EXPECT_EQ(plan.node("mapper")->python_class, "Mapper");
  EXPECT_EQ(plan.node("driver")->args, (Names{"--fast", "3"}));
  EXPECT_EQ(plan.node("lost")->channel_for("scan"), "front/scan");
  EXPECT_EQ(plan.node("lost")->channel_for("odom"), "odom");
}

TEST(Plan, every_word_is_a_valid_text_param) {
  const Plan plan = plan_of(R"(hyphos: 1
nodes:
  n:
    params:
      words: [yes, on, 1e3, 2024-01-01, null, ~, 007, .nan]
      none: null
      empty:
)");
  const ParamValue& params = plan.node("n")->params;
  std::string all;
  for (const ParamValue& word : params.find("words")->items) all += word.as_text().value() + " ";
  EXPECT_EQ(all, "yes on 1e3 2024-01-01 null ~ 007 .nan ");
  EXPECT_EQ(params.find("none")->as_text().value(), "null");
  EXPECT_FALSE(params.find("none")->as_real().ok());
  EXPECT_FALSE(params.find("empty")->as_text().ok());
}

TEST(Plan, number_params_are_read_or_refused_with_the_range) {
  const Plan plan = plan_of(R"(hyphos: 1
nodes:
  n:
    params: {hex: -0x1F, least: -0x8000000000000000, big: 0x8000000000000000,
             far: 9223372036854775808, inf: -Infinity, on: TRUE, huge: 1e400, tiny: 1e-400}
)");
  const ParamValue& params = plan.node("n")->params;
  EXPECT_EQ(params.find("hex")->as_integer().value(), -31);
  EXPECT_EQ(params.find("least")->as_integer().value(), std::numeric_limits<std::int64_t>::min());
  EXPECT_FALSE(params.find("big")->as_integer().ok());
  EXPECT_NE(params.find("far")->as_integer().error().message.find("to 9223372036854775807"),
            std::string::npos);
  EXPECT_EQ(params.find("inf")->as_real().value(), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(params.find("on")->as_boolean().value());
  EXPECT_NE(params.find("huge")->as_real().error().message.find("to 1.8e308"), std::string::npos);
  EXPECT_EQ(params.find("tiny")->as_real().value(), 0.0);
}

TEST(Plan, params_keep_their_places_and_types) {
  const Plan plan = plan_of(R"(hyphos: 1
nodes:
  n:
    params:
      laser: {rate_hz: 20, name: '7', on: true}
      sigma: 1e-3
      list: [1, two]
)");
  const ParamValue& params = plan.node("n")->params;
  EXPECT_EQ(params.find("laser.rate_hz")->as_integer().value(), 20);
  EXPECT_EQ(params.find("laser.rate_hz")->as_real().value(), 20.0);
  EXPECT_EQ(params.find("laser.rate_hz")->as_text().value(), "20");
  EXPECT_EQ(params.find("sigma")->as_real().value(), 1e-3);
  EXPECT_TRUE(params.find("laser.on")->as_boolean().value());
  EXPECT_EQ(params.find("list")->items.size(), 2U);
  EXPECT_EQ(params.find("laser.gone"), nullptr);
  EXPECT_EQ(params.find("gone.rate_hz"), nullptr);
  EXPECT_EQ(params.find("laser.name")->as_integer().error().to_string(),
            "r.yaml:5:34: expected a whole number, found '7' [invalid_config]");
  EXPECT_EQ(params.find("sigma")->as_boolean().error().to_string(),
            "r.yaml:6:14: expected true or false, found '1e-3' [invalid_config]");
  EXPECT_EQ(params.find("list")->as_real().error().message, "expected a number, found a list");
}

TEST(Plan, params_of_a_process_override_those_of_its_nodes) {
  const std::string text = R"(hyphos: 1
processes:
  p: {params: {n: {laser: {rate_hz: 40}, extra: 1}, bare: {x: 2}}}
nodes:
  n: {process: p, params: {laser: {rate_hz: 20, beams: 9}, name: a}, persist: on}
  bare: {process: p, persist: kept/bare.yaml}
  other: {persist: off}
)";
  const Plan plan = plan_of(text);
  const ParamValue& params = plan.node("n")->params;
  EXPECT_EQ(params.find("laser.rate_hz")->text, "40");
  EXPECT_EQ(params.find("laser.beams")->text, "9");
  EXPECT_EQ(params.find("name")->text, "a");
  EXPECT_EQ(params.find("extra")->text, "1");
  EXPECT_EQ(plan.node("bare")->params.find("x")->text, "2");
  EXPECT_EQ(plan.node("n")->persist, "state/n.params.yaml");
  EXPECT_EQ(plan.node("bare")->persist, "kept/bare.yaml");
  EXPECT_EQ(plan.node("other")->persist, "");
  // Options override all other values.
  const auto set = parse_plan(text, "r.yaml", {.overrides = {"nodes.n.params.laser.rate_hz=60"}});
  EXPECT_EQ(set->node("n")->params.find("laser.rate_hz")->text, "60");
  EXPECT_EQ(set->node("n")->params.find("extra")->text, "1");
}

constexpr const char* kListing = R"(network:
  publisher:
    ip: "tcp://*:5553"
    channels:
      - pre_channel
      - next_channel
  subscribers:
    - ip: "tcp://192.168.10.5:5556"
      channels: [tf_channel]
data_graph:
  close_channels:
    - "A_channel"
)";

void expect_listing(const Plan& plan) {
  const Connections links = connections(plan, "main").or_throw();
  ASSERT_EQ(links.binds.size(), 1U);
  EXPECT_EQ(links.binds[0].endpoint, "tcp://*:5553");
  EXPECT_EQ(links.binds[0].channels, (Names{"pre_channel", "next_channel"}));
  ASSERT_EQ(links.peers.size(), 1U);
  EXPECT_EQ(links.peers[0].endpoint, "tcp://192.168.10.5:5556");
  EXPECT_EQ(links.peers[0].process, "");
  EXPECT_EQ(links.peers[0].channels, Names{"tf_channel"});
  ASSERT_NE(plan.channel("A_channel"), nullptr);
  EXPECT_EQ(plan.channel("A_channel")->open, Where::outside);
  EXPECT_EQ(plan.channel("tf_channel")->open, Where::both);
  EXPECT_TRUE(links.channel("tf_channel")->uses("zmq"));
}

TEST(PlanListing, a_listing_loads_as_a_separate_file) {
  const Plan plan = plan_of(kListing);
  EXPECT_TRUE(plan.warnings.empty());
  expect_listing(plan);
}

TEST(PlanListing, a_listing_loads_inside_a_robot_file) {
  expect_listing(plan_of(std::string("hyphos: 1\nrobot: r\n") + kListing));
}

TEST(PlanListing, two_listing_files_are_joined_by_include) {
  const Folder folder;
  folder.write(
      "network_setting.yaml",
      "network:\n  publisher:\n    ip: \"*:5553\"\n    channels: [pre_channel, next_channel]\n"
      "  subscribers:\n    - ip: 192.168.10.5:5556\n      channels: [tf_channel]\n");
  folder.write("data_graph.yaml", "data_graph:\n  close_channels: [A_channel]\n");
  const auto file =
      folder.write("robot.yaml", "hyphos: 1\ninclude: [network_setting.yaml, data_graph.yaml]\n");
  expect_listing(load_plan(file).or_throw());
}

TEST(PlanListing, a_listing_loads_without_indentation) {
  const Plan plan = plan_of(
      "network:\npublisher:\nip: \"tcp://*:5553\"\nchannels:\n     - pre_channel\n"
      "     - next_channel\nsubscribers:\n- ip: \"tcp://192.168.10.5:5556\"\n"
      "  channels: [tf_channel]\ndata_graph:\nclose_channels:\n- \"A_channel\"\n");
  expect_listing(plan);
  ASSERT_EQ(plan.warnings.size(), 1U);
  EXPECT_EQ(plan.warnings[0],
            "r.yaml:2:1: network: the listing is not indented. It is read as network.publisher, "
            "network.subscribers and data_graph.close_channels");
}

TEST(PlanListing, a_flat_subscriber_owns_the_keys_after_it) {
  const Plan plan = plan_of(
      "network:\npublisher:\nip: \"tcp://*:5553\"\nchannels:\n - pre_channel\n - next_channel\n"
      "subscribers:\nip: \"tcp://192.168.10.5:5556\"\nchannels:\n - tf_channel\n"
      "data_graph:\nclose_channels:\n- \"A_channel\"\n");
  expect_listing(plan);
}

TEST(PlanListing, a_half_indented_listing_loads) {
  const Plan plan = plan_of("network:\n  publisher:\n  ip: \"*:1\"\n  channels: [a]\n");
  EXPECT_EQ(plan.warnings.size(), 1U);
  ASSERT_EQ(plan.network.publishers.size(), 1U);
  EXPECT_EQ(plan.network.publishers[0].endpoint, "tcp://*:1");
}

TEST(PlanListing, an_entry_without_an_endpoint_connects_nothing) {
  const Plan plan = plan_of(
      "network:\n  publisher:\n    ip: \"x\"\n    channels: [a]\n  subscribers:\n"
      "    - ip: x\n      channels: [b]\n    - ip: \"tcp://10.0.0.1:5556\"\n      channels: [c]\n");
  const Connections links = connections(plan, "main").or_throw();
  EXPECT_TRUE(links.binds.empty());
  ASSERT_EQ(links.peers.size(), 1U);
  EXPECT_EQ(links.peers[0].channels, Names{"c"});
}

TEST(PlanConnections, connections_follow_from_the_placement) {
  const Plan plan = plan_of(kThreeProcesses);
  const auto way = [&](const char* channel, const char* from, const char* to) {
    return route(plan, *plan.channel(channel), from, to);
  };
  EXPECT_EQ(way("scan", "sense", "sense"), kByPointer);
  EXPECT_EQ(way("scan", "sense", "drive"), "shm");
  EXPECT_EQ(way("scan", "sense", "think"), "zmq");
  EXPECT_EQ(way("inner", "sense", "drive"), kNoRoute);
  EXPECT_EQ(way("forced", "sense", "drive"), "zmq");
  EXPECT_EQ(way("open", "sense", "drive"), "shm");
  EXPECT_EQ(way("open", "sense", "think"), kNoRoute);
  EXPECT_EQ(way("open", "sense", "nowhere"), kNoRoute);
}

TEST(PlanConnections, publishers_bind_and_subscribers_connect) {
  const Plan plan = plan_of(kThreeProcesses);
  const Connections sense = connections(plan, "sense").or_throw();
  ASSERT_EQ(sense.binds.size(), 2U);
  EXPECT_EQ(sense.binds[0].endpoint, "tcp://10.0.0.1:5550");
  EXPECT_EQ(sense.binds[0].channels, Names{"scan"});
  EXPECT_EQ(sense.binds[1].endpoint, "ipc://@hyphos.0.sense");
  EXPECT_EQ(sense.binds[1].channels, Names{"forced"});
  // If a peer on the same host has an explicit endpoint, the connection uses it, at the host's
  // address.
  ASSERT_EQ(sense.peers.size(), 1U);
  EXPECT_EQ(sense.peers[0].process, "drive");
  EXPECT_EQ(sense.peers[0].endpoint, "tcp://10.0.0.1:7000");
  EXPECT_TRUE(sense.channel("scan")->uses("shm"));
  EXPECT_TRUE(sense.channel("scan")->uses("zmq"));
  EXPECT_TRUE(sense.channel("scan")->publishes);
  EXPECT_FALSE(sense.channel("scan")->subscribes);
  EXPECT_FALSE(sense.channel("inner")->uses("shm"));
  EXPECT_FALSE(sense.channel("cmd")->uses("zmq"));
  EXPECT_TRUE(sense.channel("open")->uses("shm"));
  EXPECT_EQ(sense.channel("unnamed"), nullptr);

  const Connections think = connections(plan, "think").or_throw();
  ASSERT_EQ(think.binds.size(), 1U);
  EXPECT_EQ(think.binds[0].endpoint, "tcp://10.0.0.2:5552");
  EXPECT_EQ(think.binds[0].channels, Names{"cmd"});
  ASSERT_EQ(think.peers.size(), 1U);
  EXPECT_EQ(think.peers[0].endpoint, "tcp://10.0.0.1:5550");

  const auto missing = connections(plan, "thnk");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().to_string(),
            "r.yaml: the plan has no process 'thnk' (processes are: sense, drive, think) "
            "[not_found]");
}

/// Every bound endpoint has a matching connection, over all processes and channels.
TEST(PlanConnections, both_sides_of_a_connection_agree) {
  const Plan plan = plan_of(kThreeProcesses);
  int links = 0;
  for (const ProcessPlan& process : plan.processes) {
    const Connections own = connections(plan, process.name).or_throw();
    for (const PeerLink& peer : own.peers) {
      const Connections other = connections(plan, peer.process).or_throw();
      const std::string port = peer.endpoint.substr(peer.endpoint.rfind(':'));
      for (const std::string& channel : peer.channels) {
        bool offered = false;
        for (const BindLink& bind : other.binds) {
          if (!bind.endpoint.ends_with(port)) continue;
          for (const std::string& name : bind.channels) offered = offered || name == channel;
        }
        EXPECT_TRUE(offered) << process.name << " wants " << channel << " of " << peer.process;
        ++links;
      }
    }
  }
  EXPECT_EQ(links, 4);
}

TEST(PlanConnections, multicast_offers_channels_that_may_leave_the_host) {
  const Plan plan = plan_of(
      "hyphos: 1\nnetwork: {discovery: {multicast: on}}\n"
      "channels: {a: {}, b: {scope: machine}, c: {transport: shm}}\n");
  const Connections links = connections(plan, "main").or_throw();
  EXPECT_TRUE(links.uses("zmq"));
  ASSERT_EQ(links.binds.size(), 1U);
  EXPECT_EQ(links.binds[0].channels, Names{"a"});
}

TEST(PlanConnections, host_names_and_ipv6_addresses_work) {
  const Plan plan = plan_of(
      "hyphos: 1\nhosts: {u: {address: robot.local}, v: {address: 'fd00::1'}}\n"
      "processes: {p: {host: u}, q: {host: v}}\nchannels: {a: {}}\n");
  const Connections p = connections(plan, "p").or_throw();
  const Connections q = connections(plan, "q").or_throw();
  EXPECT_EQ(p.binds[0].endpoint, "tcp://*:5550");
  EXPECT_EQ(q.peers[0].endpoint, "tcp://robot.local:5550");
  EXPECT_EQ(q.binds[0].endpoint, "tcp://[fd00::1]:5551");
  EXPECT_EQ(p.peers[0].endpoint, "tcp://[fd00::1]:5551");
}

std::string documented_example() {
  std::ifstream file(std::string(HYPHOS_EXAMPLES_DIR) + "/robot.full.yaml");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(PlanDocs, the_documented_example_loads) {
  const std::string text = documented_example();
  ASSERT_GT(text.size(), 1000U);
  // `include` needs files, and the example's list is empty.
  const Result<Plan> plan = parse_plan(text, "robot.full.yaml");
  ASSERT_TRUE(plan) << plan.error().to_string();
  EXPECT_TRUE(plan->warnings.empty()) << plan->warnings.front();
}

/// For an unknown key, the error lists the valid keys. Each of them must appear in the example.
TEST(PlanDocs, the_documented_example_has_every_key) {
  const std::string text = documented_example();
  int keys = 0;
  for (const char* section :
       {"", "hosts.ugv.", "processes.sense.", "processes.sense.health.", "nodes.world.",
        "channels.front/scan.", "network.", "network.discovery.", "network.curve.", "data_graph.",
        "record.", "clock."}) {
    const std::string option = std::string(section) + "xxxxxxxxxxxxxxxx=1";
    const auto plan = parse_plan(text, "robot.full.yaml", {.overrides = {option}});
    ASSERT_FALSE(plan) << option;
    const std::string& message = plan.error().message;
    const std::size_t from = message.find("keys here are: ");
    ASSERT_NE(from, std::string::npos) << message;
    std::istringstream words(message.substr(from + 15));
    for (std::string key; words >> key;) {
      if (key.ends_with(',') || key.ends_with(')')) key.pop_back();
      EXPECT_NE(text.find(key + ":"), std::string::npos) << section << key << " is not documented";
      ++keys;
    }
  }
  EXPECT_GT(keys, 45);
  for (const char* key : {"ip", "server_key", "process", "include"}) {
    EXPECT_NE(text.find(std::string(key) + ":"), std::string::npos) << key;
  }
}

}  // namespace
}  // namespace hyphos
