#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "hyphos/plan.hpp"

namespace hyphos {
namespace {

/// A valid plan to be modified: two processes on one host.
constexpr const char* kSound = R"(hyphos: 1
processes:
  sense: {nodes: [world]}
  map: {}
nodes:
  world: {plugin: libworld.so}
  mapper: {python: patrol.mapper:Mapper, process: map}
channels:
  scan: {type: hyphos.msgs.LaserScan, depth: 5, publishers: [world], subscribers: [mapper]}
  map: {}
)";

std::string error_of(const std::string& text, const PlanOptions& options = {}) {
  const Result<Plan> plan = parse_plan(text, "r.yaml", options);
  if (plan) return "";
  EXPECT_EQ(plan.error().code, Code::invalid_config);
  return plan.error().to_string();
}

/// The valid plan plus one line at its end, which is line 11.
std::string error_with(const std::string& line) { return error_of(kSound + line + "\n"); }

/// A plan of one section that starts in line 2.
std::string error_in(const std::string& section) { return error_of("hyphos: 1\n" + section); }

constexpr const char* kEnd = " [invalid_config]";

TEST(PlanErrors, an_unknown_standard_type_is_refused) {
  EXPECT_EQ(error_in("channels: {scan: {type: hyphos.msgs.LaserScn}}\n"),
            std::string("r.yaml:2:25: channels.scan.type: unknown type 'hyphos.msgs.LaserScn' "
                        "(did you mean 'hyphos.msgs.LaserScan'?)") +
                kEnd);
  EXPECT_NE(error_in("channels: {scan: {type: hyphos.msgs.Zebra}}\n").find("unknown type"),
            std::string::npos);
  for (const char* fine : {"hyphos.msgs.LaserScan", "hyphos.msgs.TfMessage", "hyphos.msgsx.Any",
                           "rover.LaserScn", "hyphos.msgs.Log"}) {
    EXPECT_EQ(error_in(std::string("channels: {scan: {type: ") + fine + "}}\n"), "");
  }
}

TEST(PlanErrors, the_plan_of_these_tests_is_valid) { EXPECT_EQ(error_of(kSound), ""); }

TEST(PlanErrors, the_version_is_required) {
  EXPECT_EQ(error_of("robot: x\n"),
            "r.yaml:1:1: hyphos: missing. Begin the file with 'hyphos: 1' [invalid_config]");
  EXPECT_EQ(error_of("hyphos: 2\n"),
            "r.yaml:1:9: hyphos: expected 1, the version this program reads, found '2' "
            "[invalid_config]");
  EXPECT_EQ(error_of(""), "r.yaml: the file is empty. Begin it with 'hyphos: 1' [invalid_config]");
  EXPECT_EQ(error_of("[1, 2]"),
            "r.yaml:1:1: the file: expected a map with keys hyphos, robot, domain, plugin_path, "
            "protos, hosts, processes, nodes, groups, transport, channels, network, data_graph, "
            "record, clock, shared_params, found a list "
            "[invalid_config]");
}

/// One mistake each: the section from line 2 on, and the whole error without the file's name.
struct Case {
  const char* section;
  const char* answer;
};

void expect_all(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    EXPECT_EQ(error_in(one.section), std::string("r.yaml:") + one.answer + kEnd) << one.section;
  }
}

TEST(PlanErrors, unknown_keys_are_reported_with_a_suggestion) {
  expect_all({
      {"chanels: {}", "2:1: chanels: unknown key (did you mean 'channels'?)"},
      {"hosts: {a: {adress: 10.0.0.1}}",
       "2:13: hosts.a.adress: unknown key (did you mean 'address'?)"},
      {"processes: {a: {colour: red}}",
       "2:17: processes.a.colour: unknown key (keys here are: host, nodes, threads, cpu_affinity, "
       "log_level, env, prefix, endpoint, after, ready, ready_timeout_ms, stop_timeout_ms, "
       "restart, backoff_ms, max_backoff_ms, max_restarts_per_minute, health, params, replicas)"},
      {"nodes: {a: {pluggin: x.so}}",
       "2:13: nodes.a.pluggin: unknown key (did you mean 'plugin'?)"},
      {"channels:\n  scan:\n    dept: 3",
       "4:5: channels.scan.dept: unknown key (did you mean 'depth'?)"},
      {"network: {publishr: {}}",
       "2:11: network.publishr: unknown key (did you mean 'publisher'?)"},
      {"data_graph: {close_channel: []}",
       "2:14: data_graph.close_channel: unknown key (did you mean 'close_channels'?)"},
      {"record: {chanels: []}", "2:10: record.chanels: unknown key (did you mean 'channels'?)"},
  });
}

