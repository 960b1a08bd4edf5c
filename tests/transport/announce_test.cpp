#include "transport/announce.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "tests/own_port.hpp"
#include "tests/transport/zmq_factory.hpp"
#include "transport/announce_table.hpp"
#include "transport/host_clock.hpp"

namespace hyphos::transport::testing {
namespace {

constexpr std::int64_t kMs = 1'000'000;

std::string beacon(std::uint64_t session, const std::string& endpoint = "tcp://10.0.0.2:5553") {
  wire::Beacon b;
  b.domain = "0";
  b.session = session;
  b.process = "peer" + std::to_string(session);
  b.endpoints = {endpoint};
  b.period_ms = 100;
  return wire::encode_beacon(b).or_throw();
}
std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }
using Kind = AnnounceTable::Event::Kind;

class AnnounceTableTest : public ::testing::Test {
 protected:
  AnnounceTableTest() {
    config_.session = 1;
    config_.max_peers = 4;
    config_.max_per_second = 100;
  }
  AnnounceConfig config_;
  AnnounceTable table_{config_};
};

TEST_F(AnnounceTableTest, a_peer_is_found_once_and_expires_when_silent) {
  EXPECT_EQ(table_.hear(bytes(beacon(2)), "10.0.0.2", 0).kind, Kind::found);
  EXPECT_EQ(table_.hear(bytes(beacon(2)), "10.0.0.2", 100 * kMs).kind, Kind::none);
  EXPECT_EQ(table_.next_expiry(), 450 * kMs);
  EXPECT_TRUE(table_.expire(449 * kMs).empty());
  ASSERT_EQ(table_.expire(450 * kMs).size(), 1U);
  EXPECT_TRUE(table_.peers().empty());
}

TEST_F(AnnounceTableTest, other_domains_and_itself_are_not_peers) {
  EXPECT_EQ(table_.hear(bytes(beacon(1)), "10.0.0.1", 0).kind, Kind::none);
  wire::Beacon other = wire::parse_beacon(bytes(beacon(3))).or_throw();
  other.domain = "lab";
  EXPECT_EQ(table_.hear(bytes(wire::encode_beacon(other).or_throw()), "10.0.0.3", 0).kind,
            Kind::none);
  EXPECT_TRUE(table_.peers().empty());
}

TEST_F(AnnounceTableTest, a_wildcard_address_becomes_the_source_address) {
  const auto event = table_.hear(bytes(beacon(2, "tcp://0.0.0.0:5553")), "10.1.2.3", 0);
  EXPECT_EQ(event.peer.endpoints, std::vector<std::string>{"tcp://10.1.2.3:5553"});
  const auto moved = table_.hear(bytes(beacon(2, "tcp://*:5553")), "10.1.2.4", 0);
  EXPECT_EQ(moved.kind, Kind::found) << "a new address is reported";
  EXPECT_EQ(moved.peer.endpoints[0], "tcp://10.1.2.4:5553");
}

TEST_F(AnnounceTableTest, a_goodbye_removes_the_peer_at_once) {
  (void)table_.hear(bytes(beacon(2)), "10.0.0.2", 0);
  wire::Beacon bye = wire::parse_beacon(bytes(beacon(2))).or_throw();
  bye.leaving = true;
  const std::string datagram = wire::encode_beacon(bye).or_throw();
  EXPECT_EQ(table_.hear(bytes(datagram), "10.0.0.2", 1).kind, Kind::lost);
  EXPECT_EQ(table_.hear(bytes(datagram), "10.0.0.2", 2).kind, Kind::none);
}

TEST_F(AnnounceTableTest, the_table_and_the_rate_are_bounded) {
  for (std::uint64_t session = 2; session < 50; ++session) {
    const auto event = table_.hear(bytes(beacon(session)), "10.0.0.2", 0);
    EXPECT_EQ(event.kind, session < 6 ? Kind::found : Kind::ignored);
  }
  EXPECT_EQ(table_.peers().size(), 4U);
  int looked_at = 0;
  for (int i = 0; i < 500; ++i) {
    looked_at += table_.hear(bytes(beacon(2)), "10.0.0.2", 0).kind == Kind::none ? 1 : 0;
  }
  EXPECT_EQ(looked_at, 100 - 48);
  EXPECT_EQ(table_.hear(bytes(beacon(2)), "10.0.0.2", 1000 * kMs).kind, Kind::none)
      << "next second";
}

TEST_F(AnnounceTableTest, garbage_is_ignored) {
  for (const std::string& text :
       {std::string(), std::string("hello"), std::string(1400, '\xff'), std::string(3000, 'x')}) {
    EXPECT_EQ(table_.hear(bytes(text), "10.0.0.2", 0).kind, Kind::ignored);
  }
}

/// Announcements over the loopback interface, on a separate port for this test.
class AnnouncerTest : public ::testing::Test {
 protected:
  AnnounceConfig config(const std::string& process, std::uint64_t session) {
    AnnounceConfig c;
    c.process_name = process;
    c.session = session;
    c.endpoints = {"tcp://127.0.0.1:" + std::to_string(1000 + session)};
    c.interfaces = {"127.0.0.1"};
    c.port = test::own_port();
    c.period_ms = 1000;  // a process that stalls for some seconds is not considered lost
    return c;
  }
  Announcer::Callback into(std::vector<AnnouncedPeer>& list) {
    return [this, &list](const AnnouncedPeer& peer) {
      const std::lock_guard lock(events_.mutex);
      list.push_back(peer);
      events_.changed.notify_all();
    };
  }
  Events events_;
};

TEST_F(AnnouncerTest, processes_find_and_lose_each_other) {
  std::vector<AnnouncedPeer> found_a, lost_a, found_b, lost_b;
  auto a = make_announcer(config("a", 1));
  auto b = make_announcer(config("b", 2));
  b->set_channels({spec("scan"), spec("map")});
  if (const auto started = a->start(into(found_a), into(lost_a)); !started) {
    GTEST_SKIP() << started.error().to_string();
  }
  b->start(into(found_b), into(lost_b)).or_throw();
  ASSERT_TRUE(events_.wait([&] { return !found_a.empty() && !found_b.empty(); }));
  EXPECT_EQ(found_a[0].process, "b");
  EXPECT_EQ(found_a[0].host, local_host());
  EXPECT_EQ(found_a[0].channels, (std::vector<std::string>{"scan", "map"}));
  EXPECT_EQ(found_b[0].endpoints[0], "tcp://127.0.0.1:1001");
  EXPECT_EQ(a->peers().size(), 1U);
  b->stop();
  ASSERT_TRUE(events_.wait([&] { return !lost_a.empty(); }));
  EXPECT_EQ(lost_a[0].process, "b");
  EXPECT_GT(a->counters().sent, 0U);
  a->stop();
}

TEST_F(AnnouncerTest, garbage_is_counted_and_good_peers_are_still_found) {
  std::vector<AnnouncedPeer> found, lost;
  const AnnounceConfig c = config("a", 1);
  auto a = make_announcer(c);
  if (const auto started = a->start(into(found), into(lost)); !started) {
    GTEST_SKIP() << started.error().to_string();
  }
  const int sender = ::socket(AF_INET, SOCK_DGRAM, 0);
  const in_addr lo{htonl(INADDR_LOOPBACK)};
  setsockopt(sender, IPPROTO_IP, IP_MULTICAST_IF, &lo, sizeof lo);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(c.port);
  inet_pton(AF_INET, c.group.c_str(), &to.sin_addr);
  const auto send = [&](const std::string& text) {
    ::sendto(sender, text.data(), text.size(), 0, reinterpret_cast<const sockaddr*>(&to),
             sizeof to);
  };
  for (int i = 0; i < 10; ++i) send(std::string(static_cast<std::size_t>(1 + i * 150), '\x7f'));
  send(beacon(7));
  ASSERT_TRUE(events_.wait([&] { return !found.empty(); }));
  EXPECT_EQ(found[0].process, "peer7");
  EXPECT_EQ(a->counters().ignored, 10U);
  ASSERT_TRUE(events_.wait([&] { return !lost.empty(); })) << "it never announced itself again";
  ::close(sender);
  a->stop();
}

TEST_F(AnnouncerTest, discovery_connects_transports) {
  Events& events = events_;
  TestSink sink(events);
  TestSendEvents send_events(events);
  ZmqConfig publisher_config = zmq_config("publisher");
  publisher_config.bind = {{"tcp://127.0.0.1:*", std::nullopt}};
  std::shared_ptr<ZmqTransport> publisher = make_zmq(publisher_config);
  publisher->start().or_throw();
  std::shared_ptr<ZmqTransport> subscriber = make_zmq(zmq_config("subscriber"));
  subscriber->start().or_throw();
  (void)publisher->open(spec("scan"), nullptr, &send_events).or_throw();
  (void)subscriber->open(spec("scan"), &sink, nullptr).or_throw();

  AnnounceConfig config_a = config("publisher", publisher->session());
  config_a.endpoints = publisher->endpoints();
  AnnounceConfig config_b = config("subscriber", subscriber->session());
  auto a = make_announcer(config_a);
  auto b = make_announcer(config_b);
  const auto callbacks = connect_announced(subscriber, false, true);
  if (const auto started = b->start(callbacks.found, callbacks.lost); !started) {
    GTEST_SKIP() << started.error().to_string();
  }
  a->start(nullptr, nullptr).or_throw();
  ASSERT_TRUE(events.wait([&] { return send_events.receivers == 1 && sink.publishers == 1; }));
  a->stop();
  ASSERT_TRUE(events.wait([&] { return send_events.receivers == 0 && sink.publishers == 0; }));
  b->stop();
  publisher->stop(0);
  subscriber->stop(0);
}

TEST_F(AnnouncerTest, a_wrong_configuration_fails_at_start) {
  AnnounceConfig c = config("a", 1);
  c.group = "10.0.0.1";
  EXPECT_EQ(make_announcer(c)->start({}, {}).error().code, Code::invalid_config);
  c = config("a", 1);
  c.interfaces = {"eth0"};
  EXPECT_EQ(make_announcer(c)->start({}, {}).error().code, Code::invalid_config);
  c = config("a", 1);
  c.endpoints = {std::string(2000, 'x')};
  EXPECT_EQ(make_announcer(c)->start({}, {}).error().code, Code::invalid_config);
}

}  // namespace
}  // namespace hyphos::transport::testing
