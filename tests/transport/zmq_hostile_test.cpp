// Peers that violate the protocol, simulated with bare sockets.
#include <gtest/gtest.h>
#include <poll.h>

#include <random>

#include "hyphos/time.hpp"
#include "tests/transport/zmq_factory.hpp"
#include "transport/zmq/socket.hpp"
#include "wire/control.hpp"
#include "wire/packet.hpp"

namespace hyphos::transport::testing {
namespace {

using zmq::Frame;
using zmq::Socket;

class HostileTest : public ::testing::Test {
 protected:
  HostileTest() {
    raw_ = Socket(context_, ZMQ_DEALER);
    raw_.set(ZMQ_LINGER, 0);
    raw_.set(ZMQ_PROBE_ROUTER, 1);
  }
  static void send(Socket& socket, const std::vector<std::string>& frames) {
    for (std::size_t i = 0; i < frames.size(); ++i) {
      Frame frame = Frame::copy_of(frames[i]);
      ASSERT_GE(zmq_msg_send(frame.raw(), socket.raw(), i + 1 < frames.size() ? ZMQ_SNDMORE : 0),
                0);
    }
  }
  /// Waits for the next whole message and returns it as strings.
  static std::vector<std::string> receive(Socket& socket) {
    std::vector<std::string> frames;
    Frame frame;
    do {
      if (zmq_msg_recv(frame.raw(), socket.raw(), 0) < 0) return frames;
      frames.emplace_back(reinterpret_cast<const char*>(frame.bytes().data()), frame.size());
    } while (frame.more());
    return frames;
  }

  TemporaryFolder folder_;
  Events events_;
  TestSink sink_{events_};
  TestSendEvents send_events_{events_};
  zmq::Context context_;
  Socket raw_;
};

TEST_F(HostileTest, a_publisher_survives_malformed_subscriber_messages) {
  ZmqConfig config = zmq_config("publisher");
  config.bind = {{"ipc://" + (folder_.path() / "p").string(), std::nullopt}};
  auto publisher = make_zmq(config);
  publisher->start().or_throw();
  const PortId out = publisher->open(spec("scan"), nullptr, &send_events_).or_throw();
  ASSERT_EQ(zmq_connect(raw_.raw(), config.bind[0].endpoint.c_str()), 0);
  ASSERT_EQ(receive(raw_).size(), 1U) << "welcome";

  std::mt19937 random(7);
  const auto type = test_type();
  const std::vector<wire::Control> controls = {
      wire::Ack{1, 5},
      wire::Subscribe{1, "scan", type, 1, 0, true, 0},  // before the hello
      wire::Hello{0, "", 0, 77, "", {}},
      wire::Hello{0xbad, "bad", 1, wire::kLinkVersion, "x", {1, 2, 3}},
      wire::Hello{0xbad, "bad", 1, wire::kLinkVersion, "x", {}},
      wire::Subscribe{1, "scan", type, 65536, UINT64_MAX, true, UINT64_MAX},
      wire::Subscribe{1, "other", type, 1, 0, true, 9},
      wire::Ack{1, UINT64_MAX},
      wire::Ack{99, 1},
      wire::Unsubscribe{99, 1},
      wire::Accepted{1, 0},
      wire::Welcome{1, "w", 1, 1},
      wire::Unsubscribe{1, UINT64_MAX},
      wire::Bye{},
      wire::Bye{}};
  for (int round = 0; round < 20; ++round) {
    for (const wire::Control& control : controls) {
      std::string frame = wire::encode_control(control);
      if (round > 0) frame[random() % frame.size()] ^= static_cast<char>(1U << random() % 8);
      send(raw_, {frame});
    }
    send(raw_, {"nonsense"});
    send(raw_, {"", "", ""});
    send(raw_, std::vector<std::string>(50, "many frames"));
    publisher->send(out, sample(static_cast<std::uint64_t>(round) + 1));
  }
  // Larger than any control message: libzmq closes the connection.
  send(raw_, {std::string(1 << 20, 'x')});

  ZmqConfig good_config = zmq_config("good");
  good_config.connect = {{config.bind[0].endpoint, std::nullopt, std::nullopt}};
  auto good = make_zmq(good_config);
  good->start().or_throw();
  (void)good->open(spec("scan", reliable_policy()), &sink_, nullptr).or_throw();
  ASSERT_TRUE(events_.wait([&] { return sink_.publishers == 1; }));
  publisher->send(out, sample(1000));
  ASSERT_TRUE(events_.wait([&] { return !sink_.messages.empty(); }));
  EXPECT_EQ(sink_.messages.back().meta.sequence, 1000U);
  EXPECT_GT(publisher->counters().malformed, 0U);
  good->stop(0);
  publisher->stop(0);
}

/// A publisher made of a bare ROUTER socket.
class FakePublisherTest : public HostileTest {
 protected:
  void SetUp() override {
    router_ = Socket(context_, ZMQ_ROUTER);
    router_.set(ZMQ_LINGER, 0);
    router_.set(ZMQ_SNDHWM, 0);  // a ROUTER silently drops messages beyond it
    const std::string endpoint = "ipc://" + (folder_.path() / "fake").string();
    ASSERT_EQ(zmq_bind(router_.raw(), endpoint.c_str()), 0);
    ZmqConfig config = zmq_config("subscriber");
    config.connect = {{endpoint, std::nullopt, std::nullopt}};
    config.on_peer_clock = [this](const PeerClock& peer) {
      const std::lock_guard lock(events_.mutex);
      clocks_.push_back(peer);
      events_.changed.notify_all();
    };
    subscriber_ = make_zmq(config);
    subscriber_->start().or_throw();
    (void)subscriber_->open(spec("scan"), &sink_, nullptr).or_throw();
    const auto probe = receive(router_);
    ASSERT_EQ(probe.size(), 2U);
    connection_ = probe[0];
    say(wire::Welcome{42, "fake", 1, wire::kLinkVersion});
    ASSERT_TRUE(std::holds_alternative<wire::Hello>(hear()));
    stream_ = std::get<wire::Subscribe>(hear()).stream;
    say(wire::Accepted{stream_, 1});
  }
  void TearDown() override { subscriber_->stop(0); }