TEST(PlanErrors, values_of_the_wrong_kind_or_range_are_reported) {
  expect_all({
      {"channels: {a: {depth: 0}}",
       "2:23: channels.a.depth: expected a whole number from 1 to 65536, found '0'"},
      {"channels: {a: {depth: 65537}}",
       "2:23: channels.a.depth: expected a whole number from 1 to 65536, found '65537'"},
      {"channels: {a: {depth: '5'}}",
       "2:23: channels.a.depth: expected a whole number from 1 to 65536, found '5'. Numbers must "
       "not "
       "be quoted"},
      {"channels: {a: {depth: [5]}}",
       "2:23: channels.a.depth: expected a whole number from 1 to 65536, found a list"},
      {"channels: {a: {deadline_ms: -1}}",
       "2:29: channels.a.deadline_ms: expected a whole number from 0 to 86400000, found '-1'"},
      {"channels: {a: {latched: maybe}}",
       "2:25: channels.a.latched: expected true or false, found 'maybe'"},
      {"channels: {a: {latched: true, latched_depth: 257}}",
       "2:46: channels.a.latched_depth: expected a whole number from 1 to 256, found '257'"},
      {"channels: {a: {latched_depth: 2}}",
       "2:31: channels.a.latched_depth: has no effect without latched. Remove it, or write "
       "latched: true"},
      {"channels: {a: {lifespan_ms: -1}}",
       "2:29: channels.a.lifespan_ms: expected a whole number from 0 to 86400000, found '-1'"},
      {"channels: {a: {overflow: blok}}",
       "2:26: channels.a.overflow: expected one of drop_oldest, drop_newest, block, found 'blok' "
       "(did you mean 'block'?)"},
      {"channels: [a]", "2:11: channels: expected a map of names, found a list"},
      {"channels: {a: 3}",
       "2:15: channels.a: expected a map with keys type, reliability, depth, overflow, latched, "
       "latched_depth, deadline_ms, lifespan_ms, priority, block_timeout_ms, transport, scope, "
       "open, "
       "publishers, subscribers, load, found "
       "'3'"},
      {"processes: {p: {threads: 5000}}",
       "2:26: processes.p.threads: expected a whole number from 0 to 1024, found '5000'"},
      {"processes: {p: {cpu_affinity: [0, 0]}}", "2:35: processes.p.cpu_affinity: CPU 0 twice"},
      {"processes: {p: {prefix: gdb -ex 'break main' --args}}",
       "2:25: processes.p.prefix: quotes are not read. Give a list of words instead: [gdb, -ex, "
       "\"break main\", --args]"},
      {"processes: {p: {prefix: [gdb, '']}}",
       "2:31: processes.p.prefix: '': a file name must not be empty"},
      {"processes: {p: {cpu_affinity: [-1]}}",
       "2:32: processes.p.cpu_affinity: expected CPU numbers from 0 to 1023, found '-1'"},
      {"processes: {p: {log_level: verbose}}",
       "2:28: processes.p.log_level: expected one of debug, info, warn, error, off, found "
       "'verbose'"},
      {"processes: {p: {env: {'A=B': 1}}}",
       "2:23: processes.p.env.A=B: an environment variable's name is letters, digits and '_'"},
      {"nodes: {n: {params: [1]}}", "2:21: nodes.n.params: expected a map, found a list"},
      {"nodes: {n: {persist: [a]}}", "2:22: nodes.n.persist: expected text, found a list"},
      {"nodes: {a: {persist: x.yaml}, b: {persist: ./x.yaml}}",
       "2:31: nodes.b.persist: './x.yaml' is the file of node 'a' already. Give each node its own "
       "file"},
      {"processes: {p: {params: {n: {x: 1}}}, q: {}}\nnodes: {n: {process: q}, m: {process: p}}",
       "2:26: processes.p.params: node 'n' is not in this process (its nodes are: m)"},
      {"processes: {p: {params: {n: 1}}}\nnodes: {n: {process: p}}",
       "2:29: processes.p.params.n: expected a map, found '1'"},
      {"nodes: {n: {python: 'a b'}}",
       "2:21: nodes.n.python: 'a b': expected a module, as in patrol.mapper, or module:Class, or "
       "file.py:Class"},
      {"domain: a/b", "2:9: domain: 'a/b': a domain is 1 to 32 letters, digits, '_' and '-'"},
      {"network: {discovery: {group: 10.0.0.1}}",
       "2:30: network.discovery.group: expected an address from 224.0.0.0 to 239.255.255.255, "
       "found "
       "'10.0.0.1'"},
      {"network: {faults: {loss: 2}}",
       "2:26: network.faults.loss: expected a number from 0 to 1, found '2'"},
      {"network: {faults: {lose: 1}}",
       "2:20: network.faults.lose: unknown key (did you mean 'loss'?)"},
      {"network: {curve: {public_key_file: a.pub}}",
       "2:18: network.curve.secret_key_file: missing: CURVE needs both files of a key pair, "
       "one Z85 key in each"},
  });
}

