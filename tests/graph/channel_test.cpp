#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>

#include "tests/graph/harness.hpp"

namespace hyphos::graph::test {
namespace {

struct Number {
  std::int64_t value;
};
struct Other {
  double value;
};

/// A type with its own serialize/parse pair, which counts their calls.
struct Counted {
  std::int64_t value = 0;
  static inline std::atomic<int> encodes{0};
  static inline std::atomic<int> decodes{0};
  [[nodiscard]] std::size_t serialized_size() const { return sizeof(value) * 2; }
  void serialize(std::span<std::byte> out) const {
    ++encodes;
    std::memcpy(out.data(), &value, sizeof(value));
    std::memset(out.data() + sizeof(value), 0x5a, sizeof(value));
  }
  static bool parse(std::span<const std::byte> in, Counted& out) {
    ++decodes;
    if (in.size() != sizeof(value) * 2 || in.back() != std::byte{0x5a}) return false;
    std::memcpy(&out.value, in.data(), sizeof(value));
    return true;
  }
};

/// A transport that records its calls. Tests act as the other machine through it.
class Recorder final : public transport::Transport {
 public:
  Recorder() : Transport("recorder") {}
  Result<void> start() override { return success(); }
  void stop(std::int64_t) override {}
  Result<transport::PortId> open(const transport::ChannelSpec& spec, transport::ReceiveSink* in,
                                 transport::SendEvents* out) override {
    if (spec.name == "refused") return Error{Code::io, "no port", "recorder"};
    if (in != nullptr) sink = in;
    if (out != nullptr) send_events = out;
    return ++ports;
  }
  void close(transport::PortId) override { ++closed; }
  transport::SendReport send(transport::PortId, const Envelope& message) override {
    sent.push_back(message);
    return {1, 0, std::nullopt};
  }
  WritableBuffer loan(transport::PortId, std::size_t size) override {
    ++loans;
    return WritableBuffer::on_heap(size);
  }
  void on_space(transport::PortId) override {
    spaces.add();
    ++calls;
  }
  [[nodiscard]] std::vector<transport::PeerStatus> peers() const override { return {}; }