  void say(const wire::Control& control) {
    send(router_, {connection_, wire::encode_control(control)});
  }
  wire::Control hear() {
    const auto frames = receive(router_);
    return wire::parse_control(std::as_bytes(std::span(frames.at(1)))).or_throw();
  }
  /// First frame of a data message, up to and including the trailer.
  std::string start(std::uint64_t sequence, std::uint64_t hash = test_type().hash,
                    const std::string& channel = "scan") const {
    std::array<std::byte, wire::kTrailerBytes> trailer{};
    wire::write_trailer({stream_, sequence}, trailer);
    return wire::make_key(channel, hash) + std::string(1, '\0') +
           std::string(reinterpret_cast<const char*>(trailer.data()), trailer.size());
  }
  static std::string packet(std::uint64_t number) {
    const auto bytes = wire::encode_packet("scan", test_type(), sample(number), {});
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  void data(std::uint64_t sequence) {
    send(router_, {connection_, start(sequence) + packet(sequence)});
  }
  bool settled(std::size_t messages) {
    return events_.wait([&] { return sink_.messages.size() >= messages; });
  }

  /// Waits for a clock request, and replies like a machine whose monotonic clock is `ahead` of
  /// ours.
  void answer(std::int64_t ahead, std::int64_t wall = 0) {
    const auto ask = std::get<wire::Ask>(hear());
    const std::int64_t theirs = monotonic_now().ns + ahead;
    say(wire::Answer{ask.asked_ns, theirs, theirs, wall});
  }
  /// Replies until `count` replies were accepted. A reply that arrives after the next request is
  /// not accepted.
  bool answer_until(std::size_t count, std::int64_t ahead, std::int64_t wall = 0) {
    const auto believed = [&] { return events_.read([&] { return clocks_.size(); }); };
    for (int question = 0; question < 60 && believed() < count; ++question) answer(ahead, wall);
    return events_.wait([&] { return clocks_.size() >= count; });
  }
  /// A message that left this machine (host 1) now, by its clock.
  void stamped(std::uint64_t sequence, std::int64_t ahead, std::int64_t wall_offset) {
    Envelope message = sample(sequence);
    message.meta.stamps.publish = monotonic_now().ns + ahead;
    message.meta.stamps.submitted = message.meta.stamps.publish;
    const auto bytes = wire::encode_packet("scan", test_type(), message, {1, wall_offset});
    send(router_,
         {connection_, start(sequence) +
                           std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())});
  }