TEST(PlanErrors, invalid_names_are_reported) {
  expect_all({
      {"channels: {/scan: {}}",
       "2:12: channels: '/scan': a channel's name does not begin with '/', remove the '/'"},
      {"channels: {a//b: {}}",
       "2:12: channels: 'a//b': a channel's name is words of letters, digits and '_', not starting "
       "with a digit, joined by '/', as in front/scan"},
      {"channels: {hyphos/x: {}}",
       "2:12: channels: 'hyphos/x': channels named hyphos are reserved"},
      {"nodes: {a.b: {}}",
       "2:9: nodes: 'a.b': a name is letters, digits, '_' and '-', starting with a letter"},
      {"robot: hyphos", "2:8: robot: 'hyphos': the name hyphos is reserved"},
      {"nodes: {\"n\\xffx\": {}}",
       "2:9: nodes: 'n\xc3\xbfx': a name is letters, digits, '_' and '-', starting with a letter"},
  });
  EXPECT_NE(channel_name_problem(std::string(129, 'a')), "");
  EXPECT_EQ(channel_name_problem(std::string(128, 'a')), "");
  EXPECT_EQ(channel_name_problem("A_channel"), "");
  EXPECT_EQ(channel_name_problem("_x/y2"), "");
  EXPECT_NE(channel_name_problem("x/2y"), "");
  EXPECT_NE(channel_name_problem("x/"), "");
  EXPECT_NE(channel_name_problem(""), "");
  EXPECT_EQ(name_problem("front-camera_2"), "");
  EXPECT_NE(name_problem(std::string(49, 'a')), "");
}

TEST(PlanErrors, unknown_references_are_reported) {
  EXPECT_EQ(error_with("data_graph: {close_channels: [scn]}"),
            "r.yaml:11:31: data_graph.close_channels: unknown channel 'scn' (did you mean 'scan'?) "
            "[invalid_config]");
  EXPECT_EQ(error_with("record: {channels: [scan, tf]}"),
            "r.yaml:11:27: record.channels: unknown channel 'tf' (channels are: scan, map) "
            "[invalid_config]");
  EXPECT_EQ(error_with("record: {channels: [scan, scan]}"),
            "r.yaml:11:27: record.channels: channel 'scan' is listed twice [invalid_config]");
  expect_all({
      {"channels: {a: {publishers: [nobody]}}",
       "2:29: channels.a.publishers: unknown node 'nobody' (there are no nodes)"},
      {"nodes: {camera: }\nchannels: {a: {subscribers: [camra]}}",
       "3:30: channels.a.subscribers: unknown node 'camra' (did you mean 'camera'?)"},
      {"nodes: {n: }\nchannels: {a: {subscribers: [n, n]}}",
       "3:33: channels.a.subscribers: node 'n' is listed twice"},
      {"processes: {p: {nodes: [camra]}}\nnodes: {camera: }",
       "2:25: processes.p.nodes: unknown node 'camra' (did you mean 'camera'?)"},
      {"processes: {sense: }\nnodes: {n: {process: sens}}",
       "3:22: nodes.n.process: unknown process 'sens' (did you mean 'sense'?)"},
      {"hosts: {ugv: }\nprocesses: {p: {host: uav}}",
       "3:23: processes.p.host: unknown host 'uav' (did you mean 'ugv'?)"},
      {"nodes: {n: {remap: {a: scan}}}\nchannels: {scam: }",
       "2:24: nodes.n.remap.a: unknown channel 'scan' (did you mean 'scam'?)"},
      {"processes: {p: }\nnetwork: {publisher: {ip: '*:1', channels: [], process: q}}",
       "3:57: network.publisher.process: unknown process 'q' (processes are: p)"},
  });
}

