#include "gateway/ros1/master.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "gateway/net/listener.hpp"
#include "tests/gateway/raw_client.hpp"
#include "tests/gateway/ros1/rpc_harness.hpp"

using namespace hyphos;
using namespace hyphos::gateway;
using namespace hyphos::gateway::ros1;

namespace {

class MasterTest : public ::testing::Test {
 protected:
  MasterTest() { master_ = Master::open(*loop_, {.port = 0}).or_throw(); }
  ~MasterTest() override { loop_.reset(); }

  Result<Value> ask(const std::string& method, const std::vector<Value>& params) {
    return harness_.ask(master_->uri(), method, params);
  }
  Value get(const std::string& method, const std::vector<Value>& params) {
    const auto value = ask(method, params);
    EXPECT_TRUE(value.ok()) << method << ": " << value.error().to_string();
    return value ? *value : Value();
  }

  std::unique_ptr<net::Loop> loop_ = std::make_unique<net::Loop>();
  std::unique_ptr<Master> master_;
  RpcHarness harness_;
};

}  // namespace

TEST_F(MasterTest, subscribers_are_notified_of_publishers) {
  NodeStub listener;
  EXPECT_EQ(get("registerSubscriber", {"/listener", "/chat", "*", listener.uri()}),
            Value(Value::Array{}));
  EXPECT_EQ(get("registerPublisher", {"/talker", "/chat", "std_msgs/String", "http://h:1/"}),
            Value(Value::Array{listener.uri()}));
  const Value publishers = Value::Array{"http://h:1/"};
  EXPECT_TRUE(eventually(
      [&] { return listener.was_told("publisherUpdate", {"/master", "/chat", publishers}); }));
  EXPECT_EQ(get("unregisterPublisher", {"/talker", "/chat", "http://h:1/"}), Value(1));
  EXPECT_EQ(get("unregisterPublisher", {"/talker", "/chat", "http://h:1/"}), Value(0));
  EXPECT_TRUE(eventually(
      [&] { return listener.was_told("publisherUpdate", {"/master", "/chat", Value::Array{}}); }));
}

TEST_F(MasterTest, the_master_reports_the_state_of_the_graph) {
  (void)get("registerPublisher", {"/talker", "chat", "std_msgs/String", "http://h:1/"});
  (void)get("registerPublisher", {"/talker", "/raw/x", "*", "http://h:1/"});
  (void)get("registerSubscriber", {"/listener", "/chat", "*", "http://h:2/"});
  (void)get("registerService", {"/talker", "/add", "rosrpc://h:3", "http://h:1/"});
  EXPECT_EQ(get("getSystemState", {"/me"}), list_of(list_of(list_of("/chat", list_of("/talker")),
                                                            list_of("/raw/x", list_of("/talker"))),
                                                    list_of(list_of("/chat", list_of("/listener"))),
                                                    list_of(list_of("/add", list_of("/talker")))));
  const Value both = list_of(list_of("/chat", "std_msgs/String"), list_of("/raw/x", "*"));
  EXPECT_EQ(get("getTopicTypes", {"/me"}), both);
  EXPECT_EQ(get("getPublishedTopics", {"/me", ""}), both);
  EXPECT_EQ(get("getPublishedTopics", {"/me", "/raw"}), list_of(list_of("/raw/x", "*")));
  EXPECT_EQ(get("lookupNode", {"/me", "/talker"}), Value("http://h:1/"));
  EXPECT_EQ(get("lookupService", {"/me", "add"}), Value("rosrpc://h:3"));
  EXPECT_EQ(get("getUri", {"/me"}), Value(master_->uri()));
  EXPECT_EQ(get("getPid", {"/me"}), Value(static_cast<std::int32_t>(::getpid())));
  EXPECT_EQ(get("unregisterService", {"/talker", "/add", "rosrpc://h:3"}), Value(1));
  EXPECT_FALSE(ask("lookupService", {"/me", "/add"}).ok());
  EXPECT_FALSE(ask("lookupNode", {"/me", "/nobody"}).ok());
}

