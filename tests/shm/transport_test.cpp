// Properties of the shared-memory transport only. The common ones are in tests/transport.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <thread>

#include "shm/descriptor_ring.hpp"
#include "shm/tools.hpp"
#include "tests/shm/folder.hpp"
#include "tests/transport/harness.hpp"
#include "transport/shm/shm.hpp"

namespace hyphos::transport::testing {
namespace {

class ShmTransportTest : public ::testing::Test {
 protected:
  std::unique_ptr<ShmTransport> join(const std::string& name) {
    ShmConfig config;
    config.base_dir = folder_.path();
    config.process_name = name;
    config.pool_limit_bytes = 64 << 20;
    auto made = make_shm(std::move(config));
    made->start().or_throw();
    return made;
  }
  // A message in memory of the transport.
  Envelope loaned(Transport& transport, PortId port, std::uint64_t number, std::size_t size) {
    Envelope message = sample(number, size);
    WritableBuffer loan = transport.loan(port, size);
    std::memcpy(loan.data(), message.payload.data(), size);
    message.payload = std::move(loan).freeze();
    return message;
  }
  [[nodiscard]] std::uint32_t slots_held() const {
    std::uint32_t used = 0;
    for (const auto& segment : shm::list("0", folder_.path()).or_throw().segments)
      used += segment.used;
    return used;
  }
  // Runs `body` in another process, which then waits to be killed. The child is forked before this
  // process has threads.
  pid_t child(const std::function<void()>& body) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      body();
      for (;;) ::pause();
    }
    return pid;
  }
  static void kill(pid_t pid) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  // The state of other processes gives no signal, so poll it.
  static bool eventually(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  shm::testing::Folder folder_;
  Events events_;
};

TEST_F(ShmTransportTest, a_loaned_payload_is_read_in_place) {
  TestSendEvents send_events(events_);
  TestSink sink(events_);
  auto publisher = join("publisher");
  auto subscriber = join("subscriber");
  const PortId out =
      publisher->open(spec("image", reliable_policy()), nullptr, &send_events).or_throw();
  (void)subscriber->open(spec("image", reliable_policy()), &sink, nullptr).or_throw();
  ASSERT_TRUE(events_.wait([&] { return send_events.receivers == 1; }));
  WritableBuffer loan = publisher->loan(out, 70'000);
  std::byte* const written = loan.data();
  Envelope message;
  message.meta.type_hash = test_type().hash;
  message.payload = std::move(loan).freeze();
  publisher->send(out, message);
  ASSERT_TRUE(events_.wait([&] { return sink.messages.size() == 1; }));
  // Both map the same pages: a write through one address is visible at the other.
  written[69'999] = std::byte{0x7e};
  EXPECT_EQ(sink.messages[0].payload.bytes()[69'999], std::byte{0x7e});
  EXPECT_EQ(sink.messages[0].payload.size(), 70'000U);
  written[69'999] = std::byte{0x11};
  EXPECT_EQ(sink.messages[0].payload.bytes()[69'999], std::byte{0x11});
}

TEST_F(ShmTransportTest, one_loan_can_be_sent_on_two_channels) {
  TestSendEvents outlet_a(events_);
  TestSendEvents outlet_b(events_);
  TestSink inlet_a(events_);
  TestSink inlet_b(events_);
  auto publisher = join("publisher");
  auto subscriber = join("subscriber");
  const PortId a = publisher->open(spec("a", reliable_policy()), nullptr, &outlet_a).or_throw();
  const PortId b = publisher->open(spec("b", reliable_policy()), nullptr, &outlet_b).or_throw();
  (void)subscriber->open(spec("a", reliable_policy()), &inlet_a, nullptr).or_throw();
  (void)subscriber->open(spec("b", reliable_policy()), &inlet_b, nullptr).or_throw();
  ASSERT_TRUE(events_.wait([&] { return outlet_a.receivers == 1 && outlet_b.receivers == 1; }));
  for (std::uint64_t i = 1; i <= 200; ++i) {
    const Envelope message = loaned(*publisher, a, i, 3000);
    Envelope other = message;
    other.meta.sequence += 1000;  // the header is not shared
    std::thread second([&] { publisher->send(b, other); });
    publisher->send(a, message);
    second.join();
  }
  ASSERT_TRUE(events_.wait(
      [&] { return inlet_a.messages.size() == 200 && inlet_b.messages.size() == 200; }));
  for (std::uint64_t i = 0; i < 200; ++i) {
    EXPECT_EQ(inlet_a.messages[i].meta.sequence, i + 1);
    EXPECT_TRUE(intact(inlet_a.messages[i], 3000));
    EXPECT_EQ(inlet_b.messages[i].meta.sequence, i + 1001);
    EXPECT_EQ(
        std::memcmp(inlet_a.messages[i].payload.data(), inlet_b.messages[i].payload.data(), 3000),
        0);
  }
  inlet_a.messages.clear();
  EXPECT_GT(slots_held(), 0U) << "the other channel still holds the payloads";
  inlet_b.messages.clear();
  EXPECT_EQ(slots_held(), 0U);
}

// publisher -> relay -> receiver and back to the publisher, without a copy anywhere.
TEST_F(ShmTransportTest, a_relayed_buffer_is_the_same_memory) {
  TestSendEvents first_out(events_);
  TestSink first_in(events_);
  TestSendEvents second_out(events_);
  TestSink second_in(events_);
  TestSink back_in(events_);
  auto publisher = join("publisher");
  auto forwarder = join("forwarder");
  auto receiver = join("receiver");
  const PortId first =
      publisher->open(spec("first", reliable_policy()), nullptr, &first_out).or_throw();
  (void)forwarder->open(spec("first", reliable_policy()), &first_in, nullptr).or_throw();
  const PortId second =
      forwarder->open(spec("second", reliable_policy()), nullptr, &second_out).or_throw();
  (void)receiver->open(spec("second", reliable_policy()), &second_in, nullptr).or_throw();
  (void)publisher->open(spec("second", reliable_policy()), &back_in, nullptr).or_throw();
  ASSERT_TRUE(events_.wait([&] { return first_out.receivers == 1 && second_out.receivers == 2; }));
  WritableBuffer loan = publisher->loan(first, 100'000);
  std::byte* const written = loan.data();
  Envelope message = sample(1, 100'000);
  std::memcpy(written, message.payload.data(), 100'000);
  message.payload = std::move(loan).freeze();
  publisher->send(first, message);
  message = {};
  ASSERT_TRUE(events_.wait([&] { return first_in.messages.size() == 1; }));
  forwarder->send(second, first_in.messages[0]);
  first_in.messages.clear();  // the relay releases it
  ASSERT_TRUE(
      events_.wait([&] { return second_in.messages.size() == 1 && back_in.messages.size() == 1; }));
  EXPECT_TRUE(intact(second_in.messages[0], 100'000));
  written[5] = std::byte{0x42};
  EXPECT_EQ(second_in.messages[0].payload.bytes()[5], std::byte{0x42});
  EXPECT_EQ(back_in.messages[0].payload.data(), written) << "the original memory";
  EXPECT_GT(slots_held(), 0U);
  // The relay leaves. Its relayed messages stay, and their receivers release them.
  forwarder.reset();
  ASSERT_TRUE(events_.wait([&] { return second_in.publishers == 0 && back_in.publishers == 0; }));
  EXPECT_EQ(second_in.messages[0].payload.bytes()[5], std::byte{0x42});
  second_in.messages.clear();
  EXPECT_GT(slots_held(), 0U);
  back_in.messages.clear();
  EXPECT_TRUE(eventually([&] { return slots_held() == 0; }));
}

// The relay adds a hold for the receiver and is killed before it sends (Segment, H8).
TEST_F(ShmTransportTest, an_unsent_hold_of_a_dead_relay_is_taken_back) {
  const pid_t pid = child([&] {
    Events events;
    TestSink in(events);
    TestSendEvents out(events);
    auto forwarder = join("forwarder");
    (void)forwarder->open(spec("first", reliable_policy()), &in, nullptr).or_throw();
    const PortId second =
        forwarder->open(spec("second", reliable_policy()), nullptr, &out).or_throw();
    events.wait([&] { return in.messages.size() == 1 && out.receivers == 1; });
    // Send once, so that the entry exists. Then do half of another send.
    forwarder->send(second, in.messages[0]);
    auto domain = shm::Domain::open(folder_.path(), "0").or_throw();
    for (const auto& participant : shm::list("0", folder_.path()).or_throw().participants) {
      const std::uint64_t owner = shm::from_hex(participant.id);
      if (participant.process != "publisher") continue;
      const auto segment = shm::Segment::open(domain, owner, 0).or_throw();
      for (const auto& other : shm::list("0", folder_.path()).or_throw().participants) {
        if (other.process != "receiver") continue;
        const auto entry = segment->find(shm::from_hex(other.id), forwarder->participant_id());
        for (std::uint32_t slot = 0; slot < 8; ++slot) (void)segment->add_hold(slot, entry, true);
      }
    }
    // A message notifies the test that the setup is complete.
    Envelope done = sample(2, 8);
    forwarder->send(second, done);
    for (;;) ::pause();
  });
  TestSendEvents send_events(events_);
  TestSink sink(events_);
  auto publisher = join("publisher");
  auto receiver = join("receiver");
  (void)receiver->open(spec("second", reliable_policy()), &sink, nullptr).or_throw();
  const PortId out =
      publisher->open(spec("first", reliable_policy()), nullptr, &send_events).or_throw();
  ASSERT_TRUE(events_.wait([&] { return send_events.receivers == 1; }));
  publisher->send(out, loaned(*publisher, out, 1, 2000));
  ASSERT_TRUE(events_.wait([&] { return sink.messages.size() == 2; }));
  EXPECT_GE(slots_held(), 8U);
  kill(pid);
  ASSERT_TRUE(events_.wait([&] { return sink.publishers == 0; }));
  EXPECT_TRUE(eventually([&] {
    std::uint32_t used = 0;
    for (const auto& segment : shm::list("0", folder_.path()).or_throw().segments) {
      if (segment.participant == shm::to_hex(publisher->participant_id())) used += segment.used;
    }
    return used == 1;
  })) << "only what the receiver really has";
  EXPECT_TRUE(intact(sink.messages[0], 2000));
  sink.messages.clear();
  EXPECT_TRUE(eventually([&] { return slots_held() == 0; }));
}

TEST_F(ShmTransportTest, slots_and_files_of_a_dead_subscriber_are_reclaimed) {
  const pid_t pid = child([&] {
    Events events;
    TestSink in(events);  // holds all messages
    auto subscriber = join("subscriber");
    (void)subscriber->open(spec("scan", with_overflow(Overflow::drop_oldest, 4)), &in, nullptr)
        .or_throw();
    for (;;) ::pause();
  });
  TestSendEvents send_events(events_);
  auto publisher = join("publisher");
  const PortId out =
      publisher->open(spec("scan", with_overflow(Overflow::drop_oldest, 4)), nullptr, &send_events)
          .or_throw();
  ASSERT_TRUE(events_.wait([&] { return send_events.receivers == 1; }));
  for (std::uint64_t i = 1; i <= 50; ++i) publisher->send(out, loaned(*publisher, out, i, 1000));
  EXPECT_TRUE(eventually([&] { return slots_held() > 0; }));
  const std::size_t files = folder_.files();
  kill(pid);
  ASSERT_TRUE(events_.wait([&] { return send_events.receivers == 0; }));
  EXPECT_TRUE(eventually([&] { return slots_held() == 0 && folder_.files() < files; }));
  // The files are removed one by one, the control file last.
  EXPECT_TRUE(eventually([&] {
    const auto listing = shm::list("0", folder_.path()).or_throw();
    return std::ranges::all_of(listing.participants, [](const auto& one) { return one.alive; });
  }));
}

TEST_F(ShmTransportTest, files_of_a_process_killed_at_its_start_are_removed) {
  constexpr int kChildren = 20;
  std::array<int, 2> turns{};
  ASSERT_EQ(::pipe(turns.data()), 0);
  std::array<pid_t, kChildren> pids{};
  for (pid_t& pid : pids) {
    pid = child([&] {
      char turn = 0;
      (void)!::read(turns[0], &turn, 1);
      const auto self = join("short");
      ::raise(SIGKILL);  // before any thread of the transport must have run
    });
  }
  auto survivor = join("survivor");
  const std::size_t files = folder_.files();
  for (int i = 0; i < kChildren; ++i) {
    ASSERT_EQ(::write(turns[1], "x", 1), 1);
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, 0);
    EXPECT_NE(std::ranges::find(pids, ended), pids.end());
    ASSERT_TRUE(eventually([&] { return folder_.files() == files; })) << i;
  }
  ::close(turns[0]);
  ::close(turns[1]);
}

TEST_F(ShmTransportTest, messages_of_a_dead_publisher_are_still_delivered) {
  std::array<int, 2> sent{};
  ASSERT_EQ(::pipe(sent.data()), 0);
  const pid_t pid = child([&] {
    Events events;
    TestSendEvents out(events);
    auto publisher = join("publisher");
    const PortId port =
        publisher->open(spec("scan", reliable_policy(64)), nullptr, &out).or_throw();
    events.wait([&] { return out.receivers == 1; });
    for (std::uint64_t i = 1; i <= 60; ++i) publisher->send(port, sample(i, 500));
    (void)!::write(sent[1], "x", 1);
    for (;;) ::pause();
  });
  TestSink sink(events_);
  sink.stuck = true;  // blocks the receiving thread at the first message
  auto subscriber = join("subscriber");
  (void)subscriber->open(spec("scan", reliable_policy(64)), &sink, nullptr).or_throw();
  char byte = 0;
  ASSERT_EQ(::read(sent[0], &byte, 1), 1);
  kill(pid);
  {
    const std::lock_guard lock(events_.mutex);
    sink.stuck = false;
    events_.changed.notify_all();
  }
  // Until the death is noticed, there is still a publisher.
  ASSERT_TRUE(events_.wait([&] { return sink.messages.size() == 60 && sink.publishers == 0; }));
  for (std::uint64_t i = 0; i < 60; ++i) {
    EXPECT_EQ(sink.messages[i].meta.sequence, i + 1);
    EXPECT_TRUE(intact(sink.messages[i], 500));
  }
  ::close(sent[0]);
  ::close(sent[1]);
}

TEST_F(ShmTransportTest, a_forked_child_with_the_lock_does_not_hide_a_dead_parent) {
  std::array<int, 2> grandchild{};
  ASSERT_EQ(::pipe(grandchild.data()), 0);
  const pid_t pid = child([&] {
    Events events;
    TestSink in(events);
    auto subscriber = join("subscriber");
    (void)subscriber->open(spec("scan"), &in, nullptr).or_throw();
    const pid_t inner = ::fork();
    if (inner == 0) {
      for (;;) ::pause();
    }
    (void)!::write(grandchild[1], &inner, sizeof inner);
    for (;;) ::pause();
  });
  pid_t inner = 0;
  ASSERT_EQ(::read(grandchild[0], &inner, sizeof inner), static_cast<ssize_t>(sizeof inner));
  TestSendEvents send_events(events_);
  auto publisher = join("publisher");
  (void)publisher->open(spec("scan"), nullptr, &send_events).or_throw();
  ASSERT_TRUE(events_.wait([&] { return send_events.receivers == 1; }));
  kill(pid);
  EXPECT_TRUE(events_.wait([&] { return send_events.receivers == 0; }));
  ::kill(inner, SIGKILL);
  ::close(grandchild[0]);
  ::close(grandchild[1]);
}

TEST_F(ShmTransportTest, an_exiting_forked_child_does_not_affect_its_parent) {
  TestSendEvents send_events(events_);
  TestSink sink(events_);
  auto publisher = join("publisher");
  auto subscriber = join("subscriber");
  const PortId out = publisher->open(spec("scan"), nullptr, &send_events).or_throw();
  (void)subscriber->open(spec("scan"), &sink, nullptr).or_throw();
  ASSERT_TRUE(events_.wait([&] { return send_events.receivers == 1; }));
  const std::size_t files = folder_.files();
  const pid_t pid = ::fork();
  if (pid == 0) {
    publisher.reset();
    subscriber.reset();
    ::_exit(0);
  }
  int status = 1;
  ::waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(folder_.files(), files);
  publisher->send(out, sample(1));
  EXPECT_TRUE(events_.wait([&] { return sink.messages.size() == 1; }));
}

TEST_F(ShmTransportTest, start_cleans_up_and_ignores_other_versions) {
  auto old = folder_.join().or_throw();
  old->control().header().file.version = 99;  // alive, but from another release
  const auto dead = folder_.domain() / shm::control_name(0xdead);
  std::ofstream(dead) << "left by a crash";
  std::ofstream(folder_.domain() / shm::pool_name(0xdead, 0)) << "and this";
  TestSendEvents send_events(events_);
  TestSink sink(events_);
  auto publisher = join("publisher");
  auto subscriber = join("subscriber");
  const PortId out = publisher->open(spec("scan"), nullptr, &send_events).or_throw();
  (void)subscriber->open(spec("scan"), &sink, nullptr).or_throw();
  ASSERT_TRUE(events_.wait([&] { return send_events.receivers == 1; }));
  publisher->send(out, sample(1));
  ASSERT_TRUE(events_.wait([&] { return sink.messages.size() == 1; }));
  EXPECT_TRUE(eventually([&] { return !std::filesystem::exists(dead); }));
  EXPECT_TRUE(std::filesystem::exists(folder_.domain() / shm::control_name(old->id())));
}

TEST_F(ShmTransportTest, a_broken_sender_is_counted_and_others_are_served) {
  TestSendEvents bad_events(events_);
  TestSendEvents good_events(events_);
  TestSink sink(events_);
  auto bad = join("bad");
  auto good = join("good");
  auto subscriber = join("subscriber");
  const PortId bad_out =
      bad->open(spec("scan", reliable_policy()), nullptr, &bad_events).or_throw();
  const PortId good_out =
      good->open(spec("scan", reliable_policy()), nullptr, &good_events).or_throw();
  (void)subscriber->open(spec("scan", reliable_policy()), &sink, nullptr).or_throw();
  ASSERT_TRUE(
      events_.wait([&] { return bad_events.receivers == 1 && good_events.receivers == 1; }));
  bad->send(bad_out, sample(1));
  ASSERT_TRUE(events_.wait([&] { return sink.messages.size() == 1; }));
  // Invalid descriptors and headers, put into the ring as a broken process might.
  auto domain = shm::Domain::open(folder_.path(), "0").or_throw();
  auto receiver = shm::Control::open(domain, subscriber->participant_id()).or_throw();
  std::uint64_t serial = 0;
  const auto rings = receiver.rings();
  for (const auto& record : *rings) {
    if (record.sender == bad->participant_id()) serial = record.serial;
  }
  auto ring =
      shm::DescriptorRing::open(domain, receiver.id(), serial, bad->participant_id()).or_throw();
  const auto segment = shm::Segment::open(domain, bad->participant_id(), 0).or_throw();
  const auto ring_doorbell = [&] {
    receiver.header().ready[ring.index() / 64].fetch_or(std::uint64_t{1} << (ring.index() % 64));
    shm::wake(receiver.header().asleep);
  };
  std::uint64_t expected = 0;
  const auto inject = [&](const shm::Descriptor& what) {
    ASSERT_EQ(ring.push(what), shm::DescriptorRing::Outcome::ok);
    ring_doorbell();
    ++expected;
    ASSERT_TRUE(events_.wait([&] { return sink.lost() == expected; }));
  };
  inject({4'000'000'000U, 0, false});
  inject({999, 0, false});
  inject({0, 4'000'000'000U, false});
  auto& header = segment->message(3);
  header = {};
  inject({0, 3, false});  // no parts
  header.parts = 77;
  inject({0, 3, false});
  header.parts = 1;
  header.part[0] = {0, 0, 0, 1 << 30, 8};
  inject({0, 3, false});
  header.part[0] = {0, 0, 0, 8, ~std::uint64_t{0}};
  inject({0, 3, false});
  header.part[0] = {12345, 0, 0, 0, 8};  // no such pool
  inject({0, 3, false});
  header.part[0] = {bad->participant_id(), 0, 4'000'000'000U, 0, 8};
  inject({0, 3, false});
  header.part[0] = {0, 0, 0, 0, 8};
  header.type_hash = 1;
  inject({0, 3, false});
  EXPECT_EQ(sink.drops[Drop::type], 1U);
  EXPECT_EQ(sink.messages.size(), 1U);
  ring.header().tail.store(~std::uint64_t{0});
  ring_doorbell();
  ASSERT_TRUE(events_.wait([&] { return sink.lost() == expected + 1; }));
  good->send(good_out, sample(2));
  ASSERT_TRUE(events_.wait([&] { return sink.messages.size() == 2; }));
  EXPECT_EQ(sink.messages[1].meta.sequence, 2U);
}

TEST_F(ShmTransportTest, an_exhausted_pool_drops_and_counts) {
  TestSendEvents send_events(events_);
  TestSink sink(events_);
  auto publisher = join("publisher");
  auto subscriber = join("subscriber");
  const Policy policy = with_overflow(Overflow::drop_oldest, 1000);
  const PortId out = publisher->open(spec("image", policy), nullptr, &send_events).or_throw();
  (void)subscriber->open(spec("image", policy), &sink, nullptr).or_throw();
  ASSERT_TRUE(events_.wait([&] { return send_events.receivers == 1; }));
  // The receive sink holds every message, so 64 MiB are soon used up.
  for (std::uint64_t i = 1; i <= 100; ++i) publisher->send(out, sample(i, 1 << 20));
  ASSERT_TRUE(events_.wait([&] { return sink.messages.size() + send_events.lost() == 100; }));
  EXPECT_GT(send_events.drops[Drop::no_memory], 0U);
  EXPECT_TRUE(publisher->loan(out, 1 << 20).empty());
  sink.messages.clear();
  EXPECT_FALSE(publisher->loan(out, 1 << 20).empty());
}

TEST_F(ShmTransportTest, other_domains_are_not_seen) {
  TestSendEvents send_events(events_);
  TestSink sink(events_);
  TestSink there(events_);
  ShmConfig config;
  config.base_dir = folder_.path();
  config.domain = "elsewhere";
  auto stranger = make_shm(config);
  ASSERT_TRUE(stranger->start().ok());
  (void)stranger->open(spec("scan"), &there, nullptr).or_throw();
  auto publisher = join("publisher");
  auto subscriber = join("subscriber");
  const PortId out = publisher->open(spec("scan"), nullptr, &send_events).or_throw();
  (void)subscriber->open(spec("scan"), &sink, nullptr).or_throw();
  ASSERT_TRUE(events_.wait([&] { return send_events.receivers == 1; }));
  publisher->send(out, sample(1));
  ASSERT_TRUE(events_.wait([&] { return sink.messages.size() == 1; }));
  EXPECT_EQ(send_events.receivers, 1U);
  EXPECT_TRUE(stranger->peers().empty());
}

TEST_F(ShmTransportTest, list_shows_rings_and_segments) {
  TestSendEvents send_events(events_);
  TestSink sink(events_);
  auto publisher = join("publisher");
  auto subscriber = join("subscriber");
  const PortId out = publisher->open(spec("scan"), nullptr, &send_events).or_throw();
  (void)subscriber->open(spec("scan"), &sink, nullptr).or_throw();
  ASSERT_TRUE(events_.wait([&] { return send_events.receivers == 1; }));
  publisher->send(out, sample(1));
  ASSERT_TRUE(events_.wait([&] { return sink.messages.size() == 1; }));
  const auto listing = shm::list("0", folder_.path()).or_throw();
  EXPECT_EQ(listing.participants.size(), 2U);
  ASSERT_EQ(listing.rings.size(), 1U);
  EXPECT_EQ(listing.rings[0].channel, "scan");
  EXPECT_EQ(listing.rings[0].sender, shm::to_hex(publisher->participant_id()));
  EXPECT_EQ(listing.rings[0].receiver, shm::to_hex(subscriber->participant_id()));
  EXPECT_EQ(listing.rings[0].depth, 10U);
  ASSERT_EQ(listing.segments.size(), 1U);
  EXPECT_EQ(listing.segments[0].used, 1U);
  EXPECT_EQ(listing.segments[0].holders, 1U);
}

}  // namespace
}  // namespace hyphos::transport::testing