TEST(PlanErrors, contradictions_in_the_placement_are_reported) {
  expect_all({
      {"processes: {a: {nodes: [n]}, b: {nodes: [n]}}\nnodes: {n: }",
       "2:42: processes.b.nodes: node 'n' is placed already, in process 'a' at r.yaml:2:25. Keep "
       "one"},
      {"processes:\n  a: {nodes: [n]}\n  b: {}\nnodes: {n: {process: b}}",
       "5:22: nodes.n.process: 'b' here, but process 'a' names the node at r.yaml:3:15. Keep one"},
      {"nodes: {n: {plugin: a.so, executable: b}}",
       "2:39: nodes.n.executable: the node is already a plugin. Keep one of plugin, python, "
       "executable, gateway, builtin"},
      {"nodes: {n: {plugin: a.so, args: [x]}}",
       "2:33: nodes.n.args: only executables and gateways take arguments. Pass values to a plugin "
       "node as params"},
      {"nodes: {n: {gateway: ../ros1}}",
       "2:22: nodes.n.gateway: '../ros1': a name is letters, digits, '_' and '-', starting with a "
       "letter"},
      {"processes: {p: {nodes: [a, b]}}\nnodes: {a: {plugin: a.so}, b: {executable: x}}",
       "3:28: nodes.b: shares process 'p' with node 'a', but an executable needs its own "
       "process. Give one of them another process"},
      {"hosts: {a: {address: 10.0.0.1}, b: {address: 10.0.0.2}}\nprocesses: {p: {}}",
       "3:16: processes.p.host: missing: the plan has several hosts (hosts are: a, b)"},
      {"hosts: {a: {address: 10.0.0.1}, b: {address: 10.0.0.2}}\nnodes: {n: {plugin: a.so}}",
       "3:9: processes.main: needs a host, because the plan has several (hosts are: a, b). Add "
       "it under processes"},
      {"hosts: {a: {address: 10.0.0.1}, b: {address: 10.0.0.1}}\nprocesses: {p: {host: a}}",
       "2:46: hosts.b.address: '10.0.0.1' is the address of host 'a' already. Put its processes on "
       "one host"},
      {"hosts: {a: {address: 10.0.0.1}, b: {}}\nprocesses: {p: {host: a}}",
       "2:36: hosts.b.address: missing: a plan with several hosts needs the address of each"},
      {"hosts: {a: {address: 10.0.0.300}}",
       "2:22: hosts.a.address: '10.0.0.300': an address is IPv4 (10.0.0.1), IPv6 (fd00::1) or a "
       "host name"},
  });
}

TEST(PlanErrors, contradicting_policies_are_reported) {
  expect_all({
      {"channels: {a: {overflow: block}}",
       "2:26: channels.a.overflow: 'block' contradicts reliability best_effort, which drops. Write "
       "reliability: reliable, or overflow: drop_oldest"},
      {"channels: {a: {block_timeout_ms: 5}}",
       "2:34: channels.a.block_timeout_ms: has no effect with overflow drop_oldest. Remove it, or "
       "write overflow: block"},
      {"channels: {a: {scope: local, transport: shm}}",
       "2:41: channels.a.transport: has no effect with scope local, which stays in the process. "
       "Remove it, or write scope: machine"},
  });
}

constexpr const char* kTwoHosts =
    "hosts: {u: {address: 10.0.0.1}, v: {address: 10.0.0.2}}\n"
    "processes: {p: {host: u, nodes: [a]}, q: {host: v, nodes: [b]}}\n"
    "nodes: {a: , b: }\n";

TEST(PlanErrors, unreachable_subscribers_are_reported) {
  const auto with = [](const std::string& how) {
    return error_in(kTwoHosts + std::string("channels: {c: {publishers: [a], subscribers: [b], ") +
                    how + "}}");
  };
  EXPECT_EQ(with("scope: network"), "");
  EXPECT_EQ(
      with("scope: machine"),
      "r.yaml:5:12: channels.c: subscriber 'b' (process q, host v) gets nothing from publisher "
      "'a' (process p, host u), because scope is machine. Widen scope, or place them together "
      "[invalid_config]");
  EXPECT_EQ(
      with("transport: shm"),
      "r.yaml:5:12: channels.c: subscriber 'b' (process q, host v) gets nothing from publisher "
      "'a' (process p, host u), because transport is shm. Write transport: auto "
      "[invalid_config]");
}