  transport::ReceiveSink* sink = nullptr;
  transport::SendEvents* send_events = nullptr;
  std::vector<Envelope> sent;
  std::uint32_t ports = 0;
  int closed = 0;
  int loans = 0;
  Arrivals spaces;
  std::atomic<std::uint32_t> calls{0};  ///< calls of on_space()
};

struct WithRecorder {
  WithRecorder() : g(2, {"recorder"}), recorder(new Recorder) {
    g.graph.add_transport(std::shared_ptr<transport::Transport>(recorder));
  }
  Envelope envelope(const TypeId& type, Buffer payload) {
    Envelope e;
    e.meta.type_hash = type.hash;
    e.meta.sequence = ++sequence;
    e.meta.sender = 99;
    e.payload = std::move(payload);
    return e;
  }
  OneGraph g;
  Recorder* recorder;
  std::uint64_t sequence = 0;
};

TEST(Pointer, subscribers_get_the_published_object_itself) {
  OneGraph g;
  const auto value = std::make_shared<const Counted>(Counted{5});
  const void* seen = nullptr;
  g.subscribe<Counted>("c", inline_, [&](const Message<Counted>& m) { seen = m.get(); });
  g.publisher<Counted>("c").publish(value);
  EXPECT_EQ(seen, value.get());
}

TEST(Pointer, a_message_kept_beyond_its_callback_stays_intact) {
  OneGraph g;
  Message<Number> kept;
  g.subscribe<Number>("n", inline_, [&](const Message<Number>& m) {
    if (!kept) kept = m;
  });
  auto pub = g.publisher<Number>("n");
  for (int i = 1; i <= 100; ++i) pub.publish({i});
  EXPECT_EQ(kept->value, 1);
  EXPECT_EQ(kept.sequence(), 1U);
  kept = {};
}

TEST(Channel, another_type_is_refused_by_name) {
  OneGraph g;
  auto pub = g.publisher<Number>("n");
  const auto other = g.graph.subscribe("n", type_support<Other>(), {}, Scope::network, serial,
                                       false, "node", [](const auto&, const void*) {});
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, Code::type_mismatch);
  EXPECT_NE(other.error().message.find("Number"), std::string::npos);
  EXPECT_NE(other.error().message.find("Other"), std::string::npos);
}

TEST(Channel, invalid_names_are_refused) {
  OneGraph g;
  for (const char* name : {"", "a b", "a//b", "/a/", "ü"}) {
    EXPECT_THROW(g.publisher<Number>(name), Exception) << name;
  }
  EXPECT_THROW(g.publisher<Number>(std::string(300, 'x')), Exception);
}

TEST(Channel, a_closed_channel_delivers_nothing_and_counts) {
  Arrivals got;
  OneGraph g;
  g.subscribe<Number>("n", inline_, [&](const Message<Number>&) { got.add(); });
  auto pub = g.publisher<Number>("n");
  ASSERT_TRUE(g.graph.with_channel("n", [](Channel& one) { one.set_open(Where::nowhere); }).ok());
  EXPECT_EQ(pub.publish({1}).failure, Code::disconnected);
  EXPECT_EQ(got.count(), 0U);
  ASSERT_TRUE(g.graph.with_channel("n", [](Channel& one) { one.set_open(Where::both); }).ok());
  EXPECT_TRUE(pub.publish({2}));
  EXPECT_EQ(got.count(), 1U);
  const auto unknown = g.graph.with_channel("m", [](Channel&) {});
  EXPECT_EQ(unknown.error().code, Code::not_found);
  EXPECT_NE(unknown.error().message.find("there are: n"), std::string::npos);
}

TEST(Encoding, encoding_happens_once_and_only_for_remote_subscribers) {
  Arrivals got;
  WithRecorder w;
  w.g.subscribe<Counted>("c", inline_, [&](const Message<Counted>&) { got.add(); });
  w.g.subscribe<Counted>("c", inline_, [&](const Message<Counted>&) { got.add(); });
  auto pub = w.g.publisher<Counted>("c");
  Counted::encodes = 0;
  Counted::decodes = 0;
  pub.publish({1});
  EXPECT_EQ(Counted::encodes, 0);
  w.recorder->send_events->listeners("recorder", 8);
  pub.publish({2});
  EXPECT_EQ(Counted::encodes, 1);
  EXPECT_EQ(Counted::decodes, 0);
  ASSERT_EQ(w.recorder->sent.size(), 1U);
  EXPECT_EQ(w.recorder->sent[0].meta.sequence, 2U);
  EXPECT_EQ(got.count(), 4U);
}

TEST(Encoding, a_received_message_is_decoded_once_for_all_subscribers) {
  Arrivals got;
  WithRecorder w;
  for (int i = 0; i < 3; ++i) {
    w.g.subscribe<Counted>("c", concurrent, [&](const Message<Counted>& m) { got.add(m->value); });
  }
  Counted::decodes = 0;
  const Counted value{7};
  std::vector<std::byte> bytes(value.serialized_size());
  value.serialize(bytes);
  Envelope e = w.envelope(type_support<Counted>().id, Buffer::copy_of(bytes));
  EXPECT_TRUE(w.recorder->sink->deliver(e, nullptr));
  ASSERT_TRUE(got.wait_for(3));
  EXPECT_EQ(got.values(), (std::vector<std::int64_t>{7, 7, 7}));
  EXPECT_EQ(Counted::decodes, 1);
}

TEST(Encoding, corrupt_bytes_are_counted_and_never_reach_the_user) {
  Arrivals got;
  WithRecorder w;
  auto sub = w.g.subscribe<Counted>("c", inline_, [&](const Message<Counted>&) { got.add(); });
  Envelope e = w.envelope(type_support<Counted>().id, Buffer::copy_of(std::string_view("rubbish")));
  EXPECT_TRUE(w.recorder->sink->deliver(e, nullptr));
  EXPECT_EQ(got.count(), 0U);
  EXPECT_EQ(counter(*sub, "drop.decode.failed"), 1U);
}

// Differences of such stamps would overflow, which the sanitizer of undefined behaviour reports.
TEST(Remote, impossible_stamps_are_replaced_by_the_arrival) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  WithRecorder w;
  std::vector<Stamps> seen;
  Policy fresh;
  fresh.lifespan_ms = 60'000;
  const auto sub = w.g.subscribe<Number>(
      "n", inline_, [&](const Message<Number>& m) { seen.push_back(m.stamps()); }, fresh);
  const std::int64_t now = monotonic_now().ns;
  const Number number{3};
  const auto deliver = [&](const Stamps& stamps) {
    Envelope e = w.envelope(type_support<Number>().id,
                            Buffer::copy_of(std::as_bytes(std::span(&number, 1))));
    e.meta.stamps = stamps;
    EXPECT_TRUE(w.recorder->sink->deliver(e, nullptr));
  };
  for (const std::int64_t odd : {kLeast, kMost, std::int64_t{-1}}) {
    deliver({odd, odd, odd, odd});
    ASSERT_FALSE(seen.empty());
    const Stamps stamps = std::exchange(seen, {}).front();
    EXPECT_GE(stamps.arrived, now);
    EXPECT_EQ(stamps.publish, stamps.arrived);
    EXPECT_EQ(stamps.encoded, 0);
    EXPECT_EQ(stamps.submitted, 0);
    // One impossible stamp leaves the others.
    deliver({now, odd, now + 1, now + 2});
    ASSERT_FALSE(seen.empty());
    const Stamps others = std::exchange(seen, {}).front();
    EXPECT_EQ(others.publish, now);
    EXPECT_EQ(others.encoded, 0);
    EXPECT_EQ(others.submitted, now + 1);
    EXPECT_EQ(others.arrived, now + 2);
  }
  EXPECT_EQ(counter(*sub, "received"), 6U);
}

