// Two gateways in one ROS graph, each with its own robot. The messages of one robot reach the other
// over XML-RPC and TCPROS.
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <mutex>

#include "gateway/ros1/header.hpp"
#include "gateway/ros1/names.hpp"
#include "gateway/ros1/ros1.hpp"
#include "tests/gateway/raw_client.hpp"
#include "tests/gateway/ros1/master_host.hpp"
#include "tests/gateway/ros1/ros_net_stub.hpp"
#include "tests/gateway/ros1/rpc_harness.hpp"
#include "tests/gateway/ros1/types.hpp"
#include "tests/own_port.hpp"

using namespace hyphos;
using namespace hyphos::gateway;
using namespace hyphos::gateway::ros1;

namespace {

const Client kRobot{"/robot"};

Buffer words(std::string_view text) {
  std::string bytes(4, '\0');
  bytes[0] = static_cast<char>(text.size());
  return Buffer::copy_of(bytes.append(text));
}

// A robot with its gateway.
class Side {
 public:
  Side(const std::string& master, const std::string& node, bool opened = true) {
    add_types(facade);
    options.own = {{"master_uri", master}, {"node", node}};
    if (opened) open();
  }
  void open() { gateway = open_ros1(facade, options).or_throw(); }

  std::unique_ptr<ClientPublisher> publisher(const std::string& topic, bool latched = false) {
    return facade.topics()
        .open_publisher(kRobot, topic, "std_msgs/String", Form::ros1, {.latched = latched})
        .or_throw();
  }
  std::unique_ptr<ClientSubscription> listener(const std::string& topic) {
    return facade.topics()
        .open_subscription(kRobot, topic, "std_msgs/String", Form::ros1, {},
                           [this](const OutgoingMessage& outgoing) {
                             const std::lock_guard lock(mutex_);
                             heard_.emplace_back(outgoing.bytes.joined().text().substr(4));
                           })
        .or_throw();
  }
  [[nodiscard]] std::size_t heard(std::string_view text) {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(std::count(heard_.begin(), heard_.end(), text));
  }
  [[nodiscard]] bool has_publisher(const std::string& topic, const std::string& name) const {
    for (const TopicInfo& info : facade.topics().list()) {
      if (info.topic == topic &&
          std::count(info.publishers.begin(), info.publishers.end(), name) == 1) {
        return true;
      }
    }
    return false;
  }
  [[nodiscard]] bool is_latched(const std::string& topic) const {
    for (const TopicInfo& info : facade.topics().list()) {
      if (info.topic == topic) return info.latched;
    }
    return false;
  }
  /// Publishes repeatedly until `to` has received the text, because the connection needs some time.
  static bool comes_through(const ClientPublisher& from, Side& to, std::string_view text) {
    return eventually([&] {
      const_cast<ClientPublisher&>(from).publish(words(text).bytes()).or_throw();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return to.heard(text) > 0;
    });
  }
  Result<Buffer> call(const std::string& service, const Buffer& request) {
    auto done = std::make_shared<std::promise<Result<Buffer>>>();
    auto answer = done->get_future();
    facade.services().call(kRobot, service, "", Form::ros1, request.bytes(),
                           Duration::from_seconds(20),
                           [done](Result<Buffer> reply) { done->set_value(std::move(reply)); });
    return answer.get();
  }

  FakeGraph facade;
  Options options;
  std::unique_ptr<Protocol> gateway;

 private:
  std::mutex mutex_;
  std::vector<std::string> heard_;
};

class BridgeTest : public ::testing::Test {
 protected:
  Result<Value> ask(const std::string& method, std::vector<Value> params = {}) {
    params.insert(params.begin(), "/test");
    return harness_.ask(master_.uri(), method, params);
  }
  bool state_says(const std::string& kind, const std::string& name, const std::string& node) {
    const auto state = ask("getSystemState");
    if (!state) return false;
    const std::size_t at = kind == "publishers" ? 0 : kind == "subscribers" ? 1 : 2;
    const auto& rows = *(*state->get_if<Value::Array>())[at].get_if<Value::Array>();
    for (const Value& row : rows) {
      const auto& pair = *row.get_if<Value::Array>();
      const auto& nodes = *pair[1].get_if<Value::Array>();
      if (pair[0].text() == name && std::count(nodes.begin(), nodes.end(), Value(node)) == 1) {
        return true;
      }
    }
    return false;
  }