TEST(PlanErrors, invalid_endpoints_are_reported) {
  expect_all({
      {"network: {publisher: {channels: [a]}}",
       "2:22: network.publisher.ip: missing: write the endpoint, as in ip: \"tcp://*:5553\""},
      {"network: {publisher: {ip: '*:0', channels: [a]}}",
       "2:27: network.publisher.ip: '*:0': the port must be a number from 1 to 65535, as in "
       "tcp://*:5553"},
      {"network: {publisher: {ip: 'udp://x:1', channels: [a]}}",
       "2:27: network.publisher.ip: 'udp://x:1': only tcp:// and ipc:// are supported"},
      {"network: {publisher: {ip: 'tcp://localhost:1', channels: [a]}}",
       "2:27: network.publisher.ip: a name cannot be bound, use 127.0.0.1"},
      {"network: {publisher: {ip: 'tcp://::1:80', channels: [a]}}",
       "2:27: network.publisher.ip: 'tcp://::1:80': an IPv6 address needs brackets, as in "
       "tcp://[::1]:5553"},
      {"network: {subscribers: [{ip: 'tcp://*:5556', channels: [a]}]}",
       "2:30: network.subscribers.ip: 'tcp://*:5556' is every address of this machine. A "
       "subscriber needs the publisher's address, as in tcp://192.168.10.5:5556"},
      {"network: {publisher: {ip: '*:1'}}",
       "2:22: network.publisher.channels: missing: list the channels of this link"},
      {"processes: {p: {endpoint: 'tcp://*'}}",
       "2:27: processes.p.endpoint: 'tcp://*': expected tcp://ADDRESS:PORT, as in tcp://*:5553"},
      {"processes: {p: , q: }\nnetwork: {publisher: {ip: '*:1', channels: []}}",
       "3:22: network.publisher.process: missing: the plan has several processes (processes are: "
       "p, q)"},
      {"channels: {a: {scope: machine}}\nnetwork: {publisher: {ip: '*:1', channels: [a]}}",
       "3:44: network.publisher.channels: channel 'a' has scope machine at r.yaml:2:12, so it "
       "cannot pass here. Change one"},
      {"network: {subscribers: {ip: 'h:1', channels: [a], server_key: k}}",
       "2:29: network.subscribers.server_key: needs our own keys. Add network.curve"},
  });
}

TEST(PlanErrors, endpoints_bound_twice_are_reported) {
  expect_all({
      {"processes: {p: {endpoint: '*:5553'}, q: {endpoint: 'tcp://10.0.0.1:5553'}}",
       "2:38: processes.q.endpoint: process 'q' binds tcp://10.0.0.1:5553, which collides with "
       "tcp://*:5553. processes.p.endpoint of process 'p' at r.yaml:2:13 uses it already. Give "
       "one of them another port"},
      {"network:\n  publisher:\n    - {ip: '*:1', channels: [a]}\n    - {ip: '*:1', channels: [b]}",
       "5:12: network.publisher.ip: process 'main' binds tcp://*:1 a second time. "
       "network.publisher.ip of process 'main' at r.yaml:4:12 uses it already. Give one of them "
       "another port"},
  });
  // Valid: the same port on two machines, and one endpoint of a process for both purposes.
  EXPECT_EQ(error_in("hosts: {u: {address: 10.0.0.1}, v: {address: 10.0.0.2}}\n"
                     "processes: {p: {host: u, endpoint: '*:1'}, q: {host: v, endpoint: '*:1'}}"),
            "");
  EXPECT_EQ(error_in("processes: {p: {endpoint: '*:1'}}\n"
                     "network: {publisher: {ip: '*:1', channels: [a]}}"),
            "");
}