TEST_F(MasterTest, a_node_name_without_a_slash_works) {
  NodeStub node;
  (void)get("registerPublisher", {"talker", "chat", "std_msgs/String", node.uri()});
  (void)get("registerSubscriber", {"talker", "chat", "std_msgs/String", node.uri()});
  (void)get("registerService", {"talker", "add", "rosrpc://h:3", node.uri()});
  (void)get("subscribeParam", {"talker", node.uri(), "speed"});
  EXPECT_EQ(get("lookupNode", {"me", "talker"}), Value(node.uri()));
  (void)get("setParam", {"talker", "speed", 1});
  (void)get("setParam", {"other", "speed", 2});
  EXPECT_TRUE(eventually([&] { return node.was_told("paramUpdate", {"/master", "/speed", 2}); }));
  EXPECT_FALSE(node.was_told("paramUpdate", {"/master", "/speed", 1}))
      << "the node set this value itself";
  EXPECT_EQ(get("unregisterPublisher", {"talker", "chat", node.uri()}), Value(1));
  EXPECT_EQ(get("unregisterSubscriber", {"talker", "chat", node.uri()}), Value(1));
  EXPECT_EQ(get("unregisterService", {"talker", "add", "rosrpc://h:3"}), Value(1));
  EXPECT_EQ(get("unsubscribeParam", {"talker", node.uri(), "speed"}), Value(1));
  EXPECT_FALSE(ask("lookupNode", {"me", "talker"}).ok());
}

TEST_F(MasterTest, a_node_of_the_same_name_replaces_the_first) {
  NodeStub first;
  NodeStub listener;
  (void)get("registerPublisher", {"/talker", "/old", "std_msgs/String", first.uri()});
  (void)get("registerSubscriber", {"/listener", "/old", "std_msgs/String", listener.uri()});
  (void)get("registerService", {"/talker", "/add", "rosrpc://h:3", first.uri()});
  (void)get("registerPublisher", {"/talker", "/new", "std_msgs/String", "http://h:2/"});
  EXPECT_TRUE(eventually([&] {
    return first.was_told("shutdown",
                          {"/master", "[/talker] Reason: new node registered with same name"});
  }));
  EXPECT_TRUE(eventually(
      [&] { return listener.was_told("publisherUpdate", {"/master", "/old", Value::Array{}}); }));
  EXPECT_FALSE(ask("lookupService", {"/me", "/add"}).ok());
  EXPECT_EQ(get("lookupNode", {"/me", "/talker"}), Value("http://h:2/"));
}

TEST_F(MasterTest, an_unreachable_node_is_removed) {
  NodeStub listener;
  auto dead = std::make_unique<NodeStub>();
  const std::string uri = dead->uri();
  (void)get("registerSubscriber", {"/dead", "/chat", "std_msgs/String", uri});
  (void)get("registerPublisher", {"/dead", "/words", "std_msgs/String", uri});
  (void)get("registerSubscriber", {"/listener", "/words", "std_msgs/String", listener.uri()});
  dead.reset();
  (void)get("registerPublisher", {"/talker", "/chat", "std_msgs/String", "http://h:1/"});
  EXPECT_TRUE(eventually([&] { return !ask("lookupNode", {"/me", "/dead"}).ok(); }));
  EXPECT_TRUE(eventually(
      [&] { return listener.was_told("publisherUpdate", {"/master", "/words", Value::Array{}}); }));
}