  /// The TCPROS port of a node for a topic.
  std::uint16_t port_of(const std::string& node, const std::string& topic) {
    const auto where = harness_.ask(ask("lookupNode", {node})->text(), "requestTopic",
                                    {"/me", topic, list_of(list_of("TCPROS"))});
    EXPECT_TRUE(where.ok());
    const auto& parts = *where->get_if<Value::Array>();
    EXPECT_EQ(parts[1], Value("127.0.0.1"));
    return static_cast<std::uint16_t>(*parts[2].get_if<std::int32_t>());
  }
  /// The reply to a header.
  static Header greet(std::uint16_t port, const Header& header) {
    RawClient client(port);
    return greet(client, header);
  }
  static Header greet(RawClient& client, const Header& header) {
    const auto bytes = write_header(header);
    EXPECT_TRUE(client.send({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    const std::string length = client.receive(4);
    const std::string rest =
        client.receive(read_length(std::as_bytes(std::span(length.data(), length.size()))));
    return parse_header(std::as_bytes(std::span(rest.data(), rest.size()))).or_throw();
  }

  MasterHost master_;
  RpcHarness harness_;
};

}  // namespace

TEST_F(BridgeTest, messages_pass_from_one_robot_to_the_other) {
  Side a(master_.uri(), "/a");
  Side b(master_.uri(), "/b");
  const auto says = a.publisher("/chat");
  const auto hears = b.listener("/chat");
  ASSERT_TRUE(Side::comes_through(*says, b, "hello"));
  EXPECT_TRUE(b.has_publisher("/chat", "/a"));
  EXPECT_EQ(b.facade.clients().counted("queue"), 0U);
}

TEST_F(BridgeTest, no_message_comes_back_on_a_bidirectional_topic) {
  Side a(master_.uri(), "/a");
  Side b(master_.uri(), "/b");
  const auto a_says = a.publisher("/tf");
  const auto b_says = b.publisher("/tf");
  const auto a_hears = a.listener("/tf");
  const auto b_hears = b.listener("/tf");
  ASSERT_TRUE(Side::comes_through(*a_says, b, "from a"));
  ASSERT_TRUE(Side::comes_through(*b_says, a, "from b"));
  a_says->publish(words("once").bytes()).or_throw();
  ASSERT_TRUE(Side::comes_through(*a_says, b, "after"));
  ASSERT_TRUE(Side::comes_through(*b_says, a, "after"));
  EXPECT_EQ(a.heard("once"), 1U) << "the listener of a itself";
  EXPECT_EQ(b.heard("once"), 1U);
}

TEST_F(BridgeTest, a_message_that_is_too_large_is_counted) {
  Side a(master_.uri(), "/a");
  Side b(master_.uri(), "/b");
  a.gateway.reset();
  a.options.max_message = 32;
  a.open();
  const auto says = a.publisher("/chat");
  const auto hears = b.listener("/chat");
  ASSERT_TRUE(Side::comes_through(*says, b, "short"));
  says->publish(words(std::string(100, 'x')).bytes()).or_throw();
  ASSERT_TRUE(Side::comes_through(*says, b, "after"));
  EXPECT_EQ(b.heard(std::string(100, 'x')), 0U);
  EXPECT_EQ(a.facade.clients().counted("too_large"), 1U);
}

TEST_F(BridgeTest, a_waiting_message_blocks_no_other_publisher) {
  Side a(master_.uri(), "/a");
  Side b(master_.uri(), "/b");
  const auto says = a.publisher("/chat");
  const auto hears = b.listener("/chat");
  const auto other_says = a.publisher("/other");
  const auto other_hears = b.listener("/other");
  ASSERT_TRUE(Side::comes_through(*says, b, "hello"));
  ASSERT_TRUE(Side::comes_through(*other_says, b, "hello there"));
  b.facade.topics().fill("/chat", true);
  says->publish(words("one").bytes()).or_throw();
  says->publish(words("two").bytes()).or_throw();
  EXPECT_TRUE(Side::comes_through(*other_says, b, "through"));
  EXPECT_EQ(b.heard("one"), 0U);
  b.facade.topics().fill("/chat", false);
  EXPECT_TRUE(eventually([&] { return b.heard("one") == 1 && b.heard("two") == 1; }));
  EXPECT_EQ(b.facade.clients().counted("not_held_up"), 0U);
}

TEST_F(BridgeTest, a_late_listener_gets_the_latched_message) {
  Side a(master_.uri(), "/a");
  const auto says = a.publisher("/map", true);
  says->publish(words("the map").bytes()).or_throw();
  Side b(master_.uri(), "/b");
  const auto hears = b.listener("/map");
  EXPECT_TRUE(eventually([&] { return b.heard("the map") > 0; }));
}

TEST_F(BridgeTest, a_late_listener_gets_the_last_of_each_latched_publisher) {
  Side a(master_.uri(), "/a");
  Side c(master_.uri(), "/c");
  const auto first = a.publisher("/map", true);
  const auto second = a.publisher("/map", true);
  const auto third = c.publisher("/map", true);
  first->publish(words("old").bytes()).or_throw();
  first->publish(words("first").bytes()).or_throw();
  second->publish(words("second").bytes()).or_throw();
  third->publish(words("third").bytes()).or_throw();
  // The gateway starts last, but the listener is already there. The two publishers of `a` are one
  // in ROS.
  Side b(master_.uri(), "/b", false);
  const auto hears = b.listener("/map");
  b.open();
  EXPECT_TRUE(eventually(
      [&] { return b.heard("first") == 1 && b.heard("second") == 1 && b.heard("third") == 1; }));
  EXPECT_EQ(b.heard("old"), 0U);
}

TEST_F(BridgeTest, a_latched_topic_is_latched_on_the_other_side) {
  Side a(master_.uri(), "/a");
  const auto chat = a.publisher("/chat");
  const auto map = a.publisher("/map", true);
  map->publish(words("the map").bytes()).or_throw();
  ASSERT_TRUE(eventually([&] {
    return state_says("publishers", "/chat", "/a") && state_says("publishers", "/map", "/a");
  }));
  const auto latching = [&](const std::string& topic) {
    return std::string(
        field(greet(port_of("/a", topic), {{"topic", topic}, {"md5sum", "*"}}), "latching"));
  };
  EXPECT_TRUE(eventually([&] { return latching("/map") == "1"; }));
  EXPECT_EQ(latching("/chat"), "0");
  Side b(master_.uri(), "/b");
  ASSERT_TRUE(eventually([&] { return b.is_latched("/map"); }));
  EXPECT_FALSE(b.is_latched("/chat"));
}

TEST_F(BridgeTest, a_topic_that_ends_is_unregistered) {
  Side a(master_.uri(), "/a");
  Side b(master_.uri(), "/b");
  auto says = a.publisher("/chat");
  const auto hears = b.listener("/chat");
  ASSERT_TRUE(Side::comes_through(*says, b, "hello"));
  says.reset();
  EXPECT_TRUE(eventually([&] { return !state_says("publishers", "/chat", "/a"); }));
  EXPECT_TRUE(eventually([&] { return !state_says("subscribers", "/chat", "/b"); }));
  EXPECT_TRUE(eventually([&] { return !b.has_publisher("/chat", "/a"); }));
  says = a.publisher("/chat");
  EXPECT_TRUE(Side::comes_through(*says, b, "again"));
}

TEST_F(BridgeTest, services_can_be_called_from_the_other_side) {
  Side a(master_.uri(), "/a");
  Side b(master_.uri(), "/b");
  const auto serves = a.facade.services()
                          .open_server(kRobot, "/flip", "std_srvs/SetBool", Form::ros1,
                                       [](const Buffer& request, const Answer& answer) {
                                         if (request.size() == 1) return answer(words("flipped"));
                                         answer(Error{Code::corrupt, "that is no bool", ""});
                                       })
                          .or_throw();
  ASSERT_TRUE(eventually([&] { return b.call("/flip", Buffer::copy_of("x")).ok(); }));
  for (int call = 0; call < 50; ++call) {
    const auto reply = b.call("/flip", Buffer::copy_of("x"));
    ASSERT_TRUE(reply.ok()) << reply.error().to_string();
    EXPECT_EQ(reply->text().substr(4), "flipped");
  }
  const auto refused = b.call("/flip", Buffer::copy_of("xx"));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("that is no bool"), std::string::npos);
}

TEST_F(BridgeTest, a_service_that_moves_is_found_again) {
  Side b(master_.uri(), "/b");
  for (int round = 0; round < 2; ++round) {
    Side a(master_.uri(), "/a");
    const auto serves =
        a.facade.services()
            .open_server(kRobot, "/flip", "std_srvs/SetBool", Form::ros1,
                         [](const Buffer& request, const Answer& answer) { answer(request); })
            .or_throw();
    ASSERT_TRUE(eventually([&] { return b.call("/flip", Buffer::copy_of("x")).ok(); })) << round;
  }
}

TEST_F(BridgeTest, the_gateway_survives_a_restart_of_the_master) {
  master_.move_to(test::own_port());
  Side a(master_.uri(), "/a");
  Side b(master_.uri(), "/b");
  const auto says = a.publisher("/chat");
  const auto hears = b.listener("/chat");
  ASSERT_TRUE(Side::comes_through(*says, b, "before"));
  master_.end();
  EXPECT_TRUE(Side::comes_through(*says, b, "without"));
  master_.begin(master_.port());
  EXPECT_TRUE(eventually([&] {
    return state_says("publishers", "/chat", "/a") && state_says("subscribers", "/chat", "/b");
  }));
  const auto more = a.publisher("/news");
  const auto hears_more = b.listener("/news");
  EXPECT_TRUE(Side::comes_through(*more, b, "news"));
  EXPECT_TRUE(Side::comes_through(*says, b, "after"));
}

TEST_F(BridgeTest, the_gateway_survives_restarts_of_the_other_side) {
  Side a(master_.uri(), "/a");
  Side b(master_.uri(), "/b");
  const auto says = a.publisher("/chat");
  const auto hears = b.listener("/chat");
  for (int round = 0; round < 3; ++round) {
    const std::string text = "round " + std::to_string(round);
    ASSERT_TRUE(Side::comes_through(*says, b, text));
    Side& other = round % 2 == 0 ? a : b;
    other.gateway.reset();
    other.open();
  }
  EXPECT_TRUE(Side::comes_through(*says, b, "last"));
}

TEST_F(BridgeTest, the_gateway_unregisters_when_it_ends) {
  Side a(master_.uri(), "/a");
  const auto says = a.publisher("/chat");
  ASSERT_TRUE(eventually([&] { return state_says("publishers", "/chat", "/a"); }));
  const Time asked = monotonic_now();
  a.gateway.reset();
  // The gateway does not wait forever for a stopped master, which then detects the end itself.
  const bool in_time = monotonic_now() - asked < Duration::from_seconds(2);
  const auto is_gone = [&] { return !state_says("publishers", "/chat", "/a"); };
  EXPECT_TRUE(in_time ? is_gone() : eventually(is_gone));
  EXPECT_EQ(a.facade.open(), 1U);
}

TEST_F(BridgeTest, only_selected_channels_pass) {
  Side a(master_.uri(), "/a");
  a.gateway.reset();
  a.options.own["channels"] = "*,!/secret*";
  a.open();
  const auto secret = a.publisher("/secret/plan");
  const auto open = a.publisher("/chat");
  EXPECT_TRUE(eventually([&] { return state_says("publishers", "/chat", "/a"); }));
  EXPECT_FALSE(state_says("publishers", "/secret/plan", "/a"));
}

// A roscpp client fails a call if the connection ends before it has begun to read.
TEST_F(BridgeTest, the_client_of_one_call_has_time_to_close_first) {
  Side a(master_.uri(), "/a");
  const auto serves =
      a.facade.services()
          .open_server(kRobot, "/flip", "std_srvs/SetBool", Form::ros1,
                       [](const Buffer&, const Answer& answer) { answer(words("flipped")); })
          .or_throw();
  ASSERT_TRUE(eventually([&] { return state_says("services", "/flip", "/a"); }));
  const auto uri = Uri::parse(ask("lookupService", {"/flip"})->text()).or_throw();
  RawClient client(uri.port);
  greet(client, {{"callerid", "/me"}, {"service", "/flip"}, {"md5sum", "*"}});
  const Time asked = monotonic_now();
  ASSERT_TRUE(client.send(std::string_view("\1\0\0\0\1", 5)));
  EXPECT_EQ(client.receive(1 + 4 + 4 + 7).substr(9), "flipped");
  EXPECT_TRUE(client.sees_end());
  EXPECT_GE(monotonic_now() - asked, Duration::from_seconds(1));
}

TEST_F(BridgeTest, a_subscriber_with_another_md5sum_gets_an_error) {
  Side a(master_.uri(), "/a");
  const auto says = a.publisher("/chat");
  ASSERT_TRUE(eventually([&] { return state_says("publishers", "/chat", "/a"); }));
  const std::uint16_t port = port_of("/a", "/chat");
  const auto greet = [port](const Header& header) { return BridgeTest::greet(port, header); };
  EXPECT_EQ(
      field(greet({{"callerid", "/me"}, {"topic", "/chat"}, {"type", "a/B"}, {"md5sum", "1"}}),
            "error"),
      "/chat: the subscriber expects a/B with md5sum 1, but the gateway has std_msgs/String with "
      "992ce8a1687cec8c8bd883ec73ca41d1");
  EXPECT_EQ(field(greet({{"callerid", "/me"}, {"topic", "/none"}, {"md5sum", "*"}}), "error"),
            "/a does not publish /none");
  EXPECT_EQ(field(greet({{"callerid", "/me"}, {"md5sum", "*"}}), "error"),
            "the header has neither topic nor service");
  const Header good = greet({{"topic", "/chat"}, {"md5sum", "*"}, {"type", "*"}});
  EXPECT_EQ(field(good, "type"), "std_msgs/String");
  EXPECT_EQ(field(good, "message_definition"), "string data\n");
  RawClient garbage(port);
  EXPECT_TRUE(garbage.send("\xff\xff\xff\xff"));
  EXPECT_TRUE(garbage.sees_end());
  EXPECT_GE(a.facade.clients().counted("type_mismatch"), 1U);
  EXPECT_GE(a.facade.clients().counted("too_large"), 1U);
}

// A subscriber with the header counts as connected, for example for clients of actionlib.
TEST_F(BridgeTest, the_graph_has_the_subscription_before_the_subscriber_gets_the_header) {
  Side a(master_.uri(), "/a");
  const auto says = a.publisher("/chat");
  ASSERT_TRUE(eventually([&] { return state_says("publishers", "/chat", "/a"); }));
  const std::uint16_t port = port_of("/a", "/chat");
  a.facade.topics().check_subscribing([](const std::string&, const std::string&) -> Result<void> {
    return Error{Code::overloaded, "the graph is full", ""};
  });
  const Header header{{"callerid", "/me"}, {"topic", "/chat"}, {"md5sum", "*"}};
  EXPECT_EQ(field(greet(port, header), "error"), "the graph is full");
  EXPECT_EQ(a.facade.clients().counted("overloaded"), 1U);

  a.facade.topics().check_subscribing(nullptr);
  RawClient client(port);
  EXPECT_EQ(field(greet(client, header), "topic"), "/chat");
  says->publish(words("at once").bytes()).or_throw();
  EXPECT_EQ(client.receive(4 + 4 + 7).substr(8), "at once");
}

TEST_F(BridgeTest, subscribers_that_disconnect_leave_nothing_behind) {
  Side a(master_.uri(), "/a");
  Side b(master_.uri(), "/b");
  const auto says = a.publisher("/chat");
  const auto hears = b.listener("/chat");
  ASSERT_TRUE(Side::comes_through(*says, b, "before"));
  const std::size_t open = a.facade.open();
  const std::uint16_t port = port_of("/a", "/chat");
  const auto bytes = write_header({{"callerid", "/me"}, {"topic", "/chat"}, {"md5sum", "*"}});
  const std::string_view header(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (std::size_t round = 0; round < 200; ++round) {
    RawClient client(port);
    // Some end inside the header, some before and some after the reply.
    ASSERT_TRUE(client.send(header.substr(0, round * 7 % (header.size() + 1))));
    if (round % 3 == 0) {
      ASSERT_TRUE(client.send(header.substr(round * 7 % (header.size() + 1))));
    }
    if (round % 6 == 0) (void)client.receive(20);
    says->publish(words("while").bytes()).or_throw();
  }
  EXPECT_TRUE(eventually([&] { return a.facade.open() == open; }));
  EXPECT_TRUE(Side::comes_through(*says, b, "after"));
}

TEST_F(BridgeTest, a_ros_net_node_works) {
  RosNetStub net;
  Side a(master_.uri(), "/a");
  const auto hears = a.listener("/chat");
  const auto as_net = [&](const std::string& method, std::vector<Value> params) {
    params.insert(params.begin(), "/net");
    return harness_.ask(master_.uri(), method, params).ok();
  };
  ASSERT_TRUE(as_net("registerPublisher", {"/chat", "std_msgs/String", net.uri()}));
  ASSERT_TRUE(as_net("registerService", {"/flip", net.rosrpc(), net.uri()}));
  EXPECT_TRUE(eventually([&] { return a.heard("hi") == 1; }));
  EXPECT_TRUE(a.has_publisher("/chat", "/net"));
  ASSERT_TRUE(eventually([&] { return a.call("/flip", Buffer::copy_of("x")).ok(); }));
  for (int call = 0; call < 10; ++call) {
    const auto reply = a.call("/flip", Buffer::copy_of("x"));
    ASSERT_TRUE(reply.ok()) << reply.error().to_string();
    EXPECT_EQ(reply->text(), std::string_view("\x01\x02\0\0\0ok", 7));
  }
}

TEST_F(BridgeTest, datagrams_to_another_machine_are_refused_and_counted) {
  Side a(master_.uri(), "/a");
  const auto says = a.publisher("/chat");
  ASSERT_TRUE(eventually([&] { return state_says("publishers", "/chat", "/a"); }));
  const std::string node = ask("lookupNode", {"/a"})->text();
  const auto bytes = write_header({{"topic", "/chat"},
                                   {"md5sum", "992ce8a1687cec8c8bd883ec73ca41d1"},
                                   {"callerid", "/me"},
                                   {"type", "std_msgs/String"}});
  const Binary header{{reinterpret_cast<const char*>(bytes.data()) + 4, bytes.size() - 4}};
  const auto params = [&](const std::string& host) {
    return Value::Array{"/me", "/chat", list_of(list_of("UDPROS", header, host, 1000, 1500))};
  };
  const auto& clients = a.facade.clients();
  for (const char* host : {"localhost", "127.0.0.1"}) {
    const auto granted = harness_.ask(node, "requestTopic", params(host));
    ASSERT_TRUE(granted.ok()) << host << ": " << granted.error().to_string();
    EXPECT_EQ(granted->get_if<Value::Array>()->front(), Value("UDPROS"));
  }
  EXPECT_EQ(clients.counted("permission") + clients.counted("not_found"), 0U);

  const auto other = harness_.ask(node, "requestTopic", params("203.0.113.71"));
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().message.find("/me at 127.0.0.1 asks for datagrams to '203.0.113.71'"),
            std::string::npos)
      << other.error().message;
  EXPECT_EQ(clients.counted("permission"), 1U);
  const auto unknown = harness_.ask(node, "requestTopic", params("no-such-host.invalid"));
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("'no-such-host.invalid', an unknown host"),
            std::string::npos)
      << unknown.error().message;
  EXPECT_EQ(clients.counted("not_found"), 1U);

