#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "hyphos/plan.hpp"

namespace hyphos {
namespace {

Plan good(const std::string& text) {
  auto plan = parse_plan(text, "robot.yaml");
  EXPECT_TRUE(plan) << (plan ? "" : plan.error().message);
  return plan ? std::move(*plan) : Plan{};
}

std::string refused(const std::string& text) {
  const auto plan = parse_plan(text, "robot.yaml");
  EXPECT_FALSE(plan);
  return plan ? "" : plan.error().message;
}

std::vector<std::string> names(const auto& all) {
  std::vector<std::string> out;
  for (const auto& one : all) out.push_back(one.name);
  return out;
}

using Names = std::vector<std::string>;

TEST(Replicas, a_node_with_replicas_is_k_nodes) {
  const Plan plan = good(
      "hyphos: 1\n"
      "nodes:\n"
      "  source: {plugin: source.so}\n"
      "  worker: {executable: ./worker, args: [-v], params: {rate_hz: 5}, replicas: 3}\n"
      "channels:\n"
      "  job: {publishers: [source], subscribers: [worker]}\n"
      "  done: {publishers: worker}\n");
  EXPECT_EQ(names(plan.nodes), (Names{"source", "worker.0", "worker.1", "worker.2"}));
  EXPECT_EQ(names(plan.processes), (Names{"main", "worker.0", "worker.1", "worker.2"}));
  EXPECT_EQ(plan.node("worker.2")->args, Names{"-v"});
  EXPECT_EQ(plan.node("worker.2")->params.find("rate_hz")->as_integer().or_throw(), 5);
  EXPECT_EQ(*plan.channel("job")->subscribers, (Names{"worker.0", "worker.1", "worker.2"}));
  EXPECT_EQ(*plan.channel("done")->publishers, (Names{"worker.0", "worker.1", "worker.2"}));
}

TEST(Replicas, the_nodes_of_one_process_may_be_replicas) {
  const Plan plan = good(
      "hyphos: 1\n"
      "processes:\n"
      "  pool: {nodes: [worker, other], params: {worker: {rate_hz: 7}}}\n"
      "nodes:\n"
      "  worker: {python: work, replicas: 2}\n"
      "  other: {python: work}\n");
  EXPECT_EQ(plan.process("pool")->nodes, (Names{"worker.0", "worker.1", "other"}));
  EXPECT_EQ(plan.node("worker.1")->params.find("rate_hz")->as_integer().or_throw(), 7);
}

TEST(Replicas, a_process_with_replicas_has_its_own_nodes) {
  const Plan plan = good(
      "hyphos: 1\n"
      "processes:\n"
      "  first: {nodes: [source]}\n"
      "  work: {nodes: [worker], replicas: 2, threads: 3, after: [first],\n"
      "         params: {worker: {rate_hz: 7}}}\n"
      "  last: {after: [work]}\n"
      "nodes:\n"
      "  source: {plugin: source.so}\n"
      "  worker: {plugin: worker.so}\n"
      "  helper: {plugin: helper.so, process: work}\n"
      "channels:\n"
      "  job: {publishers: [source], subscribers: [worker, helper]}\n");
  EXPECT_EQ(names(plan.processes), (Names{"first", "work.0", "work.1", "last"}));
  EXPECT_EQ(plan.process("work.1")->nodes, (Names{"worker.1", "helper.1"}));
  EXPECT_EQ(plan.process("work.1")->threads, 3);
  EXPECT_EQ(plan.process("last")->supervision.after, (Names{"work.0", "work.1"}));
  EXPECT_EQ(plan.node("worker.1")->params.find("rate_hz")->as_integer().or_throw(), 7);
  EXPECT_EQ(*plan.channel("job")->subscribers,
            (Names{"worker.0", "worker.1", "helper.0", "helper.1"}));
  EXPECT_NE(plan.process("work.0")->endpoint, plan.process("work.1")->endpoint);
}

TEST(Replicas, one_replica_has_an_index_too) {
  EXPECT_EQ(names(good("hyphos: 1\nnodes: {worker: {replicas: 1}}\n").nodes), Names{"worker.0"});
}

TEST(Replicas, an_impossible_number_names_the_range) {
  for (const char* number : {"0", "-1", "1025", "many", "1.5", "[2]"}) {
    const std::string why =
        refused("hyphos: 1\nnodes: {worker: {replicas: " + std::string(number) + "}}\n");
    EXPECT_NE(why.find("nodes.worker.replicas: expected a number from 1 to 1024"),
              std::string::npos)
        << number << ": " << why;
  }
}

TEST(Replicas, a_conflict_names_the_remedy) {
  EXPECT_NE(refused("hyphos: 1\nprocesses: {p: {nodes: [w], replicas: 2}}\n"
                    "nodes: {w: {plugin: w.so, replicas: 2}}\n")
                .find("has replicas already, with one such node in each. Keep one"),
            std::string::npos);
  EXPECT_NE(refused("hyphos: 1\nprocesses: {p: {replicas: 2, endpoint: 'tcp://*:5553'}}\n")
                .find("the replicas would bind the same endpoint. Remove it"),
            std::string::npos);
  EXPECT_NE(refused("hyphos: 1\nnodes: {worker.0: {plugin: w.so}}\n")
                .find("Write worker with replicas: K"),
            std::string::npos);
}

TEST(Replicas, many_copies_of_a_large_entry_are_refused) {
  std::string list;
  for (int i = 0; i < 2000; ++i) list += std::to_string(i) + ", ";
  EXPECT_NE(refused("hyphos: 1\nnodes: {w: {params: {all: [" + list + "]}, replicas: 1024}}\n")
                .find("Use fewer replicas"),
            std::string::npos);
}

TEST(DefaultTransport, every_channel_without_its_own_uses_it) {
  const Plan plan = good(
      "hyphos: 1\n"
      "transport: zmq\n"
      "processes: {a: {nodes: [one]}, b: {nodes: [two]}}\n"
      "nodes: {one: {services: [reset]}, two: {calls: [reset]}}\n"
      "channels:\n"
      "  far: {publishers: [one], subscribers: [two]}\n"
      "  near: {publishers: [one], subscribers: [two], transport: shm}\n"
      "  either: {publishers: [one], subscribers: [two], transport: auto}\n"
      "  inside: {scope: local}\n");
  EXPECT_EQ(plan.channel("far")->transport, "zmq");
  EXPECT_EQ(route(plan, *plan.channel("far"), "a", "b"), "zmq");
  EXPECT_EQ(route(plan, *plan.channel("near"), "a", "b"), "shm");
  EXPECT_EQ(route(plan, *plan.channel("either"), "a", "b"), "shm");
  EXPECT_EQ(plan.channel("inside")->transport, "auto");
  EXPECT_EQ(plan.channel(call_channel_base("reset", false) + "/request")->transport, "zmq");
}

TEST(DefaultTransport, an_unknown_one_names_the_words) {
  EXPECT_NE(refused("hyphos: 1\ntransport: zqm\n").find("did you mean 'zmq'?"), std::string::npos);
}

}  // namespace
}  // namespace hyphos
