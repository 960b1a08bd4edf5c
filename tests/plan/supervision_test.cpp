#include <gtest/gtest.h>

#include <string>

#include "hyphos/plan.hpp"

namespace hyphos {
namespace {

using Names = std::vector<std::string>;

Plan plan_of(const std::string& text) { return parse_plan(text, "r.yaml").or_throw(); }

/// The error of a plan whose sections start in line 2, without the code at its end.
std::string error_in(const std::string& sections) {
  const Result<Plan> plan = parse_plan("hyphos: 1\n" + sections, "r.yaml");
  if (plan) return "";
  EXPECT_EQ(plan.error().code, Code::invalid_config);
  std::string text = plan.error().to_string();
  return text.substr(0, text.rfind(" [invalid_config]"));
}

TEST(Supervision, by_default_a_process_starts_once_without_health_checks) {
  const Plan plan = plan_of(R"(hyphos: 1
nodes: {tool: {executable: ./tool}, n: {plugin: libn.so}}
)");
  const SupervisionPlan& main = plan.process("main")->supervision;
  EXPECT_TRUE(main.after.empty());
  EXPECT_EQ(main.ready, Ready::nodes);
  EXPECT_EQ(main.restart, Restart::never);
  EXPECT_EQ(main.ready_timeout_ms, 60'000);
  EXPECT_EQ(main.stop_timeout_ms, 5'000);
  EXPECT_FALSE(main.health.enabled());
  // The program may not use Hyphos.
  EXPECT_EQ(plan.process("tool")->supervision.ready, Ready::started);
}

TEST(Supervision, every_key_is_read) {
  const Plan plan = plan_of(R"(hyphos: 1
processes:
  base: {}
  sense:
    nodes: [world]
    after: [base, tool]
    ready: started
    ready_timeout_ms: 0
    stop_timeout_ms: 100
    restart: always
    backoff_ms: 50
    max_backoff_ms: 800
    max_restarts_per_minute: 3
    health: {heartbeat_ms: 500, channels: [scan], action: report}
nodes: {world: {plugin: libw.so}, tool: {executable: ./tool}}
channels: {scan: {deadline_ms: 200, publishers: [world]}}
)");
  const SupervisionPlan& sense = plan.process("sense")->supervision;
  EXPECT_EQ(sense.after, (Names{"base", "tool"}));
  EXPECT_EQ(sense.ready, Ready::started);
  EXPECT_EQ(sense.ready_timeout_ms, 0);
  EXPECT_EQ(sense.stop_timeout_ms, 100);
  EXPECT_EQ(sense.restart, Restart::always);
  EXPECT_EQ(sense.backoff_ms, 50);
  EXPECT_EQ(sense.max_backoff_ms, 800);
  EXPECT_EQ(sense.max_restarts_per_minute, 3);
  EXPECT_EQ(sense.health.heartbeat_ms, 500);
  EXPECT_EQ(sense.health.channels, (Names{"scan"}));
  EXPECT_FALSE(sense.health.kill);
}

TEST(Supervision, an_executable_with_health_checks_is_ready_with_its_nodes) {
  const Plan plan = plan_of(R"(hyphos: 1
processes: {tool: {health: {heartbeat_ms: 500}}}
nodes: {tool: {executable: ./tool}}
)");
  EXPECT_EQ(plan.process("tool")->supervision.ready, Ready::nodes);
}

TEST(Supervision, a_long_backoff_raises_its_maximum) {
  const Plan plan = plan_of("hyphos: 1\nprocesses: {p: {restart: always, backoff_ms: 60000}}\n");
  EXPECT_EQ(plan.process("p")->supervision.max_backoff_ms, 60'000);
}

TEST(SupervisionErrors, invalid_names_and_values_are_reported) {
  EXPECT_EQ(error_in("processes: {sense: {}, map: {after: [sens]}}"),
            "r.yaml:2:38: processes.map.after: unknown process 'sens' (did you mean 'sense'?)");
  EXPECT_EQ(error_in("processes: {map: {after: map}}"),
            "r.yaml:2:26: processes.map.after: process 'map' cannot wait for itself");
  EXPECT_EQ(error_in("processes: {a: {}, map: {after: [a, a]}}"),
            "r.yaml:2:37: processes.map.after: process 'a' is listed twice");
  EXPECT_EQ(error_in("processes: {p: {restart: on_failur}}"),
            "r.yaml:2:26: processes.p.restart: expected one of never, on_failure, always, found "
            "'on_failur' (did you mean 'on_failure'?)");
  EXPECT_EQ(error_in("processes: {p: {ready: soon}}"),
            "r.yaml:2:24: processes.p.ready: expected one of started, nodes, found 'soon'");
  EXPECT_EQ(error_in("processes: {p: {backoff_ms: 5}}"),
            "r.yaml:2:29: processes.p.backoff_ms: has no effect with restart never. Remove it, or "
            "write restart: on_failure");
  EXPECT_EQ(error_in("processes: {p: {restart: always, backoff_ms: 5, max_backoff_ms: 4}}"),
            "r.yaml:2:65: processes.p.max_backoff_ms: is less than backoff_ms, 5. The delay grows "
            "from backoff_ms to max_backoff_ms");
  EXPECT_EQ(error_in("processes: {p: {restart: always, max_restarts_per_minute: 0}}"),
            "r.yaml:2:59: processes.p.max_restarts_per_minute: expected a whole number from 1 to "
            "600, found '0'");
}

TEST(SupervisionErrors, invalid_health_checks_are_reported) {
  EXPECT_EQ(error_in("processes: {p: {health: {}}}"),
            "r.yaml:2:25: processes.p.health: has nothing to monitor. Add heartbeat_ms, or "
            "channels");
  EXPECT_EQ(error_in("processes: {p: {health: {heartbeat_ms: 1}}}"),
            "r.yaml:2:40: processes.p.health.heartbeat_ms: expected a whole number from 20 to "
            "86400000, found '1'");
  EXPECT_EQ(error_in("processes: {p: {health: {channels: [scan]}}}\nchannels: {scan: {}}"),
            "r.yaml:2:37: processes.p.health.channels: channel 'scan' has no deadline_ms, so "
            "it is never late. Add one under channels.scan");
  EXPECT_EQ(error_in("processes: {p: {health: {channels: scna}}}\nchannels: {scan: {}}"),
            "r.yaml:2:36: processes.p.health.channels: unknown channel 'scna' (did you mean "
            "'scan'?)");
  EXPECT_EQ(error_in("processes: {p: {health: {channels: [scan]}}, q: {nodes: [n]}}\n"
                     "nodes: {n: }\nchannels: {scan: {deadline_ms: 9, publishers: [n]}}"),
            "r.yaml:2:37: processes.p.health.channels: no node of process 'p' publishes 'scan'. "
            "List channels that the process itself publishes");
}

TEST(SupervisionErrors, a_cycle_is_reported_with_its_path) {
  EXPECT_EQ(error_in("processes: {a: {after: c}, b: {after: a}, c: {after: b}, d: {after: a}}"),
            "r.yaml:2:13: processes.a.after: a cycle, a after c after b after a. None of them "
            "could start first");
}

TEST(SupervisionErrors, ssh_keys_of_hosts_are_checked_and_read) {
  EXPECT_EQ(error_in("hosts: {u: {workdir: /home/robot}}"),
            "r.yaml:2:22: hosts.u.workdir: has no effect without ssh. Add ssh: user@host, or "
            "remove it");
  const Plan plan = plan_of(R"(hyphos: 1
hosts: {u: {ssh: me@u, ssh_options: [-p, "2222"], workdir: /w, plan: r.yaml, command: bin/hyphos}}
)");
  const HostPlan& host = *plan.host("u");
  EXPECT_EQ(host.ssh_options, (Names{"-p", "2222"}));
  EXPECT_EQ(host.workdir, "/w");
  EXPECT_EQ(host.plan, "r.yaml");
  EXPECT_EQ(host.command, "bin/hyphos");
}

TEST(SupervisionText, supervision_is_shown_only_if_configured) {
  EXPECT_EQ(to_text(plan_of("hyphos: 1\n")).find("RESTART"), std::string::npos);
  const Plan plan = plan_of(R"(hyphos: 1
processes:
  base: {}
  sense: {after: base, restart: on_failure, health: {heartbeat_ms: 500}}
)");
  EXPECT_NE(
      to_text(plan).find(
          "PROCESS  AFTER  READY  RESTART                                              HEALTH\n"
          "base     -      nodes  never                                                -\n"
          "sense    base   nodes  on_failure after 200..10000 ms, at most 10 a "
          "minute  heartbeat 500 ms: kill\n"),
      std::string::npos)
      << to_text(plan);
  EXPECT_NE(to_json(plan).find("\"restart\": \"on_failure\""), std::string::npos);
}

TEST(CheckFiles, only_files_of_the_given_hosts_are_checked) {
  const std::string text = R"(hyphos: 1
hosts: {u: {address: 10.0.0.1}, v: {address: 10.0.0.2}}
processes: {p: {host: u, nodes: [a]}, q: {host: v, nodes: [b]}}
nodes: {a: {plugin: ./gone_a.so}, b: {plugin: ./gone_b.so}}
)";
  PlanOptions options;
  options.check_files = true;
  options.check_hosts = {"v"};
  const std::string answer = parse_plan(text, "r.yaml", options).error().to_string();
  EXPECT_EQ(answer.find("gone_a"), std::string::npos) << answer;
  EXPECT_NE(answer.find("gone_b"), std::string::npos) << answer;
}

}  // namespace
}  // namespace hyphos