TEST(Encoding, a_struct_is_read_in_the_receive_buffer) {
  WithRecorder w;
  const void* seen = nullptr;
  w.g.subscribe<Number>("n", inline_, [&](const Message<Number>& m) { seen = m.get(); });
  const Number number{3};
  Envelope e =
      w.envelope(type_support<Number>().id, Buffer::copy_of(std::as_bytes(std::span(&number, 1))));
  const void* where = e.payload.data();
  EXPECT_TRUE(w.recorder->sink->deliver(e, nullptr));
  EXPECT_EQ(seen, where);
}

TEST(Encoding, a_struct_for_other_processes_is_written_into_loaned_memory) {
  WithRecorder w;
  auto pub = w.g.publisher<Number>("n");
  w.recorder->send_events->listeners("recorder", 1);
  pub.publish({4});
  auto loan = pub.loan();
  loan->value = 5;
  const void* where = loan.get();
  pub.publish(std::move(loan));
  EXPECT_EQ(w.recorder->loans, 2);
  ASSERT_EQ(w.recorder->sent.size(), 2U);
  EXPECT_EQ(w.recorder->sent[1].payload.data(), where);
}

TEST(Forwarding, a_received_buffer_is_forwarded_without_a_copy) {
  WithRecorder w;
  auto pub = w.g.publisher<Buffer>("out");
  w.recorder->send_events->listeners("recorder", 1);
  w.g.subscribe<Buffer>("in", inline_, [&](const Message<Buffer>& m) { pub.publish(*m); });
  Envelope e = w.envelope(type_support<Buffer>().id, Buffer::copy_of(std::string_view("pixels")));
  const void* where = e.payload.data();
  EXPECT_TRUE(w.recorder->sink->deliver(e, nullptr));
  ASSERT_EQ(w.recorder->sent.size(), 1U);
  EXPECT_EQ(w.recorder->sent[0].payload.data(), where);
}

