#include "hyphos/plan.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

namespace hyphos {
namespace {

Plan plan_of(const std::string& text, const PlanOptions& options = {}) {
  return parse_plan(text, "r.yaml", options).or_throw();
}

/// A folder that is removed after the test.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("hyphos_plan_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return file;
  }
  [[nodiscard]] std::string text(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

using Names = std::vector<std::string>;

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
         deadline_ms: 200, priority: high, transport: zmq, scope: machine, type: a::B}
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
                        .block_timeout_ms = 0};
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
  map: {threads: 3, env: {A: 1, B: two}, cpu_affinity: [1, 0], log_level: debug}
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
  EXPECT_TRUE(plan.channel("A_channel")->closed);
  EXPECT_FALSE(plan.channel("tf_channel")->closed);
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

constexpr const char* kThreeProcesses = R"(hyphos: 1
hosts:
  ugv: {address: 10.0.0.1, netns: n1}
  base: {address: 10.0.0.2}
processes:
  sense: {host: ugv, nodes: [world]}
  drive: {host: ugv, nodes: [driver], endpoint: "tcp://*:7000"}
  think: {host: base, nodes: [mapper]}
nodes: {world: , driver: , mapper: }
channels:
  scan: {publishers: [world], subscribers: [mapper, driver]}
  cmd: {publishers: [mapper], subscribers: [driver]}
  inner: {publishers: [world], subscribers: [world], scope: local}
  forced: {publishers: [world, driver], subscribers: [world, driver], transport: zmq}
  open: {scope: machine}
)";

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

TEST(PlanInclude, the_including_file_overrides_its_includes) {
  const Folder folder;
  folder.write("parts/common.yaml",
               "robot: common\nchannels:\n  scan: {depth: 5, latched: true}\n  odom: {}\n"
               "include: more.yaml\n");
  folder.write("parts/more.yaml", "domain: d7\nchannels: {scan: {depth: 9, priority: low}}\n");
  const auto file = folder.write(
      "robot.yaml", "hyphos: 1\ninclude: [parts/common.yaml]\nchannels: {scan: {depth: 3}}\n");
  const Plan plan = load_plan(file).or_throw();
  EXPECT_EQ(plan.robot, "common");
  EXPECT_EQ(plan.domain, "d7");
  EXPECT_EQ(plan.channels.size(), 2U);
  EXPECT_EQ(plan.channel("scan")->policy.depth, 3U);
  EXPECT_TRUE(plan.channel("scan")->policy.latched);
  EXPECT_EQ(plan.channel("scan")->policy.priority, Priority::low);
  EXPECT_EQ(plan.directory, file.parent_path());
}

TEST(PlanInclude, errors_name_their_file) {
  const Folder folder;
  folder.write("common.yaml", "channels:\n  scan: {dept: 5}\n");
  const auto file = folder.write("robot.yaml", "hyphos: 1\ninclude: [common.yaml, gone.yaml]\n");
  const auto plan = load_plan(file);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().to_string(),
            folder.text("robot.yaml") +
                ":2:24: include: 'gone.yaml': cannot open the file: No such file or directory\n" +
                folder.text("common.yaml") +
                ":2:10: channels.scan.dept: unknown key (did you mean 'depth'?)\n"
                "2 errors [invalid_config]");
}

TEST(PlanInclude, cycles_are_refused_and_diamonds_are_accepted) {
  const Folder folder;
  folder.write("a.yaml", "include: b.yaml\n");
  folder.write("b.yaml", "include: ./a.yaml\n");
  const auto cycle = load_plan(folder.write("robot.yaml", "hyphos: 1\ninclude: a.yaml\n"));
  ASSERT_FALSE(cycle);
  EXPECT_EQ(cycle.error().to_string(),
            folder.text("b.yaml") +
                ":1:10: include: './a.yaml' includes itself, directly or through "
                "others. Remove one [invalid_config]");
  folder.write("a.yaml", "include: c.yaml\n");
  folder.write("b.yaml", "include: c.yaml\n");
  folder.write("c.yaml", "channels: {scan: {type: T}}\n");
  const auto diamond =
      load_plan(folder.write("robot.yaml", "hyphos: 1\ninclude: [a.yaml, b.yaml]\n"));
  ASSERT_TRUE(diamond) << diamond.error().to_string();
  EXPECT_EQ(diamond->channels.size(), 1U);
}

TEST(PlanInclude, two_types_for_one_channel_are_refused) {
  const Folder folder;
  folder.write("a.yaml", "channels: {scan: {type: A}}\n");
  const auto plan = load_plan(
      folder.write("robot.yaml", "hyphos: 1\ninclude: a.yaml\nchannels: {scan: {type: B}}\n"));
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().to_string(),
            folder.text("robot.yaml") + ":3:25: channels.scan.type: 'B' here, but 'A' at " +
                folder.text("a.yaml") + ":1:25. A channel has one type [invalid_config]");
}

TEST(PlanInclude, include_works_in_files_only) {
  EXPECT_EQ(parse_plan("hyphos: 1\ninclude: [/etc/passwd]\n", "r.yaml").error().to_string(),
            "r.yaml:2:11: include: works in files only, but this plan was given as text "
            "[invalid_config]");
}

TEST(PlanInclude, exponential_chains_are_bounded) {
  const Folder folder;
  for (int i = 0; i < 20; ++i) {
    const std::string next = "f" + std::to_string(i + 1) + ".yaml";
    folder.write("f" + std::to_string(i) + ".yaml", "include: [" + next + ", " + next + "]\n");
  }
  folder.write("f20.yaml", "robot: r\n");
  const auto plan = load_plan(folder.write("robot.yaml", "hyphos: 1\ninclude: f0.yaml\n"));
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().message.find("more than 64 files are included"), std::string::npos);
}

