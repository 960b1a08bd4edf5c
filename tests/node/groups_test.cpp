// Groups of the plan over several processes, as programs change them.
#include <gtest/gtest.h>

#include <map>

#include "tests/node/harness.hpp"

namespace hyphos::test {
namespace {

std::string plugin(const std::string& name) {
  return std::string(TEST_PLUGIN_DIR) + "/libtest_plugin_" + name + ".so";
}

/// Three processes of one plan: the group "relay" moves between "one" and "two".
class Groups : public ::testing::Test {
 protected:
  Groups()
      : file_("hyphos: 1\ndomain: " + fresh_domain() +
              "\nprocesses: {one: {}, two: {}, hand: {}}\n"
              "nodes:\n"
              "  first: {plugin: " +
              plugin("echo") +
              ", remap: {in: a, out: b}}\n"
              "  second: {plugin: " +
              plugin("echo") +
              ", remap: {in: b, out: c}}\n"
              "  broken: {plugin: " +
              plugin("throwing") +
              ", process: two}\n"
              "  manual: {process: hand}\n"
              "groups:\n"
              "  relay: {nodes: [first, second], process: one, moves_to: [two]}\n"
              "  faulty: {nodes: [broken], start: off}\n"
              "  hands: {nodes: [manual]}\n") {}

  Runtime open(const std::string& process) {
    Runtime runtime = Runtime::open(file_.options(process)).or_throw();
    runtime.load_plugins().or_throw();
    runtime.ready();
    return runtime;
  }

  static std::map<std::string, std::string> running(const Runtime& runtime) {
    std::map<std::string, std::string> found;
    for (const GroupState::Node& node : runtime.group_state("").or_throw().nodes) {
      if (node.running) found[node.node] = node.process;
    }
    return found;
  }

  /// Endpoints of the node at the channels of the group.
  static std::size_t endpoints_of(const Runtime& runtime, const std::string& node) {
    std::size_t count = 0;
    for (const EndpointInfo& end : runtime.endpoints()) {
      const bool is_own = end.channel == "a" || end.channel == "b" || end.channel == "c";
      count += end.node == node && is_own ? 1 : 0;
    }
    return count;
  }

  PlanFile file_;
};

using Places = std::map<std::string, std::string>;

TEST_F(Groups, a_group_moves_between_processes_and_back) {
  const Runtime one = open("one");
  const Runtime two = open("two");
  EXPECT_EQ(running(one), (Places{{"first", "one"}, {"second", "one"}}));
  one.move_group("relay", "two").or_throw();
  EXPECT_EQ(running(one), (Places{{"first", "two"}, {"second", "two"}}));
  EXPECT_EQ(endpoints_of(one, "first"), 0U);
  EXPECT_EQ(endpoints_of(two, "first"), 2U);
  EXPECT_TRUE(two.hosts("first"));
  EXPECT_FALSE(one.hosts("first"));
  one.start_group("relay").or_throw();  // it runs: nothing changes
  EXPECT_EQ(running(two), (Places{{"first", "two"}, {"second", "two"}}));
  two.move_group("relay", "one").or_throw();
  EXPECT_EQ(running(two), (Places{{"first", "one"}, {"second", "one"}}));
}

TEST_F(Groups, a_moved_group_works) {
  const Runtime one = open("one");
  const Runtime two = open("two");
  Runtime hand = Runtime::open(file_.options("hand")).or_throw();
  const Node manual = hand.node("manual").or_throw();
  Arrivals numbers;
  const auto subscription = manual.subscribe<Number>(
      "c", serial, [&](const Message<Number>& m) { numbers.add(m->value); });
  const auto publisher = manual.publisher<Number>("a");
  for (const char* const process : {"two", "one"}) {
    one.move_group("relay", process).or_throw();
    const std::size_t before = numbers.count();
    ASSERT_TRUE(eventually([&] {
      publisher.publish({7});
      return numbers.count() > before;
    })) << process;
  }
}

TEST_F(Groups, stopped_nodes_start_again) {
  const Runtime one = open("one");
  for (int i = 0; i < 3; ++i) {
    const GroupState stopped = one.stop_group("relay").or_throw();
    EXPECT_FALSE(stopped.nodes[0].running);
    EXPECT_EQ(endpoints_of(one, "second"), 0U);
    const GroupState started = one.start_group("relay").or_throw();
    EXPECT_TRUE(started.nodes[1].running);
    EXPECT_EQ(endpoints_of(one, "second"), 2U);
  }
}

TEST_F(Groups, the_channels_of_a_group_close_at_a_place) {
  const Runtime one = open("one");
  const GroupState state = one.set_group_open("relay", false, Where::outside).or_throw();
  ASSERT_EQ(state.channels.size(), 3U);
  for (const GroupState::Channel& channel : state.channels) {
    EXPECT_EQ(channel.process, "one");
    EXPECT_EQ(channel.open, Where::inside);
    EXPECT_EQ(one.channel_open(channel.channel).or_throw(), Where::inside);
  }
  one.set_group_open("relay", true).or_throw();
  EXPECT_EQ(one.channel_open("b").or_throw(), Where::both);
}

TEST_F(Groups, a_failed_constructor_is_an_error_and_leaves_no_node) {
  const Runtime two = open("two");
  const auto started = two.start_group("faulty");
  ASSERT_FALSE(started);
  EXPECT_NE(started.error().message.find("no camera on /dev/video7"), std::string::npos)
      << started.error().to_string();
  EXPECT_TRUE(running(two).empty());
}

TEST_F(Groups, mistakes_are_errors_with_a_remedy) {
  const Runtime one = open("one");
  const auto message = [](const Result<GroupState>& result) {
    return result ? std::string("no error") : result.error().message;
  };
  EXPECT_EQ(message(one.stop_group("rely")),
            "the plan has no group 'rely'. Did you mean 'relay'? Known: relay, faulty, hands");
  EXPECT_EQ(message(one.move_group("relay", "too")),
            "group 'relay' cannot move to process 'too', which the plan must name under "
            "groups.relay.moves_to. Did you mean 'two'? Known: one, two");
  EXPECT_EQ(message(one.move_group("relay", "two")),
            "group 'relay' did not move to process 'two': process 'two' does not run");
  EXPECT_EQ(message(one.start_group("hands")), "no process of group 'hands' runs: hand");
  EXPECT_EQ(running(one), (Places{{"first", "one"}, {"second", "one"}}));
  Runtime hand = Runtime::open(file_.options("hand")).or_throw();
  EXPECT_NE(message(hand.stop_group("hands")).find("ready() or spin() before"), std::string::npos);
  const Node manual = hand.node("manual").or_throw();
  hand.ready();
  EXPECT_EQ(message(hand.stop_group("hands")),
            "node 'manual' cannot start or end while the robot runs: its own program constructs "
            "it, so it starts and ends with its process");
  EXPECT_EQ(running(one).at("manual"), "hand");
}

TEST_F(Groups, a_second_runtime_of_a_process_does_not_start_a_group_that_moved) {
  Runtime one = open("one");
  const Runtime two = open("two");
  one.move_group("relay", "two").or_throw();
  one = Runtime(nullptr);  // the process ends
  const Runtime again = open("one");
  EXPECT_EQ(running(again), (Places{{"first", "two"}, {"second", "two"}}));
  EXPECT_EQ(endpoints_of(again, "first"), 0U);
}

}  // namespace
}  // namespace hyphos::test