TEST(Forwarding, a_received_message_is_forwarded_without_a_copy) {
  WithRecorder w;
  auto pub = w.g.publisher<Number>("out");
  w.recorder->send_events->listeners("recorder", 1);
  const void* local = nullptr;
  w.g.subscribe<Number>("out", inline_, [&](const Message<Number>& m) { local = m.get(); });
  w.g.subscribe<Number>("in", inline_, [&](const Message<Number>& m) { pub.publish(m); });
  const Number number{3};
  Envelope e =
      w.envelope(type_support<Number>().id, Buffer::copy_of(std::as_bytes(std::span(&number, 1))));
  const void* where = e.payload.data();
  w.recorder->sink->deliver(e, nullptr);
  EXPECT_EQ(local, where);
  ASSERT_EQ(w.recorder->sent.size(), 1U);
  EXPECT_EQ(w.recorder->sent[0].payload.data(), where);
}

TEST(Remote, a_full_block_queue_pauses_and_resumes_the_transport) {
  Gate gate;
  Arrivals got;
  WithRecorder w;
  const Policy p = policy(Overflow::block, 1);
  w.g.subscribe<Number>(
      "n", serial,
      [&](const Message<Number>& m) {
        gate.pass();
        got.add(m->value);
      },
      p);
  const auto deliver = [&](std::int64_t value) {
    const Number number{value};
    Envelope e = w.envelope(type_support<Number>().id,
                            Buffer::copy_of(std::as_bytes(std::span(&number, 1))));
    return w.recorder->sink->deliver(e, nullptr);
  };
  EXPECT_TRUE(deliver(1));
  gate.wait_for_waiting(1);
  EXPECT_TRUE(deliver(2));
  EXPECT_FALSE(deliver(3));
  gate.open();
  ASSERT_TRUE(w.recorder->spaces.wait_for(1));
  while (!deliver(3)) std::this_thread::yield();
  ASSERT_TRUE(got.wait_for(3));
  EXPECT_EQ(got.values(), (std::vector<std::int64_t>{1, 2, 3}));
}

// As a transport with several peers: each paused peer waits for a call of on_space(), while others
// find room.
TEST(Remote, every_paused_transport_is_resumed) {
  struct Peer {
    int left = 0;
    bool waits = false;
    std::uint32_t since = 0;  ///< number of calls when it was paused
  };
  constexpr int kRounds = 10'000;
  std::atomic<int> got{0};
  WithRecorder w;
  w.g.subscribe<Number>(
      "n", serial, [&](const Message<Number>&) { ++got; }, policy(Overflow::block, 2));
  const Number number{1};
  const auto bytes = std::as_bytes(std::span(&number, 1));
  for (int round = 0; round < kRounds; ++round) {
    std::array<Peer, 4> peers;
    for (Peer& peer : peers) peer.left = 4;
    int left = 16;
    while (left > 0) {
      bool all_wait = true;
      const std::uint32_t calls = w.recorder->calls;
      for (Peer& peer : peers) {
        if (peer.left == 0 || (peer.waits && peer.since == w.recorder->calls)) continue;
        all_wait = false;
        peer.since = w.recorder->calls;
        Envelope e = w.envelope(type_support<Number>().id, Buffer::copy_of(bytes));
        peer.waits = !w.recorder->sink->deliver(e, nullptr);
        if (peer.waits) continue;
        --peer.left;
        --left;
      }
      if (!all_wait) continue;
      const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (w.recorder->calls == calls && std::chrono::steady_clock::now() < until) {
        std::this_thread::yield();
      }
      ASSERT_NE(w.recorder->calls, calls) << "round " << round << ": " << left << " left for ever";
    }
  }
  while (got < 16 * kRounds) std::this_thread::yield();
}

TEST(Remote, drops_of_the_transport_are_counted_at_both_endpoints) {
  WithRecorder w;
  auto sub = w.g.subscribe<Number>("n", inline_, [](const Message<Number>&) {});
  auto pub = w.g.publisher<Number>("n");
  w.recorder->sink->dropped("recorder", transport::Drop::gap, 4);
  EXPECT_EQ(counter(*sub, "drop.recorder.gap"), 4U);
}