TEST(PlanLoad, a_missing_file_is_not_found) {
  const auto plan = load_plan("/nonexistent/robot.yaml");
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, Code::not_found);
}

TEST(PlanOverride, an_override_sets_present_and_absent_keys) {
  const Plan plan = plan_of(kThreeProcesses,
                            {.overrides = {"channels.scan.depth=3", "network.base_port=6000",
                                           "channels.open.scope=network",
                                           "nodes.world.params.laser.rate_hz=40", "robot=other"}});
  EXPECT_EQ(plan.channel("scan")->policy.depth, 3U);
  EXPECT_EQ(plan.process("sense")->endpoint, "tcp://10.0.0.1:6000");
  EXPECT_EQ(plan.robot, "other");
  EXPECT_EQ(plan.node("world")->params.find("laser.rate_hz")->as_integer().value(), 40);
}

TEST(PlanOverride, an_override_moves_a_node) {
  const Plan plan = plan_of(kThreeProcesses, {.overrides = {"nodes.world.process=think"}});
  EXPECT_EQ(plan.node("world")->process, "think");
  EXPECT_TRUE(plan.process("sense")->nodes.empty());
  EXPECT_EQ(plan.process("think")->nodes, (Names{"mapper", "world"}));
  ASSERT_EQ(plan.warnings.size(), 1U);
  EXPECT_EQ(plan.warnings[0], "r.yaml:6:3: processes.sense: no node is placed here");
}

TEST(PlanOverride, mistakes_name_the_option) {
  const auto error = [](const std::string& option) {
    return parse_plan(kThreeProcesses, "r.yaml", {.overrides = {option}}).error().to_string();
  };
  EXPECT_EQ(error("channels.scan.dept=3"),
            "--set channels.scan.dept=3: channels.scan.dept: unknown key (did you mean 'depth'?) "
            "[invalid_config]");
  EXPECT_EQ(error("channels.scan"),
            "--set channels.scan: expected KEY.KEY=VALUE, as in channels.scan.depth=3 "
            "[invalid_config]");
  EXPECT_EQ(error("a..b=1"), "--set a..b=1: a key between the dots is empty [invalid_config]");
  EXPECT_EQ(error("nodes.world.process=thnk"),
            "--set nodes.world.process=thnk: nodes.world.process: unknown process 'thnk' (did you "
            "mean 'think'?) [invalid_config]");
  EXPECT_EQ(error("hyphos.x=1"),
            "--set hyphos.x=1: 'hyphos' is not a map at r.yaml:1:9, so nothing can be set below it "
            "[invalid_config]");
  EXPECT_EQ(error("include=x.yaml"),
            "--set include=x.yaml: include cannot be set by an option [invalid_config]");
}

TEST(PlanFiles, paths_of_keys_are_relative_to_the_plan) {
  const Folder folder;
  folder.write("keys/a.pub", "");
  const auto file = folder.write(
      "robot.yaml",
      "hyphos: 1\nnetwork:\n  curve: {public_key_file: keys/a.pub, secret_key_file: keys/a.key}\n");
  const auto plan = load_plan(file, {.overrides = {}, .check_files = true});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().message,
            "network.curve.secret_key_file: '" + folder.text("keys/a.key") + "' does not exist");
}

TEST(PlanFiles, an_executable_beside_the_plan_is_not_searched_in_path) {
  const Plan plan =
      parse_plan("hyphos: 1\nnodes: {a: {executable: ./tool}, b: {executable: tool}}\n",
                 "robot.yaml")
          .or_throw();
  EXPECT_EQ(plan.program_file(*plan.node("a")), "./tool");
  EXPECT_EQ(plan.program_file(*plan.node("b")), "./tool");
}

TEST(PlanFiles, a_bare_executable_is_searched_beside_the_plan_then_in_path) {
  const Folder folder;
  const auto file = folder.write("robot.yaml", "hyphos: 1\nnodes:\n  a: {executable: sh}\n");
  const Plan plan = load_plan(file).or_throw();
  EXPECT_EQ(plan.program_file(*plan.node("a")).filename(), "sh");
  EXPECT_TRUE(plan.program_file(*plan.node("a")).is_absolute());
  EXPECT_NE(plan.program_file(*plan.node("a")), folder.text("sh"));
  (void)folder.write("sh", "");
  EXPECT_EQ(plan.program_file(*plan.node("a")), folder.text("sh"));
}

TEST(PlanFiles, plugins_are_found_in_the_plugin_path) {
  const Folder folder;
  const auto library = folder.write("lib/libworld.so", "");
  const auto file = folder.write("robot.yaml",
                                 "hyphos: 1\nplugin_path: [none, lib]\nnodes:\n"
                                 "  a: {plugin: libworld.so}\n  b: {plugin: libother.so}\n"
                                 "  c: {plugin: ./own.so}\n  d: {executable: bin/run}\n");
  const Plan plan = load_plan(file).or_throw();
  EXPECT_EQ(plan.program_file(*plan.node("a")), library);
  EXPECT_EQ(plan.program_file(*plan.node("b")), "libother.so");
  EXPECT_EQ(plan.program_file(*plan.node("c")), folder.text("own.so"));
  EXPECT_EQ(plan.program_file(*plan.node("d")), folder.text("bin/run"));
  EXPECT_EQ(plan.resolve("/abs"), "/abs");
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
