#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "gateway/net/handshake.hpp"
#include "gateway/rosbridge/bson.hpp"
#include "gateway/rosbridge/rosbridge.hpp"
#include "tests/gateway/convert/base64_text.hpp"
#include "tests/gateway/rosbridge/fake_client.hpp"
#include "tests/gateway/rosbridge/web_client.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

constexpr const char* kSubscribe =
    R"({"op":"subscribe","topic":"/chatter","type":"std_msgs/String"})";
constexpr const char* kAdvertise =
    R"({"op":"advertise","topic":"/chatter","type":"std_msgs/String"})";

std::string publish(const std::string& data) {
  return R"({"op":"publish","topic":"/chatter","msg":{"data":")" + data + R"("}})";
}

class Server : public Robot {
 protected:
  void open(const Options& options = {}) { server = open_rosbridge(facade, options).or_throw(); }
  /// Waits until `count` objects are open, such as all subscriptions of the test.
  bool until_open(std::size_t count) {
    return eventually([&] { return facade.open() == count; });
  }
  std::unique_ptr<Protocol> server;
};

TEST_F(Server, messages_of_all_sizes_reach_every_client_whole) {
  open();
  EXPECT_EQ(server->address(), "ws://127.0.0.1:" + std::to_string(server->port()));
  WebClient talker(server->port());
  std::vector<std::unique_ptr<WebClient>> listeners;
  for (int i = 0; i < 3; ++i) {
    listeners.push_back(std::make_unique<WebClient>(server->port()));
    listeners.back()->say(kSubscribe);
  }
  talker.say(kAdvertise);
  ASSERT_TRUE(until_open(4));
  for (const std::size_t size : {0UL, 1UL, 66UL, 67UL, 65'000UL, 65'600UL, 5'000'000UL}) {
    const std::string data(size, 'x');
    talker.say(publish(data));
    for (const auto& listener : listeners) EXPECT_EQ(listener->text(), publish(data)) << size;
  }
}