  const auto code_of_one_of_many = [&](const std::string& host) {
    const Value::Struct call{{"methodName", "requestTopic"}, {"params", params(host)}};
    const auto all = harness_.raw(node, "system.multicall", list_of(list_of(call))).or_throw();
    const auto& result = *all.get_if<Value::Array>()->front().get_if<Value::Array>();
    return result.front().get_if<Value::Array>()->front();
  };
  EXPECT_EQ(code_of_one_of_many("127.0.0.1"), Value(1));
  EXPECT_EQ(code_of_one_of_many("203.0.113.71"), Value(0));
  EXPECT_EQ(clients.counted("permission"), 2U);
}

TEST_F(BridgeTest, a_gateway_that_is_shut_down_by_ros_unregisters) {
  Side a(master_.uri(), "/a");
  const auto says = a.publisher("/chat");
  ASSERT_TRUE(eventually([&] { return state_says("publishers", "/chat", "/a"); }));
  EXPECT_TRUE(harness_.ask(ask("lookupNode", {"/a"})->text(), "shutdown", {"/me", "enough"}).ok());
  EXPECT_TRUE(eventually([&] { return !state_says("publishers", "/chat", "/a"); }));
}

TEST(Ros1, wrong_options_are_named) {
  FakeGraph facade;
  const auto problem = [&](const std::string& name, const std::string& value) {
    Options options;
    options.own = {{name, value}};
    const auto opened = open_ros1(facade, options);
    return opened ? "" : opened.error().message;
  };
  EXPECT_NE(
      problem("mster", "true").find("ros1 has no option 'mster'. It has: actions, call_timeout_s"),
      std::string::npos);
  EXPECT_EQ(problem("master", "yes"), "option master='yes': must be true or false");
  EXPECT_EQ(problem("node", "/a b"),
            "option node='/a b': must be a valid ROS name such as /hyphos");
  EXPECT_NE(problem("master_uri", "robot:11311"), "");
  EXPECT_NE(problem("call_timeout_s", "-1"), "");
}

TEST(Ros1, the_port_is_that_of_its_master) {
  const std::uint16_t port = test::own_port();
  FakeGraph facade;
  Options options;
  options.port = port;
  options.own = {{"master", "true"}};
  EXPECT_EQ(open_ros1(facade, options).or_throw()->port(), port);
  options.own = {{"master", "true"}, {"master_port", "0"}};
  EXPECT_NE(open_ros1(facade, options).or_throw()->port(), port);
}

TEST(Ros1, the_gateway_can_be_its_own_master) {
  FakeGraph facade;
  Options options;
  options.own = {{"master", "true"}, {"master_port", "0"}};
  const auto gateway = open_ros1(facade, options).or_throw();
  RpcHarness harness;
  EXPECT_EQ(*harness.ask(gateway->address(), "getUri", {"/me"}), Value(gateway->address()));
  EXPECT_EQ(gateway->address(), "http://127.0.0.1:" + std::to_string(gateway->port()) + "/");
}
