// A plan has its stated effect or is refused.
#include <gtest/gtest.h>

#include "tests/node/harness.hpp"

namespace hyphos::test {
namespace {

std::string endpoint(int port) { return "tcp://127.0.0.1:" + std::to_string(port); }

/// A file in the paper's format: the channels offered at `port` and those subscribed from other
/// ports.
std::string listing(int port, const std::string& offered,
                    const std::vector<std::pair<int, std::string>>& taken) {
  std::string text = "network:\n  publisher:\n    ip: \"" + endpoint(port) + "\"\n    channels: [" +
                     offered + "]\n  subscribers:\n";
  for (const auto& [from, channels] : taken) {
    text += "    - ip: \"" + endpoint(from) + "\"\n      channels: [" + channels + "]\n";
  }
  return text;
}

RuntimeOptions options_of(const PlanFile& file) {
  RuntimeOptions options = file.options("main");
  options.domain = fresh_domain();  // so that shared memory connects none of them
  return options;
}

TEST(PlanEffect, listings_of_the_paper_run_with_any_node) {
  Arrivals got;
  const int port = own_port();
  const PlanFile first(listing(port, "there", {{port + 1, "back"}}));
  const PlanFile second(listing(port + 1, "back", {{port, "there"}}));
  Runtime a = Runtime::open(options_of(first)).or_throw();
  Runtime b = Runtime::open(options_of(second)).or_throw();
  const Node one = a.node("robot1").or_throw();
  const Node two = b.node("robot2").or_throw();
  const auto back = two.publisher<Number>("back");
  two.subscribe<Number>("there", serial, [&](const Message<Number>& m) { back.publish(*m); });
  one.subscribe<Number>("back", serial, [&](const Message<Number>& m) { got.add(m->value); });
  const auto there = one.publisher<Number>("there");
  ASSERT_TRUE(eventually([&] { return there.listeners() == 1 && back.listeners() == 1; }));
  there.publish({7});
  ASSERT_TRUE(got.wait_for(1));
  EXPECT_EQ(got.values().front(), 7);
}

TEST(PlanEffect, the_type_of_the_plan_binds_every_endpoint) {
  const PlanFile file("hyphos: 1\ndomain: \"" + fresh_domain() + R"("
nodes: {one: {}}
channels:
  right: {type: test.Number}
  wrong: {type: test.Nomber}
  open: {}
)");
  Runtime runtime = Runtime::open(file.options("main")).or_throw();
  const Node node = runtime.node("one").or_throw();
  const TypeId type = type_support<Number>().id;
  const auto ignore = [](const Message<RawMessage>&) {};
  for (const char* fine : {"right", "open"}) {
    EXPECT_TRUE(node.raw_publisher(fine, type).ok()) << fine;
    EXPECT_TRUE(node.raw_subscribe(fine, type, {}, ignore).ok()) << fine;
  }
  const auto published = node.raw_publisher("wrong", type);
  const auto subscribed = node.raw_subscribe("wrong", type, {}, ignore);
  ASSERT_FALSE(published.ok());
  ASSERT_FALSE(subscribed.ok());
  for (const Error& error : {published.error(), subscribed.error()}) {
    EXPECT_EQ(error.code, Code::type_mismatch);
    const std::string text = error.to_string();
    for (const char* part : {"robot.yaml:6", "wrong", "test.Nomber", "test.Number", "'one'"}) {
      EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
    }
  }
}

/// Two robots whose processes have the same name: the endpoint distinguishes both directions.
TEST(PlanEffect, a_channel_can_be_closed_for_one_endpoint_only) {
  const int port = own_port() + 10;  // different from those of the previous test
  const PlanFile hub(listing(port, "there", {{port + 1, "back"}, {port + 2, "back"}}));
  const PlanFile left(listing(port + 1, "back", {{port, "there"}}));
  const PlanFile right(listing(port + 2, "back", {{port, "there"}}));
  Runtime middle = Runtime::open(options_of(hub)).or_throw();
  Runtime robots[] = {Runtime::open(options_of(left)).or_throw(),
                      Runtime::open(options_of(right)).or_throw()};
  const Node node = middle.node("hub").or_throw();
  Arrivals heard;
  node.subscribe<Number>("back", serial, [&](const Message<Number>& m) { heard.add(m->value); });
  const auto there = node.publisher<Number>("there");
  Arrivals got[2];
  std::vector<Node> nodes;
  std::vector<Publisher<Number>> back;
  for (std::size_t i = 0; i < 2; ++i) {
    nodes.push_back(robots[i].node("robot").or_throw());
    nodes[i].subscribe<Number>("there", serial,
                               [&, i](const Message<Number>& m) { got[i].add(m->value); });
    back.push_back(nodes[i].publisher<Number>("back"));
  }
  const auto all_there = [&] {
    return there.listeners() == 2 && back[0].listeners() == 1 && back[1].listeners() == 1;
  };
  ASSERT_TRUE(eventually(all_there));
  for (std::size_t closed = 0; closed < 2; ++closed) {
    const std::size_t open = 1 - closed;
    const std::string peer = endpoint(port + 1 + static_cast<int>(closed));
    ASSERT_TRUE(middle.set_channel_open("there", peer, false).ok());
    ASSERT_TRUE(middle.set_channel_open("back", peer, false).ok());
    ASSERT_TRUE(
        eventually([&] { return there.listeners() == 1 && back[closed].listeners() == 0; }));
    EXPECT_EQ(back[open].listeners(), 1U);
    const std::size_t before = got[open].count();
    const std::size_t missed = got[closed].count();
    there.publish({1});
    ASSERT_TRUE(got[open].wait_for(before + 1));
    EXPECT_EQ(got[closed].count(), missed);
    ASSERT_TRUE(middle.set_channel_open("there", peer, true).ok());
    ASSERT_TRUE(middle.set_channel_open("back", peer, true).ok());
    ASSERT_TRUE(eventually(all_there));
  }
}

TEST(PlanEffect, opening_an_unknown_channel_or_peer_is_an_error) {
  const int port = own_port() + 20;  // different from those of the previous test
  const PlanFile first(listing(port, "there", {{port + 1, "back"}}));
  Runtime runtime = Runtime::open(options_of(first)).or_throw();
  const Node node = runtime.node("robot").or_throw();
  const auto there = node.publisher<Number>("there");
  const auto inside = node.publisher<Number>("inside");
  const std::string peer = endpoint(port + 1);
  for (const bool open : {true, false}) {
    EXPECT_TRUE(runtime.set_channel_open("there", peer, open).ok());
    EXPECT_EQ(runtime.set_channel_open("absent", open).error().code, Code::not_found);
    EXPECT_EQ(runtime.set_channel_open("absent", peer, open).error().code, Code::not_found);
    EXPECT_EQ(runtime.set_channel_open("there", endpoint(port + 2), open).error().code,
              Code::not_found);
    EXPECT_EQ(runtime.set_channel_open("there", "nobody", open).error().code, Code::not_found);
    const std::string unknown =
        runtime.set_channel_open("there", "tcp://127.0.0.1:1", open).error().message;
    EXPECT_NE(unknown.find("Known peers: " + peer), std::string::npos) << unknown;
    const std::string absent = runtime.set_channel_open("absent", peer, open).error().message;
    EXPECT_NE(absent.find("there are: inside, "), std::string::npos) << absent;
    // Known here, but on no link: there is nothing to open or close.
    EXPECT_EQ(runtime.set_channel_open("inside", peer, open).error().code, Code::unsupported);
  }
}

}  // namespace
}  // namespace hyphos::test
