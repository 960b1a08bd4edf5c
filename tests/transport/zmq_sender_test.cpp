// The publishing half of the ZeroMQ transport, without sockets.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "transport/zmq/sender.hpp"

namespace hyphos::transport::zmq {
namespace {

/// A connection that accepts everything.
class Network final : public Wire {
 public:
  bool write(const std::string&, std::span<Frame>) override {
    ++written;
    return true;
  }

  int written = 0;
};

class Events final : public SendEvents {
 public:
  void listeners(std::string_view, std::uint32_t) override {}
  void dropped(std::string_view, Drop why, std::uint64_t count) override {
    if (why == Drop::overflow) overflowed += count;
  }
  void refused(std::string_view, const Error& why) override { refusals.push_back(why.message); }

  std::uint64_t overflowed = 0;
  std::vector<std::string> refusals;
};

TEST(ZmqSender, a_notice_beyond_the_bound_of_a_queue_is_counted) {
  Network network;
  Sender sender({0x100, "robot", {}, 1 << 20, 1000}, network);
  Events events;
  ChannelSpec spec{"map", make_type_id("a", Encoding::bytes), {}};
  spec.policy.latched = true;
  spec.policy.depth = 1;
  ASSERT_TRUE(sender.open(1, spec, &events));
  const auto hear = [&sender](const wire::Control& message) {
    const Frame frame = Frame::copy_of(wire::encode_control(message));
    return sender.receive(0, "a", {&frame, 1});
  };
  ASSERT_TRUE(hear(wire::Hello{0x200, "reader", 1, wire::kLinkVersion, "", {}}));
  ASSERT_TRUE(hear(wire::Subscribe{1, "map", spec.type, 1, 0, true, 0}));
  // The reader acknowledges nothing, so one message closes its window. Then publishers end.
  Envelope value;
  value.payload = Buffer::copy_of(std::string_view("x"));
  (void)sender.send(1, value);
  Envelope gone;
  gone.meta.latch = Latch::gone;
  constexpr std::uint64_t kBeyond = 1024;
  const std::uint64_t waiting = spec.policy.depth + kBeyond;
  for (std::uint64_t i = 0; i < waiting; ++i) (void)sender.send(1, gone);
  EXPECT_EQ(events.overflowed, 0U);
  for (int i = 0; i < 3; ++i) (void)sender.send(1, gone);
  EXPECT_EQ(events.overflowed, 3U);
  sender.shut_down();
}

/// The graph sends nothing before it counts a receiver.
TEST(ZmqSender, a_subscriber_is_accepted_after_the_graph_counts_it) {
  class Graph final : public SendEvents {
   public:
    explicit Graph(Network& network) : network_(network) {}
    void listeners(std::string_view, std::uint32_t count) override {
      seen.emplace_back(count, network_.written);
    }
    void dropped(std::string_view, Drop, std::uint64_t) override {}
    void refused(std::string_view, const Error&) override {}

    std::vector<std::pair<std::uint32_t, int>> seen;  ///< the count, and the writes before it

   private:
    Network& network_;
  };
  Network network;
  Sender sender({0x100, "robot", {}, 1 << 20, 1000}, network);
  Graph graph(network);
  ChannelSpec spec{"map", make_type_id("a", Encoding::bytes), {}};
  spec.policy.latched = true;
  ASSERT_TRUE(sender.open(1, spec, &graph));
  Envelope value;
  value.payload = Buffer::copy_of(std::string_view("x"));
  (void)sender.send(1, value);
  for (const wire::Control& message : std::initializer_list<wire::Control>{
           wire::Hello{0x200, "reader", 1, wire::kLinkVersion, "", {}},
           wire::Subscribe{1, "map", spec.type, 8, 0, true, 0}}) {
    const Frame frame = Frame::copy_of(wire::encode_control(message));
    ASSERT_TRUE(sender.receive(0, "a", {&frame, 1}));
  }
  ASSERT_EQ(graph.seen, (std::vector<std::pair<std::uint32_t, int>>{{1, 0}}));
  EXPECT_EQ(network.written, 2) << "the acceptance and the latched value";
  EXPECT_EQ(sender.send(1, value).accepted, 1U);
  EXPECT_EQ(network.written, 3);
  sender.shut_down();
}

TEST(ZmqSender, a_refusal_names_the_nodes_if_the_peer_sends_its_own) {
  Network network;
  Sender sender({0x100, "robot", {}, 1 << 20, 1000}, network);
  Events events;
  ChannelSpec spec{"map", make_type_id("a", Encoding::bytes), {}};
  spec.node = "mapper";
  ASSERT_TRUE(sender.open(1, spec, &events));
  const TypeId other = make_type_id("b", Encoding::custom);
  for (const wire::Control& message : std::initializer_list<wire::Control>{
           wire::Hello{0x200, "station", 1, wire::kLinkVersion, "", {}},
           wire::Subscribe{1, "map", other, 1, 0, true, 0},
           wire::Subscribe{2, "map", other, 1, 0, true, 0, "view"}}) {
    const Frame frame = Frame::copy_of(wire::encode_control(message));
    ASSERT_TRUE(sender.receive(0, "a", {&frame, 1}));
  }
  const std::string rest =
      " subscribes to channel 'map' as custom 'b', but node 'mapper' of process 'robot' publishes "
      "bytes 'a'. No message passes. Use one type in both, or two channels";
  ASSERT_EQ(events.refusals.size(), 2U);
  EXPECT_EQ(events.refusals[0], "process 'station'" + rest) << "of an older version";
  EXPECT_EQ(events.refusals[1], "node 'view' of process 'station'" + rest);
  sender.shut_down();
}

TEST(ZmqSender, a_subscriber_of_another_link_version_is_refused_by_name) {
  Network network;
  Sender sender({0x100, "robot", {}, 1 << 20, 1000}, network);
  Events events;
  const ChannelSpec spec{"map", make_type_id("a", Encoding::bytes), {}};
  ASSERT_TRUE(sender.open(1, spec, &events));
  const auto greet = [&](std::uint32_t version) {
    for (const wire::Control& message : std::initializer_list<wire::Control>{
             wire::Hello{0x200, "reader", 1, version, "", {}},
             wire::Subscribe{1, "map", spec.type, 1, 0, true, 0}}) {
      const Frame frame = Frame::copy_of(wire::encode_control(message));
      (void)sender.receive(0, "a", {&frame, 1});
    }
  };
  ::testing::internal::CaptureStderr();
  greet(wire::kLinkVersion + 1);
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find(wire::version_refusal("reader", wire::kLinkVersion + 1)), std::string::npos)
      << log;
  EXPECT_EQ(network.written, 0);
  greet(wire::kLinkVersion);
  EXPECT_EQ(network.written, 1) << "the same greeting in the right version is accepted";
  sender.shut_down();
}

}  // namespace
}  // namespace hyphos::transport::zmq