TEST_F(MasterTest, parameters_are_served_and_watchers_are_notified) {
  NodeStub watcher;
  EXPECT_EQ(get("subscribeParam", {"/watcher", watcher.uri(), "/robot"}), Value(Value::Struct()));
  (void)get("setParam", {"/robot/node", "speed", 1.5});
  EXPECT_TRUE(eventually(
      [&] { return watcher.was_told("paramUpdate", {"/master", "/robot/speed", 1.5}); }));
  EXPECT_EQ(get("getParam", {"/robot/node", "speed"}), Value(1.5));
  EXPECT_EQ(get("getParam", {"/x", "/robot"}), (Value::Struct{{"speed", 1.5}}));
  EXPECT_EQ(get("hasParam", {"/x", "/speed"}), Value(false));
  EXPECT_EQ(get("searchParam", {"/robot/node", "speed"}), Value("/robot/speed"));
  EXPECT_EQ(get("getParamNames", {"/x"}), Value(Value::Array{"/robot/speed"}));
  (void)get("deleteParam", {"/x", "/robot/speed"});
  EXPECT_TRUE(eventually([&] {
    return watcher.was_told("paramUpdate", {"/master", "/robot/speed", Value::Struct()});
  }));
  EXPECT_FALSE(ask("getParam", {"/x", "/robot/speed"}).ok());
  EXPECT_FALSE(ask("deleteParam", {"/x", "/robot/speed"}).ok());
  EXPECT_EQ(get("unsubscribeParam", {"/watcher", watcher.uri(), "/robot"}), Value(1));
}

TEST_F(MasterTest, a_multicall_returns_several_results) {
  const auto results = harness_.raw(
      master_->uri(), "system.multicall",
      list_of(list_of(Value::Struct{{"methodName", "setParam"}, {"params", list_of("/x", "/a", 1)}},
                      Value::Struct{{"methodName", "no_such"}, {"params", list_of()}},
                      Value::Struct{{"methodName", "getParam"}, {"params", list_of("/x", "/a")}})));
  ASSERT_TRUE(results.ok());
  const auto& rows = *results->get_if<Value::Array>();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_NE(rows[1].get_if<Value::Struct>(), nullptr);
  EXPECT_EQ(rows[2], list_of(list_of(1, "parameter /a", 1)));
}

TEST_F(MasterTest, a_multicall_has_a_size_limit) {
  (void)get("setParam", {"/x", "/large", std::string(4 << 20, 'x')});
  const Value one = Value::Struct{{"methodName", "getParam"}, {"params", list_of("/x", "/large")}};
  const auto results = harness_.raw(master_->uri(), "system.multicall",
                                    list_of(Value::Array(std::vector<Value>(20, one))));
  ASSERT_FALSE(results.ok());
  EXPECT_NE(results.error().message.find("Request less at once"), std::string::npos);
}

TEST_F(MasterTest, invalid_calls_are_refused) {
  const auto bad = [&](const std::string& method, const std::vector<Value>& params) {
    return ask(method, params).error().message;
  };
  EXPECT_EQ(bad("registerPublisher", {"/talker"}),
            "registerPublisher(caller_id, topic, topic_type, caller_api) was called with 1 "
            "arguments");
  EXPECT_EQ(bad("getPid", {7}), "getPid(): caller_id must be a string");
  EXPECT_EQ(bad("registerPublisher", {"/t", "/a b", "x/Y", "http://h:1/"}),
            "'/a b' is not a valid name");
  EXPECT_NE(bad("registerPublisher", {"/t", "/a", "x/Y", "nowhere"}), "");
  EXPECT_NE(bad("noSuchMethod", {}), "");
}