TEST(PlanErrors, endpoints_unreachable_for_peers_are_reported) {
  const std::string rest = "nodes: {a: , b: }\nchannels: {c: {publishers: [a], subscribers: [b]}}";
  EXPECT_EQ(error_in("hosts: {u: {address: 10.0.0.1}, v: {address: 10.0.0.2}}\n"
                     "processes: {p: {host: u, nodes: [a], endpoint: 'ipc://x'}, "
                     "q: {host: v, nodes: [b]}}\n" +
                     rest),
            "r.yaml:3:13: processes.p.endpoint: ipc://x cannot be reached by process 'q' on host "
            "'v'. Write tcp://*:PORT [invalid_config]");
  EXPECT_EQ(
      error_in("hosts: {u: {address: 127.0.0.1}, v: {address: 10.0.0.2}}\n"
               "processes: {p: {host: u, nodes: [a]}, q: {host: v, nodes: [b]}}\n" +
               rest),
      "r.yaml:3:13: processes.p.endpoint: tcp://127.0.0.1:5550 cannot be reached by process 'q' "
      "on host 'v'. Give host 'u' an address of its network [invalid_config]");
  EXPECT_EQ(error_in("network: {base_port: 65535}\n"
                     "hosts: {u: {address: 10.0.0.1}, v: {address: 10.0.0.2}}\n"
                     "processes: {q: {host: v, nodes: [b]}, p: {host: u, nodes: [a]}}\n" +
                     rest),
            "r.yaml:4:39: processes.p.endpoint: no port below 65536 is left for this process. "
            "Lower network.base_port, or set an endpoint [invalid_config]");
}

TEST(PlanErrors, all_errors_are_reported_in_order_of_the_lines) {
  EXPECT_EQ(error_of("hyphos: 1\n"
                     "domian: 0\n"
                     "channels:\n"
                     "  scan: {depth: 0, dept: 1}\n"
                     "  scan: {}\n"
                     "nodes:\n"
                     "  n: {process: p}\n"),
            "r.yaml:2:1: domian: unknown key (did you mean 'domain'?)\n"
            "r.yaml:4:17: channels.scan.depth: expected a whole number from 1 to 65536, found '0'\n"
            "r.yaml:4:20: channels.scan.dept: unknown key (did you mean 'depth'?)\n"
            "r.yaml:5:3: 'scan' is a duplicate key, first at r.yaml:4:3. Remove one\n"
            "r.yaml:7:16: nodes.n.process: unknown process 'p' (there are no processes)\n"
            "5 errors [invalid_config]");
}

TEST(PlanErrors, too_many_entries_are_refused) {
  std::string text = "processes:\n";
  for (int i = 0; i < 1025; ++i) text += "  p" + std::to_string(i) + ": {}\n";
  EXPECT_EQ(error_in(text), "r.yaml:3:3: processes: more than 1024 entries [invalid_config]");
  std::string listing = "network: {publisher: {ip: '*:1', channels: [";
  for (int i = 0; i < 4097; ++i) listing += "c" + std::to_string(i) + ",";
  EXPECT_NE(error_of(listing + "]}}").find("network.publisher.channels: more than 4096 channels"),
            std::string::npos);
}

TEST(PlanErrors, too_many_pairs_are_refused) {
  std::string text = "processes:\n";
  for (int i = 0; i < 100; ++i) text += "  p" + std::to_string(i) + ": {}\n";
  text += "channels:\n";
  for (int i = 0; i < 21; ++i) text += "  c" + std::to_string(i) + ": {}\n";
  EXPECT_EQ(
      error_in(text),
      "r.yaml:124:3: channels.c20: the channels up to here have more than 200000 pairs of "
      "publishers and subscribers. Declare publishers and subscribers, or use fewer channels or "
      "processes [invalid_config]");
}

TEST(PlanErrors, files_and_cpus_are_checked_only_on_request) {
  const std::string text =
      "nodes: {n: {plugin: ./gone.so, process: p}}\n"
      "processes: {p: {cpu_affinity: [1000]}}\n"
      "network: {curve: {public_key_file: /gone/a, secret_key_file: /gone/b}}";
  EXPECT_EQ(error_in(text), "");
  PlanOptions options;
  options.check_files = true;
  const std::string answer = error_of("hyphos: 1\n" + text, options);
  EXPECT_NE(answer.find("nodes.n.plugin: './gone.so' does not exist"), std::string::npos) << answer;
  EXPECT_NE(answer.find("processes.p.cpu_affinity: CPU 1000 does not exist"), std::string::npos);
  EXPECT_NE(answer.find("network.curve.public_key_file: '/gone/a' does not exist"),
            std::string::npos);
  EXPECT_NE(answer.find("network.curve.secret_key_file: '/gone/b' does not exist"),
            std::string::npos);
}

}  // namespace
}  // namespace hyphos