  std::vector<PeerClock> clocks_;
  Socket router_;
  std::unique_ptr<ZmqTransport> subscriber_;
  std::string connection_;
  std::uint32_t stream_ = 0;
};

TEST_F(FakePublisherTest, duplicates_are_dropped_and_gaps_counted) {
  data(1);
  data(2);
  data(2);
  data(1);
  data(6);
  data(5);
  data(7);
  ASSERT_TRUE(settled(4));
  std::vector<std::uint64_t> got;
  for (const Envelope& message : sink_.messages) got.push_back(message.meta.sequence);
  EXPECT_EQ(got, (std::vector<std::uint64_t>{1, 2, 6, 7}));
  EXPECT_EQ(events_.read([&] { return sink_.drops[Drop::gap]; }), 3U);
  EXPECT_EQ(sink_.lost(), 3U);
}

TEST_F(FakePublisherTest, a_publisher_of_another_link_version_is_refused_by_name) {
  ::testing::internal::CaptureStderr();
  say(wire::Welcome{43, "newer", 1, wire::kLinkVersion + 1});
  data(1);  // the connection to the first session continues
  EXPECT_TRUE(settled(1));
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find(wire::version_refusal("newer", wire::kLinkVersion + 1)), std::string::npos)
      << log;
}

TEST_F(FakePublisherTest, corrupt_and_foreign_messages_are_counted) {
  const std::string good = packet(9);
  data(1);
  send(router_, {connection_, start(2) + good.substr(0, good.size() - 1)});  // body cut off
  send(router_, {connection_, start(3) + good.substr(0, 20)});               // head cut off
  send(router_, {connection_, start(4) + good + "x"});                       // too long
  send(router_, {connection_, start(5, 0x1234) + good});                     // another type
  send(router_, {connection_, start(6, test_type().hash, "other") + good});  // another channel
  send(router_, {connection_, start(7) + good, "unexpected", "frames"});
  std::vector<std::string> many(20, "many");
  many.insert(many.begin(), {connection_, start(8) + good});
  send(router_, many);
  send(router_, {connection_, start(9).substr(0, 24)});  // no trailer: belongs to no stream
  send(router_, {connection_, "scan"});
  send(router_, {connection_, ""});
  data(9);
  ASSERT_TRUE(settled(2));
  EXPECT_EQ(sink_.messages[1].meta.sequence, 9U);
  EXPECT_EQ(events_.read([&] { return sink_.drops[Drop::corrupt]; }), 5U);
  EXPECT_EQ(events_.read([&] { return sink_.drops[Drop::type]; }), 2U);
  EXPECT_EQ(events_.read([&] { return sink_.drops[Drop::gap]; }), 0U);
  EXPECT_EQ(subscriber_->counters().malformed, 10U);
}

TEST_F(FakePublisherTest, flipped_bits_never_crash) {
  std::mt19937 random(3);
  for (std::uint64_t i = 1; i <= 2000; ++i) {
    std::string frame = start(i) + packet(i);
    frame[random() % frame.size()] ^= static_cast<char>(1U << random() % 8);
    send(router_, {connection_, frame});
  }
  // The numbering may be wrong now. A new start position corrects it.
  say(wire::Accepted{stream_, 1'000'000});
  data(1'000'000);
  ASSERT_TRUE(events_.wait(
      [&] { return !sink_.messages.empty() && sink_.messages.back().meta.sequence == 1'000'000; }));
  EXPECT_GT(events_.read([&] { return sink_.drops[Drop::corrupt]; }), 0U);
}

TEST_F(FakePublisherTest, the_measured_offset_corrects_stamps_of_another_machine) {
  constexpr std::int64_t kAhead = 1'000'000'000'000'000;  // eleven days of uptime
  // Its wall clock is wrong by one hour. Without a measurement, its stamps would be off by that
  // much.
  const std::int64_t wall = wall_now().ns - monotonic_now().ns - kAhead + 3'600'000'000'000;
  ASSERT_TRUE(answer_until(4, kAhead, wall));
  const std::int64_t before = monotonic_now().ns;
  stamped(1, kAhead, wall);
  ASSERT_TRUE(settled(1));
  const Stamps stamps = sink_.messages[0].meta.stamps;
  const PeerClock clock = clocks_.back();
  EXPECT_NEAR(static_cast<double>(clock.offset_ns - kAhead), 0,
              static_cast<double>(clock.uncertainty_ns));
  EXPECT_NEAR(static_cast<double>(clock.wall_ahead_ns), 3.6e12, 1e9);
  EXPECT_EQ(clock.process, "fake");
  EXPECT_EQ(clock.samples, clocks_.size());
  EXPECT_GE(stamps.publish, before - 2 * clock.uncertainty_ns);
  EXPECT_LE(stamps.publish, stamps.arrived) << "no message arrives before it was sent";
}

TEST_F(FakePublisherTest, wall_clocks_convert_stamps_before_a_measurement) {
  constexpr std::int64_t kAhead = 1'000'000'000'000'000;
  const std::int64_t wall = wall_now().ns - monotonic_now().ns - kAhead;
  stamped(1, kAhead, wall);
  ASSERT_TRUE(settled(1));
  const Stamps stamps = sink_.messages[0].meta.stamps;
  EXPECT_NEAR(static_cast<double>(stamps.publish - stamps.arrived), 0, 60e9);
}

TEST_F(FakePublisherTest, unrequested_clock_replies_are_ignored) {
  wire::Ask ask;
  std::int64_t theirs = 0;
  std::uint64_t impossible = 0;
  do {  // until one is in time: after the next request, a reply is late and ignored
    ask = std::get<wire::Ask>(hear());
    say(wire::Answer{ask.asked_ns + 1, 5, 5, 0});
    theirs = monotonic_now().ns;
    say(wire::Answer{ask.asked_ns, theirs + 10, theirs, 0});  // replied before the request arrived
    ++impossible;
  } while (impossible < 60 && subscriber_->counters().malformed == 0);
  ASSERT_TRUE(answer_until(1, 77));
  EXPECT_EQ(events_.read([&] { return clocks_[0].samples; }), 1U);
  const std::uint64_t malformed = subscriber_->counters().malformed;
  EXPECT_GE(malformed, 1U);
  EXPECT_LE(malformed, impossible);
  say(wire::Answer{ask.asked_ns, theirs, theirs, 0});  // late
  say(wire::Ask{1});                                   // only subscribers send requests
  data(1);
  ASSERT_TRUE(settled(1));
  EXPECT_EQ(subscriber_->counters().malformed, malformed + 1);
}

TEST_F(FakePublisherTest, messages_beyond_the_window_are_not_kept) {
  {
    const std::lock_guard lock(events_.mutex);
    sink_.capacity = 0;
  }
  // 10 messages or 256 KiB may be held. This sender ignores the limit.
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    Envelope big = sample(i, 4000);
    const auto bytes = wire::encode_packet("scan", test_type(), big, {});
    send(router_, {connection_, start(i) + std::string(reinterpret_cast<const char*>(bytes.data()),
                                                       bytes.size())});
  }
  ASSERT_TRUE(events_.wait([&] { return sink_.drops[Drop::overflow] > 900; }));
  EXPECT_LT(events_.read([&] { return sink_.drops[Drop::overflow]; }), 1000U);
}

TEST_F(FakePublisherTest, malformed_control_messages_do_not_end_the_stream) {
  say(wire::Ack{stream_, 1});
  say(wire::Hello{});
  say(wire::Accepted{77, 1});
  say(wire::Accepted{stream_, 0});
  say(wire::Refused{77, test_type()});
  say(wire::Closed{77, 1});
  send(router_, {connection_, std::string(1, '\0') + "\xff\xff"});
  data(1);
  ASSERT_TRUE(settled(1));
  say(wire::Closed{stream_, 1});
  ASSERT_TRUE(events_.wait([&] { return sink_.publishers == 0; }));
  say(wire::Accepted{stream_, 2});
  data(2);
  ASSERT_TRUE(settled(2));
}

}  // namespace
}  // namespace hyphos::transport::testing