TEST_F(Server, a_long_base64_string_is_decoded_while_it_arrives) {
  open();
  WebClient talker(server->port());
  WebClient listener(server->port());
  listener.say(kSubscribe);
  talker.say(kAdvertise);
  ASSERT_TRUE(until_open(2));
  const std::string bytes(900'000, '\xfb');
  const std::string text = base64_of(bytes);
  const auto passes = [&](const std::string& data) {
    talker.say(publish(data));
    return listener.text() == publish(data);
  };
  ASSERT_TRUE(passes(text));
  EXPECT_EQ(facade.topics().read_early(), std::nullopt)
      << "the publisher for the memory was not known yet";
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(passes(text));
    EXPECT_EQ(facade.topics().read_early(), bytes);
  }
  std::string other = text;
  other[other.size() - 5] = '-';
  ASSERT_TRUE(passes(other));
  EXPECT_EQ(facade.topics().read_early(), std::nullopt) << "not base64";
  const std::string message = publish(text);
  talker.frame(net::Opcode::text, message.substr(0, 500'000), false);
  talker.frame(net::Opcode::continuation, message.substr(500'000), true);
  EXPECT_EQ(listener.text(), message);
  EXPECT_EQ(facade.topics().read_early(), std::nullopt) << "in several frames";
  ASSERT_TRUE(passes(text));
  EXPECT_EQ(facade.topics().read_early(), bytes);
}

TEST_F(Server, unfinished_strings_keep_little_memory) {
  Options options;
  options.max_message = 3'000'000;
  open(options);
  const std::string bytes(900'000, '\xfb');
  const std::string message = publish(base64_of(bytes));
  WebClient talker(server->port());
  talker.say(kAdvertise);
  const auto reads_early = [&] {
    talker.say(message);
    talker.frame(net::Opcode::ping, "");
    int opcode = 0;
    do {  // the server itself sends a ping if the connection was idle for long
      opcode = talker.on_message().opcode;
    } while (opcode == 9);
    EXPECT_EQ(opcode, 10);
    return facade.topics().read_early().has_value();
  };
  EXPECT_FALSE(reads_early());
  EXPECT_TRUE(reads_early());
  std::vector<std::unique_ptr<WebClient>> stuck;
  while (stuck.size() < 3) {
    auto& client = stuck.emplace_back(std::make_unique<WebClient>(server->port()));
    client->say(kAdvertise);
    client->say(message);
    const std::uint64_t loans = facade.topics().loans();
    client->send(WebClient::framed(net::Opcode::text, message).substr(0, 1'000'000));
    ASSERT_TRUE(eventually([&] { return facade.topics().loans() > loans; }))
        << "the string was not read early";
  }
  EXPECT_FALSE(reads_early()) << "the unfinished strings hold too much memory";
  stuck.clear();
  EXPECT_TRUE(eventually([&] { return reads_early(); })) << "the memory was not returned";
}

TEST_F(Server, a_message_may_arrive_in_pieces_around_a_ping) {
  open();
  WebClient client(server->port());
  client.say(kSubscribe);
  client.say(kAdvertise);
  const std::string message = publish(std::string(10'000, 'y'));
  for (std::size_t from = 0; from < message.size(); from += 1024) {
    client.frame(from == 0 ? net::Opcode::binary : net::Opcode::continuation,
                 message.substr(from, 1024), from + 1024 >= message.size());
    if (from == 2048) client.frame(net::Opcode::ping, "are you there");
  }
  const auto pong = client.on_message();
  EXPECT_EQ(pong.opcode, 10);
  EXPECT_EQ(pong.payload, "are you there");
  EXPECT_EQ(client.text(), message);
}

TEST_F(Server, pieces_of_one_message_may_differ_in_size) {
  open();
  WebClient client(server->port());
  client.say(kSubscribe);
  client.say(kAdvertise);
  for (const std::vector<std::size_t>& sizes : std::vector<std::vector<std::size_t>>{
           {500'001, 3, 70'003}, {5, 300'002, 20'001}, {400'003}}) {
    std::string data;
    for (const std::size_t size : sizes)
      data += std::string(size, static_cast<char>('a' + size % 26));
    const std::string message = publish(data);
    std::size_t from = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const bool last = i + 1 == sizes.size();
      const std::string piece = message.substr(from, last ? std::string::npos : sizes[i]);
      client.frame(i == 0 ? net::Opcode::text : net::Opcode::continuation, piece, last);
      from += piece.size();
    }
    EXPECT_EQ(client.text(), message);
  }
}

TEST_F(Server, a_close_gets_a_reply_and_ends_the_client) {
  open();
  WebClient client(server->port());
  client.say(kSubscribe);
  ASSERT_TRUE(until_open(1));
  client.frame(net::Opcode::close,
               "\x03\xe8"
               "bye");
  const auto answer = client.on_message();
  EXPECT_EQ(answer.opcode, 8);
  EXPECT_EQ(answer.payload, "\x03\xe8");
  EXPECT_TRUE(client.sees_end());
  EXPECT_TRUE(until_open(0));
}

TEST_F(Server, protocol_errors_close_the_connection_with_a_reason) {
  Options options;
  options.max_message = 1000;
  open(options);
  const auto told = [&](const std::string& bytes) {
    WebClient client(server->port());
    client.send(bytes);
    const auto answer = client.on_message();
    EXPECT_EQ(answer.opcode, 8);
    EXPECT_TRUE(client.sees_end());
    return answer.payload;
  };
  EXPECT_EQ(told(std::string("\x81\x05Hello")),
            "\x03\xea"
            "a client's frame is not masked");
  EXPECT_EQ(told(std::string("\x82\xfe\x03\xe9____", 8)),
            "\x03\xf1"
            "a message is larger than the limit of 1000 bytes. Raise --max-message");
  EXPECT_EQ(told(std::string("\x80\x80____", 6)),
            "\x03\xea"
            "a continuation frame has no message to continue");
  WebClient good(server->port());
  good.say(kSubscribe);
  EXPECT_TRUE(until_open(1)) << "other clients are served";
  EXPECT_EQ(facade.clients().counted("corrupt"), 2U);
  EXPECT_EQ(facade.clients().counted("exhausted"), 1U);
}

TEST_F(Server, clients_without_websocket_get_an_http_error) {
  open();
  RawClient browser(server->port());
  browser.send("GET /index.html HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(browser.receive(29), "HTTP/1.1 426 Upgrade Required");
  EXPECT_TRUE(browser.sees_end());
  RawClient endless(server->port());
  endless.send(std::string(net::kMaxRequestHead + 1, 'x'));
  EXPECT_EQ(endless.receive(24), "HTTP/1.1 400 Bad Request");
  EXPECT_TRUE(endless.sees_end());
}

TEST_F(Server, tokens_are_taken_from_the_address_or_by_auth) {
  Options options;
  options.tokens = {{"secret"}};
  open(options);
  EXPECT_TRUE(WebClient(server->port(), "/?token=wrong")
                  .reply.starts_with("HTTP/1.1 401 Unauthorized\r\n"));
  WebClient known(server->port(), "/?token=secret");
  known.say(kSubscribe);
  EXPECT_TRUE(until_open(1));
  WebClient later(server->port());
  later.say(kSubscribe);
  EXPECT_TRUE(later.text().starts_with(R"({"op":"status","level":"error")"));
  later.say(R"({"op":"auth","token":"secret"})");
  later.say(kSubscribe);
  EXPECT_TRUE(until_open(2));
  WebClient wrong(server->port());
  wrong.say(R"({"op":"auth","token":"guess"})");
  EXPECT_TRUE(wrong.text().starts_with(R"({"op":"status","level":"error")"));
  EXPECT_EQ(wrong.on_message().payload,
            "\x03\xf0"
            "unknown token");
  EXPECT_TRUE(wrong.sees_end());
}

TEST_F(Server, foreign_origins_are_refused_unless_allowed) {
  constexpr const char* kElsewhere = "https://elsewhere.example";
  const auto enters = [&](const std::string& origin, const std::string& target = "/") {
    return WebClient(server->port(), target, origin).reply.starts_with("HTTP/1.1 101");
  };
  open();
  EXPECT_TRUE(enters(""));
  EXPECT_TRUE(enters("file://"));
  EXPECT_TRUE(enters("null")) << "browsers send this for local files";
  EXPECT_TRUE(enters("http://localhost:8080"));
  EXPECT_EQ(facade.clients().counted("origin"), 0U);
  const WebClient refused(server->port(), "/", kElsewhere);
  EXPECT_TRUE(refused.reply.starts_with("HTTP/1.1 403 Forbidden\r\n")) << refused.reply;
  EXPECT_EQ(facade.clients().counted("origin"), 1U);
  Options options;
  options.own["origins"] = "https://*.example";
  open(options);
  EXPECT_TRUE(enters(kElsewhere));
  EXPECT_FALSE(enters("null"));
  EXPECT_FALSE(enters("http://elsewhere.example"));
  options.own.clear();
  options.tokens = {{"secret"}};
  open(options);
  EXPECT_TRUE(enters(kElsewhere, "/?token=secret"));
  EXPECT_FALSE(enters(kElsewhere));
}

TEST_F(Server, a_client_beyond_the_limit_gets_an_error) {
  Options options;
  options.max_clients = 1;
  open(options);
  WebClient first(server->port());
  EXPECT_TRUE(WebClient(server->port()).reply.starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
  EXPECT_EQ(facade.clients().counted("max_clients"), 1U);
  first.close();
  EXPECT_TRUE(
      eventually([&] { return WebClient(server->port()).reply.starts_with("HTTP/1.1 101"); }));
}

TEST_F(Server, a_client_of_bson_beyond_the_limit_gets_a_document) {
  Options options;
  options.max_clients = 1;
  open(options);
  const WebClient first(server->port());
  RawClient second(server->port());
  ASSERT_TRUE(second.send(*json_to_bson(R"({"op":"subscribe","topic":"/chatter"})")));
  const std::string head = second.receive(4);
  const auto size = bson_size(std::as_bytes(std::span(head)));
  ASSERT_TRUE(size);
  const std::string whole = head + second.receive(*size - 4);
  EXPECT_EQ(
      bson_to_json(std::as_bytes(std::span(whole)), 1000).or_throw(),
      R"({"op":"status","level":"error","msg":"the gateway already has 1 clients, the maximum. )"
      R"(Start the gateway with a larger --max-clients"})");
  EXPECT_TRUE(second.sees_end());
}

TEST_F(Server, a_silent_client_beyond_the_limit_is_closed) {
  Options options;
  options.max_clients = 1;
  open(options);
  const WebClient first(server->port());
  RawClient silent(server->port());
  EXPECT_TRUE(silent.sees_end());
  EXPECT_EQ(facade.clients().counted("max_clients"), 1U);
  EXPECT_TRUE(WebClient(server->port()).reply.starts_with("HTTP/1.1 503"));
}

TEST_F(Server, a_client_of_tls_is_refused_with_the_remedy) {
  open();
  RawClient client(server->port());
  // The head of a ClientHello, whose first four bytes could be the length of a document of BSON.
  ASSERT_TRUE(client.send(std::string("\x16\x03\x01\x00\xc8\x01\x00\x00\xc4", 9)));
  std::string reply;
  for (std::string more = client.some(4096); !more.empty(); more = client.some(4096)) reply += more;
  EXPECT_TRUE(reply.starts_with("HTTP/1.1 400 Bad Request")) << reply;
  EXPECT_NE(reply.find("--tls-certificate"), std::string::npos);
  EXPECT_EQ(facade.clients().counted("corrupt"), 1U);
}

TEST_F(Server, a_client_that_does_not_read_loses_its_oldest_messages) {
  Options options;
  options.queue_bytes = std::size_t{4} << 20;
  open(options);
  WebClient slow(server->port());
  slow.say(kSubscribe);
  // Subscribes first, so its drops are counted before the quick client receives.
  ASSERT_TRUE(until_open(1));
  WebClient quick(server->port());
  quick.say(kSubscribe);
  WebClient talker(server->port());
  talker.say(kAdvertise);
  ASSERT_TRUE(until_open(3));
  constexpr int kCount = 150;
  const std::string filler(200'000, 'z');
  for (int i = 0; i < kCount; ++i) {
    const std::string message = publish(std::to_string(i) + filler);
    talker.say(message);
    EXPECT_EQ(quick.text(), message);
  }
  // The received messages are whole and in order, and include the newest.
  int received = 0;
  int last = -1;
  while (last != kCount - 1) {
    const std::string message = slow.text();
    ASSERT_FALSE(message.empty());
    const int number = std::atoi(message.c_str() + publish("").size() - 3);
    EXPECT_GT(number, last);
    EXPECT_EQ(message, publish(std::to_string(number) + filler));
    last = number;
    ++received;
  }
  EXPECT_EQ(facade.clients().counted("slow_client"), static_cast<std::uint64_t>(kCount - received));
  EXPECT_LT(received, kCount);
}

TEST_F(Server, a_silent_client_is_disconnected) {
  Options options;
  options.own["ping_s"] = "1";
  open(options);
  // At once, because the server may end a client that is slow to begin.
  std::string all;
  for (const std::string& text :
       {std::string(kSubscribe), std::string(kAdvertise), publish("here")})
    all += WebClient::framed(net::Opcode::text, text);
  WebClient client(server->port(), "/", "", all);
  auto heard = client.on_message();
  for (; heard.opcode == 9; heard = client.on_message()) client.frame(net::Opcode::pong, "");
  EXPECT_EQ(heard.payload, publish("here"));
  EXPECT_EQ(client.on_message().opcode, 9);
  client.frame(net::Opcode::pong, "");
  EXPECT_EQ(client.on_message().opcode, 9);
  EXPECT_TRUE(until_open(0));
  EXPECT_TRUE(client.sees_end());
  EXPECT_EQ(facade.clients().counted("dead"), 1U);
}

TEST_F(Server, clients_that_die_leave_nothing_behind) {
  open();
  WebClient talker(server->port());
  talker.say(kAdvertise);
  ASSERT_TRUE(until_open(1));
  for (int i = 0; i < 200; ++i) {
    WebClient client(server->port());
    client.say(kSubscribe);
    client.say(R"({"op":"advertise_service","service":"/s)" + std::to_string(i) +
               R"(","type":"rospy_tutorials/AddTwoInts"})");
    // in the middle of a frame header
    if (i % 3 == 0) client.send(std::string("\x82\xff\x00\x00\x00", 5));
    talker.say(publish(std::string(static_cast<std::size_t>(i) * 1000, 'k')));
    client.reset();
  }
  EXPECT_TRUE(until_open(1));
  talker.say(kSubscribe);
  talker.say(publish("alive"));
  EXPECT_EQ(talker.text(), publish("alive"));
}

TEST_F(Server, calls_go_from_one_connection_to_another) {
  open();
  WebClient served_service(server->port());
  served_service.say(
      R"({"op":"advertise_service","service":"/add","type":"rospy_tutorials/AddTwoInts"})");
  ASSERT_TRUE(until_open(1));
  WebClient asking(server->port());
  for (int i = 0; i < 100; ++i) {
    const std::string number = std::to_string(i);
    asking.say(R"({"op":"call_service","service":"/add","id":)" + number + "}");
    EXPECT_EQ(served_service.text(), R"({"op":"call_service","id":"service_request:)" + number +
                                         R"(","service":"/add","args":{}})");
    served_service.say(R"({"op":"service_response","id":"service_request:)" + number +
                       R"(","result":true,"values":{"sum":)" + number + "}}");
    EXPECT_EQ(asking.text(), R"({"op":"service_response","service":"/add","values":{"sum":)" +
                                 number + R"(},"result":true,"id":)" + number + "}");
  }
}

TEST_F(Server, the_end_of_the_server_closes_clients_with_a_reason) {
  open();
  WebClient client(server->port());
  client.say(kSubscribe);
  WebClient silent(server->port());
  ASSERT_TRUE(until_open(1));
  server.reset();
  EXPECT_EQ(facade.open(), 0U);
  const auto last = client.on_message();
  EXPECT_EQ(last.opcode, 8);
  EXPECT_EQ(last.payload,
            "\x03\xe9"
            "the gateway is shutting down");
  EXPECT_TRUE(client.sees_end());
}

TEST_F(Server, the_server_may_end_with_messages_and_calls_in_flight) {
  for (int round = 0; round < 20; ++round) {
    open();
    std::vector<std::unique_ptr<WebClient>> clients;
    for (int i = 0; i < 4; ++i) {
      clients.push_back(std::make_unique<WebClient>(server->port()));
      clients.back()->say(kSubscribe);
      clients.back()->say(kAdvertise);
      clients.back()->say(R"({"op":"call_service","service":"/nobody","timeout":0.001})");
      clients.back()->say(R"({"op":"subscribe","topic":"/chatter","throttle_rate":1,)"
                          R"("queue_length":3,"id":"t"})");
      for (int k = 0; k < 10; ++k) clients.back()->say(publish(std::string(1000, 'm')));
    }
    server.reset();
    EXPECT_EQ(facade.open(), 0U);
  }
}

TEST_F(Server, wrong_options_and_a_taken_port_are_errors) {
  Options options;
  options.own["pingg"] = "1";
  EXPECT_EQ(open_rosbridge(facade, options).error().message,
            "rosbridge has no option 'pingg'. It has: origins, ping_s");
  options.own = {{"ping_s", "soon"}};
  EXPECT_EQ(open_rosbridge(facade, options).error().code, Code::invalid_config);
  options.own.clear();
  options.tls = Tls{"/nowhere.pem", "/nowhere.key"};
  const Error error = open_rosbridge(facade, options).error();
  EXPECT_EQ(error.code, Code::invalid_config);
  EXPECT_EQ(error.where, "/nowhere.pem");
  open();
  options.tls.reset();
  options.port = server->port();
  EXPECT_EQ(open_rosbridge(facade, options).error().code, Code::already_exists);
}

TEST_F(Server, a_waiting_message_blocks_only_its_client) {
  open();
  WebClient listener(server->port());
  listener.say(kSubscribe);
  listener.say(R"({"op":"subscribe","topic":"/other","type":"std_msgs/String"})");
  ASSERT_TRUE(until_open(2));
  WebClient talker(server->port());
  talker.say(kAdvertise);
  ASSERT_TRUE(until_open(3));
  facade.topics().fill("/chatter", true);
  for (int i = 0; i < 50; ++i) talker.say(publish(std::to_string(i)));
  WebClient other(server->port());
  other.say(R"({"op":"advertise","topic":"/other","type":"std_msgs/String"})");
  const std::string through = R"({"op":"publish","topic":"/other","msg":{"data":"through"}})";
  other.say(through);
  EXPECT_EQ(listener.text(), through);
  facade.topics().fill("/chatter", false);
  for (int i = 0; i < 50; ++i) ASSERT_EQ(listener.text(), publish(std::to_string(i)));
  EXPECT_EQ(facade.clients().counted("not_held_up"), 0U);
}

TEST_F(Server, a_blocked_client_is_not_considered_dead) {
  std::atomic<int> heard = 0;
  const auto subscription =
      facade.topics().open_subscription({"graph"}, "/chatter", "std_msgs/String", Form::json, {},
                                        [&](const OutgoingMessage&) { ++heard; });
  Options options;
  options.own = {{"ping_s", "0.05"}};
  open(options);
  facade.topics().fill("/chatter", true);
  // It answers no ping, as if its pongs were behind unread messages. So it must be blocked as soon
  // as it is connected, and all its messages must be there when it is not blocked any more.
  constexpr int kCount = 100;
  std::string all = WebClient::framed(net::Opcode::text, kAdvertise);
  for (int i = 0; i < kCount; ++i) {
    all += WebClient::framed(net::Opcode::text, publish(std::to_string(i)));
  }
  WebClient talker(server->port(), "/", "", all);
  // A client that does not answer so many pings is dead, unless it is blocked.
  for (int pings = 0; pings < 10; ++pings) {
    EXPECT_EQ(talker.on_message().opcode, static_cast<int>(net::Opcode::ping));
  }
  EXPECT_EQ(heard, 0);
  EXPECT_EQ(facade.clients().counted("dead"), 0U);
  facade.topics().fill("/chatter", false);
  EXPECT_TRUE(eventually([&] { return heard == kCount; }));
}

}  // namespace
}  // namespace hyphos::gateway::rosbridge
