#include "transport/zmq/zmq.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <thread>

#include "tests/transport/tcp_cutter.hpp"
#include "tests/transport/zmq_factory.hpp"
#include "transport/zmq/socket.hpp"
#include "wire/control.hpp"
#include "wire/packet.hpp"

namespace hyphos::transport::testing {
namespace {

std::unique_ptr<ZmqTransport> started(ZmqConfig config) {
  auto made = make_zmq(std::move(config));
  made->start().or_throw();
  return made;
}

ZmqConfig listening(const std::string& name) {
  ZmqConfig config = zmq_config(name);
  config.bind = {{"tcp://127.0.0.1:*", std::nullopt}};
  return config;
}

ZmqConfig connecting(const std::string& name, const std::string& endpoint) {
  ZmqConfig config = zmq_config(name);
  config.connect = {{endpoint, std::nullopt, std::nullopt}};
  return config;
}

/// Keeps all peers while a busy machine delays a reconnect.
ZmqConfig patient(ZmqConfig config) {
  config.reconnect_window_ms = 60'000;
  return config;
}

class ZmqTest : public ::testing::Test {
 protected:
  bool connected() {
    return events_.wait([&] { return send_events_.receivers == 1; });
  }
  Events events_;
  TestSink sink_{events_};
  TestSendEvents send_events_{events_};
};

TEST_F(ZmqTest, a_mismatch_names_the_nodes_on_both_sides) {
  auto publisher = started(listening("robot"));
  auto subscriber = started(connecting("station", publisher->endpoints()[0]));
  ChannelSpec ours = spec("scan");
  ours.node = "lidar";
  ChannelSpec theirs = spec("scan");
  theirs.node = "mapper";
  theirs.type = make_type_id("test.Other", Encoding::structure, 24);
  (void)publisher->open(ours, nullptr, &send_events_).or_throw();
  (void)subscriber->open(theirs, &sink_, nullptr).or_throw();
  ASSERT_TRUE(events_.wait([&] { return !sink_.errors.empty() && !send_events_.errors.empty(); }));
  for (const Error& error : {sink_.errors[0], send_events_.errors[0]}) {
    for (const char* name : {"node 'lidar' of process 'robot' publishes",
                             "node 'mapper' of process 'station' subscribes"}) {
      EXPECT_NE(error.message.find(name), std::string::npos) << error.message;
    }
  }
}

// --- Connections that break ----------------------------------------------------------------------

TEST_F(ZmqTest, reliable_survives_a_cut_connection) {
  auto publisher = started(patient(listening("publisher")));
  TcpCutter cable(port_of(publisher->endpoints()[0]));
  auto subscriber = started(patient(connecting("subscriber", cable.endpoint())));
  const PortId out =
      publisher->open(spec("scan", reliable_policy(8)), nullptr, &send_events_).or_throw();
  (void)subscriber->open(spec("scan", reliable_policy(8)), &sink_, nullptr).or_throw();
  ASSERT_TRUE(connected());
  std::thread sender([&] {
    for (std::uint64_t i = 1; i <= 600; ++i) publisher->send(out, sample(i, 20'000));
  });
  for (std::size_t at = 100; at <= 500; at += 100) {
    ASSERT_TRUE(events_.wait([&] { return sink_.messages.size() >= at; }));
    cable.cut();
  }
  sender.join();
  ASSERT_TRUE(events_.wait([&] { return sink_.messages.size() >= 600; }));
  for (std::uint64_t i = 0; i < 600; ++i) {
    ASSERT_EQ(sink_.messages[i].meta.sequence, i + 1) << "exactly once and in order";
    ASSERT_TRUE(intact(sink_.messages[i], 20'000));
  }
  EXPECT_EQ(sink_.lost() + send_events_.lost(), 0U);
  EXPECT_GE(subscriber->counters().disconnects, 1U);
  publisher->stop(0);
  subscriber->stop(0);
}

TEST_F(ZmqTest, best_effort_counts_the_losses_of_a_cut_connection) {
  auto publisher = started(patient(listening("publisher")));
  TcpCutter cable(port_of(publisher->endpoints()[0]));
  auto subscriber = started(patient(connecting("subscriber", cable.endpoint())));
  const Policy policy = with_overflow(Overflow::block, 8);
  const PortId out = publisher->open(spec("scan", policy), nullptr, &send_events_).or_throw();
  (void)subscriber->open(spec("scan", policy), &sink_, nullptr).or_throw();
  ASSERT_TRUE(connected());
  std::uint64_t promised = 0;
  std::thread sender([&] {
    for (std::uint64_t i = 1; i <= 600; ++i) {
      const SendReport report = publisher->send(out, sample(i, 20'000));
      promised += report.accepted + report.dropped;
      if (i % 100 == 0) {
        const int falls = send_events_.falls;
        cable.cut();
        EXPECT_TRUE(events_.wait(
            [&] { return send_events_.falls > falls && send_events_.receivers == 1; }));
      }
    }
  });
  sender.join();
  ASSERT_TRUE(events_.wait(
      [&] { return sink_.messages.size() + sink_.lost() + send_events_.lost() >= promised; }));
  EXPECT_EQ(sink_.messages.size() + sink_.lost() + send_events_.lost(), promised);
  std::uint64_t last = 0;
  for (const Envelope& message : sink_.messages) {
    EXPECT_GT(message.meta.sequence, last);
    last = message.meta.sequence;
  }
  publisher->stop(0);
  subscriber->stop(0);
}

TEST_F(ZmqTest, the_handed_stamp_is_the_time_of_the_libzmq_call) {
  auto publisher = started(listening("publisher"));
  auto subscriber = started(connecting("subscriber", publisher->endpoints()[0]));
  const PortId out =
      publisher->open(spec("scan", reliable_policy(8)), nullptr, &send_events_).or_throw();
  (void)subscriber->open(spec("scan", reliable_policy(8)), &sink_, nullptr).or_throw();
  ASSERT_TRUE(connected());
  for (const std::size_t size : {64U, 20'000U}) {  // one frame, and several
    const std::size_t before = events_.read([&] { return sink_.messages.size(); });
    Envelope message = sample(before + 1, size);
    const std::int64_t begin = monotonic_now().ns;
    message.meta.stamps.publish = begin - 2'000'000;
    message.meta.stamps.submitted = begin - 1'000'000;  // as if it had waited in a queue of ours
    publisher->send(out, message);
    ASSERT_TRUE(events_.wait([&] { return sink_.messages.size() > before; }));
    const Stamps stamps = events_.read([&] { return sink_.messages.back().meta.stamps; });
    EXPECT_EQ(stamps.publish, begin - 2'000'000);
    EXPECT_GE(stamps.submitted, begin);
    EXPECT_LE(stamps.submitted, stamps.arrived);
  }
  publisher->stop(0);
  subscriber->stop(0);
}

TEST_F(ZmqTest, a_peer_that_stays_away_is_given_up) {
  ZmqConfig config = listening("publisher");
  config.reconnect_window_ms = 6000;  // the messages below find it gone, but not given up yet
  auto publisher = started(std::move(config));
  TcpCutter cable(port_of(publisher->endpoints()[0]));
  auto subscriber = started(patient(connecting("subscriber", cable.endpoint())));
  const PortId out =
      publisher->open(spec("scan", reliable_policy(2)), nullptr, &send_events_).or_throw();
  (void)subscriber->open(spec("scan", reliable_policy(2)), &sink_, nullptr).or_throw();
  ASSERT_TRUE(connected());
  cable.set_down(true);
  SendReport report;
  std::uint64_t sent = 0;
  std::uint64_t promised = 0;
  do {
    report = publisher->send(out, sample(++sent, 300'000));
    promised += report.accepted + report.dropped;
  } while (report.accepted > 0);
  ASSERT_TRUE(events_.wait([&] { return send_events_.receivers == 0; }));
  if (report.dropped > 0) {
    EXPECT_EQ(report.failure, Code::disconnected);
  }
  // Acknowledged messages have arrived, and all others are counted.
  ASSERT_TRUE(
      events_.wait([&] { return sink_.messages.size() + send_events_.lost() >= promised; }));
  EXPECT_GT(events_.read([&] { return send_events_.drops[Drop::disconnected]; }), 0U);
  // The peer may still return.
  cable.set_down(false);
  ASSERT_TRUE(connected());
  publisher->stop(0);
  subscriber->stop(0);
}

TEST_F(ZmqTest, two_links_to_one_process_deliver_once) {
  TemporaryFolder folder;
  ZmqConfig config = listening("publisher");
  config.bind.push_back({"ipc://" + (folder.path() / "p").string(), std::nullopt});
  auto publisher = started(patient(std::move(config)));
  TcpCutter cable(port_of(publisher->endpoints()[0]));
  ZmqConfig both = connecting("subscriber", cable.endpoint());
  both.connect.push_back({publisher->endpoints()[1], std::nullopt, std::nullopt});
  auto subscriber = started(patient(std::move(both)));
  const PortId out =
      publisher->open(spec("scan", reliable_policy()), nullptr, &send_events_).or_throw();
  (void)subscriber->open(spec("scan", reliable_policy()), &sink_, nullptr).or_throw();
  ASSERT_TRUE(connected());
  for (std::uint64_t i = 1; i <= 50; ++i) publisher->send(out, sample(i));
  cable.set_down(true);  // if tcp was in use, ipc must take over
  for (std::uint64_t i = 51; i <= 100; ++i) publisher->send(out, sample(i));
  ASSERT_TRUE(events_.wait([&] { return sink_.messages.size() >= 100; }));
  for (std::uint64_t i = 0; i < 100; ++i) {
    ASSERT_EQ(sink_.messages[i].meta.sequence, i + 1);
  }
  EXPECT_EQ(send_events_.receivers, 1U);
  publisher->stop(0);
  subscriber->stop(0);
}

TEST_F(ZmqTest, a_process_does_not_receive_its_own_messages) {
  TemporaryFolder folder;
  ZmqConfig config = zmq_config("both");
  config.bind = {{"ipc://" + (folder.path() / "p").string(), std::nullopt}};
  config.connect = {{config.bind[0].endpoint, std::nullopt, std::nullopt}};
  auto both = started(std::move(config));
  auto other = started(connecting("other", both->endpoints()[0]));
  const PortId out = both->open(spec("scan", reliable_policy()), nullptr, &send_events_).or_throw();
  TestSink own(events_);
  (void)both->open(spec("scan", reliable_policy()), &own, nullptr).or_throw();
  (void)other->open(spec("scan", reliable_policy()), &sink_, nullptr).or_throw();
  ASSERT_TRUE(connected());
  both->send(out, sample(1));
  ASSERT_TRUE(events_.wait([&] { return sink_.messages.size() == 1; }));
  EXPECT_TRUE(own.messages.empty());
  EXPECT_EQ(send_events_.receivers, 1U);
  both->stop(0);
  other->stop(0);
}

TEST_F(ZmqTest, an_inlet_may_publish_under_block_inside_its_call) {
  // "relay" republishes its messages from inside deliver(), on its only I/O thread, faster than the
  // receiver accepts them. So the wait for room must not block that thread.
  auto source = started(listening("source"));
  ZmqConfig middle = listening("relay");
  middle.connect = {{source->endpoints()[0], std::nullopt, std::nullopt}};
  auto relay = started(std::move(middle));
  auto sink = started(connecting("sink", relay->endpoints()[0]));
  TestSendEvents relay_events(events_);
  const Policy policy = reliable_policy(2);
  const PortId onward = relay->open(spec("out", policy), nullptr, &relay_events).or_throw();
  struct Relay final : ReceiveSink {
    Transport* transport = nullptr;
    PortId port = 0;
    bool deliver(Envelope& message, ReadyList*) override {
      return transport->send(port, message), true;
    }
    void dropped(std::string_view, Drop, std::uint64_t) override {}
    void peer(std::string_view, std::string_view, std::uint64_t, bool) override {}
    void refused(std::string_view, const Error&) override {}
  } relay_sink;
  relay_sink.transport = relay.get();
  relay_sink.port = onward;
  (void)relay->open(spec("in", policy), &relay_sink, nullptr).or_throw();
  const PortId out = source->open(spec("in", policy), nullptr, &send_events_).or_throw();
  (void)sink->open(spec("out", policy), &sink_, nullptr).or_throw();
  ASSERT_TRUE(
      events_.wait([&] { return send_events_.receivers == 1 && relay_events.receivers == 1; }));
  for (std::uint64_t i = 1; i <= 100; ++i) source->send(out, sample(i, 200'000));
  ASSERT_TRUE(events_.wait([&] { return sink_.messages.size() >= 100; }));
  for (std::uint64_t i = 0; i < 100; ++i) ASSERT_EQ(sink_.messages[i].meta.sequence, i + 1);
  source->stop(0);
  relay->stop(0);
  sink->stop(0);
}

// --- Configuration -------------------------------------------------------------------------------

TEST_F(ZmqTest, an_address_in_use_fails_at_start) {
  TemporaryFolder folder;
  ZmqConfig config = listening("first");
  config.bind.push_back({"ipc://" + (folder.path() / "p").string(), std::nullopt});
  auto first = started(config);
  for (const std::string& endpoint : first->endpoints()) {
    ZmqConfig again = zmq_config("second");
    again.bind = {{endpoint, std::nullopt}};
    const auto result = make_zmq(again)->start();
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, Code::already_exists);
    EXPECT_EQ(result.error().where, endpoint);
  }
}

TEST_F(ZmqTest, malformed_endpoints_fail_at_start) {
  for (const char* endpoint : {"tcp://127.0.0.1", "pigeon://home", "", "tcp://not a host:1"}) {
    ZmqConfig config = zmq_config("process");
    config.bind = {{endpoint, std::nullopt}};
    const auto result = make_zmq(config)->start();
    ASSERT_FALSE(result.ok()) << endpoint;
    EXPECT_EQ(result.error().code, Code::invalid_config) << endpoint;
  }
  const auto connected = make_zmq(connecting("process", "pigeon://home"))->start();
  ASSERT_FALSE(connected.ok());
}

TEST_F(ZmqTest, channels_open_and_close_at_run_time_on_either_side) {
  ZmqConfig config = listening("publisher");
  config.bind[0].channels = {"other"};
  auto publisher = started(std::move(config));
  auto subscriber = started(connecting("subscriber", publisher->endpoints()[0]));
  const PortId out =
      publisher->open(spec("scan", reliable_policy()), nullptr, &send_events_).or_throw();
  TestSendEvents other_events(events_);
  TestSink other_sink(events_);
  (void)publisher->open(spec("other"), nullptr, &other_events).or_throw();
  (void)subscriber->open(spec("scan", reliable_policy()), &sink_, nullptr).or_throw();
  (void)subscriber->open(spec("other"), &other_sink, nullptr).or_throw();
  ASSERT_TRUE(events_.wait([&] { return other_events.receivers == 1; }));
  EXPECT_EQ(send_events_.receivers, 0U) << "not in the list";

  const auto expect_receivers = [&](std::uint32_t count) {
    ASSERT_TRUE(events_.wait([&] { return send_events_.receivers == count; }));
  };
  publisher->publish_channel("scan", true);
  expect_receivers(1);
  publisher->publish_channel("scan", false, "subscriber");
  expect_receivers(0);
  publisher->publish_channel("scan", true, "subscriber");
  expect_receivers(1);
  subscriber->subscribe_channel("scan", false, publisher->endpoints()[0]);
  expect_receivers(0);
  subscriber->subscribe_channel("scan", true, publisher->endpoints()[0]);
  expect_receivers(1);
  subscriber->subscribe_channel("scan", false, "publisher");
  expect_receivers(0);
  subscriber->subscribe_channel("scan", true, "publisher");
  expect_receivers(1);
  publisher->send(out, sample(1));
  ASSERT_TRUE(events_.wait([&] { return sink_.messages.size() == 1; }));
  EXPECT_TRUE(publisher->has_peer("subscriber"));
  EXPECT_TRUE(subscriber->has_peer(publisher->endpoints()[0]));
  EXPECT_FALSE(subscriber->has_peer("nobody"));
  publisher->stop(0);
  subscriber->stop(0);
}

TEST_F(ZmqTest, each_endpoint_offers_its_own_channels) {
  TemporaryFolder folder;
  ZmqConfig config = zmq_config("publisher");
  using Names = std::vector<std::string>;
  config.bind = {{"tcp://127.0.0.1:*", Names{"scan", "common"}},
                 {"ipc://" + (folder.path() / "p").string(), Names{"common", "image"}}};
  auto publisher = started(std::move(config));
  const std::string front = publisher->endpoints()[0];
  const std::string back = publisher->endpoints()[1];
  auto guest = started(connecting("guest", front));
  ZmqConfig both = connecting("friend", front);
  both.connect.push_back({back, std::nullopt, std::nullopt});
  auto friendly = started(std::move(both));

  const Names names = {"scan", "image", "common"};
  std::map<std::string, std::unique_ptr<TestSendEvents>> send_events_by_name;
  std::map<std::string, std::unique_ptr<TestSink>> at_guest;
  std::map<std::string, std::unique_ptr<TestSink>> at_friend;
  std::map<std::string, PortId> ports;
  for (const std::string& name : names) {
    send_events_by_name[name] = std::make_unique<TestSendEvents>(events_);
    at_guest[name] = std::make_unique<TestSink>(events_);
    at_friend[name] = std::make_unique<TestSink>(events_);
    const ChannelSpec channel = spec(name, reliable_policy());
    ports[name] = publisher->open(channel, nullptr, send_events_by_name[name].get()).or_throw();
    (void)guest->open(channel, at_guest[name].get(), nullptr).or_throw();
    (void)friendly->open(channel, at_friend[name].get(), nullptr).or_throw();
  }
  const auto receivers = [&](std::uint32_t scan, std::uint32_t image, std::uint32_t common) {
    return events_.wait([&] {
      return send_events_by_name["scan"]->receivers == scan &&
             send_events_by_name["image"]->receivers == image &&
             send_events_by_name["common"]->receivers == common;
    });
  };
  // Both endpoint groups offer "common". The friend receives it through one of them.
  ASSERT_TRUE(receivers(2, 1, 2));
  const auto send_and_expect = [&](std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t i = from; i <= to; ++i) {
      for (const std::string& name : names) publisher->send(ports[name], sample(i));
    }
    ASSERT_TRUE(events_.wait([&] {
      return at_friend["image"]->messages.size() == to &&
             at_friend["common"]->messages.size() == to &&
             at_guest["common"]->messages.size() == to;
    }));
    for (std::uint64_t i = 0; i < to; ++i) {
      ASSERT_EQ(at_friend["common"]->messages[i].meta.sequence, i + 1) << "not twice, in order";
    }
  };
  send_and_expect(1, 100);
  ASSERT_TRUE(events_.wait([&] { return at_guest["scan"]->messages.size() == 100; }));
  EXPECT_TRUE(at_guest["image"]->messages.empty()) << "not offered at its endpoint";

  ASSERT_TRUE(events_.wait([&] { return at_friend["scan"]->messages.size() == 100; }));
  friendly->remove_peer(front).or_throw();
  ASSERT_TRUE(events_.wait([&] {
    const auto peers = friendly->peers();
    return std::any_of(peers.begin(), peers.end(), [&](const PeerStatus& peer) {
      return peer.channel == "common" && peer.endpoint == back;
    });
  })) << "what the other door offers, too, comes through it now";
  ASSERT_TRUE(receivers(1, 1, 2));
  send_and_expect(101, 150);
  EXPECT_TRUE(at_guest["image"]->messages.empty());
  EXPECT_EQ(at_friend["scan"]->messages.size(), 100U);
  publisher->stop(0);
  guest->stop(0);
  friendly->stop(0);
}

TEST_F(ZmqTest, peers_are_added_and_removed_at_run_time) {
  auto publisher = started(listening("publisher"));
  auto subscriber = started(zmq_config("subscriber"));
  (void)publisher->open(spec("scan"), nullptr, &send_events_).or_throw();
  (void)subscriber->open(spec("scan"), &sink_, nullptr).or_throw();
  const PeerAddress peer{publisher->endpoints()[0], std::nullopt, std::nullopt};
  for (int i = 0; i < 3; ++i) {
    subscriber->add_peer(peer).or_throw();
    ASSERT_TRUE(events_.wait([&] { return send_events_.receivers == 1 && sink_.publishers == 1; }));
    EXPECT_EQ(subscriber->add_peer(peer).error().code, Code::already_exists);
    subscriber->remove_peer(peer.endpoint).or_throw();
    ASSERT_TRUE(events_.wait([&] { return send_events_.receivers == 0 && sink_.publishers == 0; }));
    EXPECT_EQ(subscriber->remove_peer(peer.endpoint).error().code, Code::not_found);
  }
  publisher->stop(0);
  subscriber->stop(0);
}

TEST_F(ZmqTest, a_port_scan_of_a_process_without_keys_names_no_keys) {
  ::testing::internal::CaptureStderr();
  auto publisher = started(listening("robot"));
  const std::string endpoint = publisher->endpoints()[0];
  const int scan = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port =
      htons(static_cast<std::uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1))));
  ASSERT_EQ(::connect(scan, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const std::string request = "GET / HTTP/1.1\r\nHost: robot\r\n" + std::string(200, 'x');
  ASSERT_EQ(::send(scan, request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (publisher->counters().refused == 0 && std::chrono::steady_clock::now() < until) {
    std::this_thread::yield();
  }
  ::close(scan);
  publisher->stop(0);
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("a client: connection refused, the other side is no process "
                     "of Hyphos, or it has keys and this one has none (1 so far)"),
            std::string::npos)
      << log;
  EXPECT_EQ(log.find("do not match"), std::string::npos) << log;
}

TEST_F(ZmqTest, messages_beyond_the_limit_are_refused_at_the_sender) {
  ZmqConfig config = listening("publisher");
  config.max_message_bytes = 100'000;
  auto publisher = started(std::move(config));
  auto subscriber = started(connecting("subscriber", publisher->endpoints()[0]));
  const PortId out = publisher->open(spec("scan"), nullptr, &send_events_).or_throw();
  (void)subscriber->open(spec("scan"), &sink_, nullptr).or_throw();
  ASSERT_TRUE(connected());
  const SendReport report = publisher->send(out, sample(1, 50'001, 1));
  EXPECT_EQ(report.failure, Code::too_large);
  EXPECT_EQ(report.dropped, 1U);
  EXPECT_EQ(events_.read([&] { return send_events_.drops[Drop::too_large]; }), 1U);
  publisher->send(out, sample(2, 49'000, 1));
  ASSERT_TRUE(events_.wait([&] { return sink_.messages.size() == 1; }));
  publisher->stop(0);
  subscriber->stop(0);
}

// --- Keys ----------------------------------------------------------------------------------------

class CurveTest : public ZmqTest {
 protected:
  CurveTest() {
    if (!make_curve_keys().ok()) return;
    server_ = make_curve_keys().or_throw();
    client_ = make_curve_keys().or_throw();
    stranger_ = make_curve_keys().or_throw();
    server_.allowed = {client_.public_key};
  }
  void SetUp() override {
    if (server_.public_key.empty()) GTEST_SKIP() << "libzmq was built without CURVE";
  }
  std::unique_ptr<ZmqTransport> server() {
    ZmqConfig config = listening("server");
    config.curve = server_;
    return started(std::move(config));
  }
  std::unique_ptr<ZmqTransport> client(const std::string& endpoint, const CurveKeys& own,
                                       const std::string& server_key) {
    ZmqConfig config = connecting("client", endpoint);
    config.curve = own;
    config.connect[0].server_key = server_key;
    return started(std::move(config));
  }
  /// The counters give no signal, so they are polled.
  static bool wait_refused(const ZmqTransport& at, std::uint64_t more_than = 0) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (at.counters().refused <= more_than && std::chrono::steady_clock::now() < until) {
      std::this_thread::yield();
    }
    return at.counters().refused > more_than;
  }
  CurveKeys server_;
  CurveKeys client_;
  CurveKeys stranger_;
};

TEST_F(CurveTest, an_allowed_key_is_served) {
  auto publisher = server();
  auto subscriber = client(publisher->endpoints()[0], client_, server_.public_key);
  const PortId out =
      publisher->open(spec("scan", reliable_policy()), nullptr, &send_events_).or_throw();
  (void)subscriber->open(spec("scan", reliable_policy()), &sink_, nullptr).or_throw();
  ASSERT_TRUE(connected());
  for (std::uint64_t i = 1; i <= 20; ++i) publisher->send(out, sample(i, 100'000, 1));
  ASSERT_TRUE(events_.wait([&] { return sink_.messages.size() == 20; }));
  for (const Envelope& message : sink_.messages) EXPECT_TRUE(intact(message, 100'000, 1));
  EXPECT_EQ(publisher->counters().refused, 0U);
  publisher->stop(0);
  subscriber->stop(0);
}

TEST_F(CurveTest, strangers_and_plaintext_are_refused_and_others_served) {
  auto publisher = server();
  const std::string endpoint = publisher->endpoints()[0];
  (void)publisher->open(spec("scan"), nullptr, &send_events_).or_throw();
  {
    auto stranger = client(endpoint, stranger_, server_.public_key);
    (void)stranger->open(spec("scan"), &sink_, nullptr).or_throw();
    ASSERT_TRUE(wait_refused(*publisher));
    stranger->stop(0);
  }
  {
    const std::uint64_t before = publisher->counters().refused;
    auto plain = started(connecting("plain", endpoint));
    (void)plain->open(spec("scan"), &sink_, nullptr).or_throw();
    ASSERT_TRUE(wait_refused(*publisher, before));
    plain->stop(0);
  }
  {
    auto deceived = client(endpoint, client_, stranger_.public_key);  // expects another server
    (void)deceived->open(spec("scan"), &sink_, nullptr).or_throw();
    auto good = client(endpoint, client_, server_.public_key);
    TestSink sink(events_);
    (void)good->open(spec("scan"), &sink, nullptr).or_throw();
    ASSERT_TRUE(connected());
    good->stop(0);
    deceived->stop(0);
  }
  EXPECT_EQ(sink_.publishers, 0);
  publisher->stop(0);
}

TEST_F(CurveTest, an_incomplete_configuration_fails) {
  ZmqConfig config = connecting("client", "tcp://127.0.0.1:1");
  config.curve = client_;
  EXPECT_EQ(make_zmq(config)->start().error().code, Code::invalid_config) << "no server key";
  config.curve.reset();
  config.connect[0].server_key = server_.public_key;
  EXPECT_EQ(make_zmq(config)->start().error().code, Code::invalid_config) << "no own keys";
  config = listening("server");
  config.curve = server_;
  config.curve->secret_key = "too short";
  const auto bad_secret = make_zmq(config)->start();
  EXPECT_EQ(bad_secret.error().code, Code::invalid_config);
  EXPECT_EQ(bad_secret.error().to_string().find("too short"), std::string::npos)
      << "the error does not contain the secret";
  config.curve = server_;
  config.curve->allowed.push_back("nonsense");
  EXPECT_EQ(make_zmq(config)->start().error().code, Code::invalid_config);
}

}  // namespace
}  // namespace hyphos::transport::testing