TEST(Remote, local_scope_never_opens_a_port) {
  Arrivals got;
  WithRecorder w;
  auto pub = w.g.publisher<Number>("n", {}, Scope::local);
  w.g.subscribe<Number>("n", inline_, [&](const Message<Number>&) { got.add(); }, {}, Scope::local);
  pub.publish({1});
  EXPECT_EQ(got.count(), 1U);
  EXPECT_EQ(w.recorder->ports, 0U);
}

TEST(Remote, ports_are_closed_with_the_last_endpoint) {
  WithRecorder w;
  {
    auto pub = w.g.publisher<Number>("n");
    auto sub = w.g.subscribe<Number>("n", inline_, [](const Message<Number>&) {});
    EXPECT_EQ(w.recorder->ports, 2U);
    sub->close();
    EXPECT_EQ(w.recorder->closed, 1);
  }
  EXPECT_EQ(w.recorder->closed, 2);
}

TEST(Remote, an_error_of_the_transport_reaches_the_caller) {
  WithRecorder w;
  EXPECT_THROW(w.g.publisher<Number>("refused"), Exception);
}

TEST(Publisher, a_handle_may_outlive_its_graph) {
  Publisher<Number> pub;
  {
    OneGraph g;
    pub = g.publisher<Number>("n");
  }
  EXPECT_EQ(pub.publish({1}).accepted, 0U);
}

TEST(Timer, a_timer_fires_periodically_and_not_after_cancel) {
  Arrivals ticks;
  Arrivals later;
  OneGraph g;
  const auto id = g.graph.timers().every(1'000'000, [&] { ticks.add(); });
  ASSERT_TRUE(ticks.wait_for(5));
  g.graph.timers().cancel(id);
  const std::size_t seen = ticks.count();
  g.graph.timers().every(2'000'000, [&] { later.add(); });
  ASSERT_TRUE(later.wait_for(5));
  EXPECT_EQ(ticks.count(), seen);
}

TEST(Timer, overlapping_calls_are_skipped_and_counted) {
  Gate gate;
  OneGraph g;
  auto skipped = std::make_shared<std::atomic<std::uint64_t>>(0);
  g.graph.timers().every(1'000'000, [&] { gate.pass(); }, skipped);
  gate.wait_for_waiting(1);
  while (*skipped < 3) std::this_thread::yield();
  gate.open();
}

TEST(Timer, a_timer_may_cancel_itself) {
  Arrivals ticks;
  OneGraph g;
  std::atomic<graph::Timers::Id> id{0};
  id = g.graph.timers().every(1'000'000, [&] {
    while (id == 0) std::this_thread::yield();
    g.graph.timers().cancel(id);
    ticks.add();
  });
  ASSERT_TRUE(ticks.wait_for(1));
}

TEST(Timer, timers_may_be_added_and_canceled_while_all_stop) {
  constexpr std::int64_t kHourNs = 3'600'000'000'000;
  for (int round = 0; round < 10; ++round) {
    Executor executor(1);
    Timers timers(executor, std::make_shared<detail::ClockCore>(ClockMode::real));
    std::atomic<int> added{0};
    std::atomic<bool> over{false};
    std::thread user([&] {
      for (; !over; ++added) timers.cancel(timers.every(kHourNs, [] {}));
    });
    while (added < 2'000) std::this_thread::yield();  // so that the end takes a while
    timers.stop();
    over = true;
    user.join();
    EXPECT_GE(added, 2'000);
  }
}

TEST(Deadline, silence_is_counted_and_traffic_is_not) {
  OneGraph g;
  Policy p;
  p.deadline_ms = 1;
  auto sub = g.subscribe<Number>("n", inline_, [](const Message<Number>&) {}, p);
  auto pub = g.publisher<Number>("n", p);
  EXPECT_EQ(counter(*sub, "deadline_missed"), 0U);  // no deadline before the first message
  pub.publish({1});
  while (counter(*sub, "deadline_missed") < 3) std::this_thread::yield();
}

}  // namespace
}  // namespace hyphos::graph::test