TEST_F(MasterTest, http_1_0_and_1_1_are_supported) {
  const std::string body = write_call("getPid", {"/me"});
  const auto request = [&](const std::string& version) {
    return "POST /RPC2 HTTP/" + version +
           "\r\nHost: h\r\nContent-length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  };
  RawClient kept(master_->port());
  for (int call = 0; call < 2; ++call) {
    ASSERT_TRUE(kept.send(request("1.1")));
    EXPECT_EQ(kept.receive(15), "HTTP/1.1 200 OK");
    std::string rest;
    while (rest.find("</methodResponse>\n") == std::string::npos) rest += kept.receive(1);
    EXPECT_NE(rest.find("Content-length: "), std::string::npos);
  }
  RawClient old(master_->port());
  ASSERT_TRUE(old.send(request("1.0")));
  EXPECT_EQ(old.receive(15), "HTTP/1.0 200 OK");
  EXPECT_TRUE(old.sees_end());
}

TEST_F(MasterTest, garbage_gets_an_error_and_the_server_continues) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"GET / HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 405"},
      {"nonsense\r\n\r\n", "HTTP/1.1 400"},
      {"POST / HTTP/1.1\r\nOrigin: http://page\r\nContent-length: 0\r\n\r\n", "HTTP/1.1 403"},
      {"POST / HTTP/1.1\r\nContent-length: 99999999999\r\n\r\n", "HTTP/1.1 413"},
      {"POST / HTTP/1.1\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n", "HTTP/1.1 431"}};
  for (const auto& [bytes, answer] : wrong) {
    RawClient client(master_->port());
    ASSERT_TRUE(client.send(bytes));
    EXPECT_EQ(client.receive(answer.size()), answer);
    EXPECT_TRUE(client.sees_end());
  }
  RawClient client(master_->port());
  ASSERT_TRUE(client.send("POST / HTTP/1.1\r\nContent-length: 5\r\n\r\n<oops"));
  EXPECT_EQ(client.receive(15), "HTTP/1.1 200 OK");
  EXPECT_TRUE(ask("getPid", {"/me"}).ok());
}

TEST_F(MasterTest, a_taken_port_is_an_error) {
  net::Loop loop;
  const auto second = Master::open(loop, {.port = master_->port()});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::already_exists);
}

TEST(RpcClient, only_the_latest_of_replacing_calls_is_made) {
  NodeStub node;
  RpcHarness harness;
  std::promise<std::vector<bool>> made;
  harness.loop().post([&] {
    const auto ends = std::make_shared<std::vector<bool>>();
    for (int count = 0; count < 4; ++count) {
      harness.client().call(node.uri(), "update", {"/x", count},
                            {.timeout = Duration::from_seconds(60), .replaces = "update"},
                            [&made, ends](const Result<Value>& result) {
                              ends->push_back(result.ok());
                              if (ends->size() == 4) made.set_value(*ends);
                            });
    }
  });
  const std::vector<bool> ends = made.get_future().get();
  EXPECT_EQ(std::count(ends.begin(), ends.end(), true), 2)
      << "the first call was already in flight";
  EXPECT_TRUE(node.was_told("update", {"/x", 3}));
  EXPECT_FALSE(node.was_told("update", {"/x", 1}));
}

TEST(RpcClient, the_error_code_tells_why_a_call_failed) {
  RpcHarness harness;
  net::Loop loop;
  auto silent =
      net::Listener::open(loop, {}, {.accepted = [](const net::Connection&) {}, .refused = nullptr})
          .or_throw();
  const std::string closing = "http://127.0.0.1:" + std::to_string(silent->port()) + "/";
  EXPECT_EQ(harness.raw(closing, "getPid", {}).error().code, Code::io);
  silent.reset();
  EXPECT_EQ(harness.raw(closing, "getPid", {}).error().code, Code::disconnected);
  EXPECT_EQ(harness.raw("rosrpc://h:1", "getPid", {}).error().code, Code::corrupt);
  std::vector<net::Connection> held;
  auto mute =
      net::Listener::open(loop, {},
                          {.accepted = [&](net::Connection one) { held.push_back(std::move(one)); },
                           .refused = nullptr})
          .or_throw();
  EXPECT_EQ(harness
                .raw("http://127.0.0.1:" + std::to_string(mute->port()) + "/", "getPid", {},
                     Duration::from_ms(50))
                .error()
                .code,
            Code::timeout);
  mute.reset();
}
