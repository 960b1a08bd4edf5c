// The connection of a publisher and a subscription in shared memory, step by step, and its end.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "shm/descriptor_ring.hpp"
#include "shm/tools.hpp"
#include "tests/shm/folder.hpp"
#include "tests/transport/harness.hpp"
#include "transport/shm/shm.hpp"
#include "wire/packet.hpp"

namespace hyphos::transport::testing {
namespace {

class ShmAttach : public ::testing::Test {
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

/// A process with publications whose threads do not run, so that it attaches no queue by itself.
class StalledPublisher {
 public:
  StalledPublisher(const shm::testing::Folder& folder, std::uint64_t subscriber,
                   const std::vector<std::string>& channels)
      : self_(folder.join().or_throw()), subscriber_(subscriber) {
    for (const std::string& channel : channels) {
      shm::EndpointRecord record{};
      record.serial = ++serial_;
      record.type_hash = test_type().hash;
      record.is_publisher = 1;
      record.channel_hash = wire::fnv1a(channel);
      shm::put_text(record.channel, channel);
      self_->control().set_endpoint(static_cast<std::uint32_t>(serial_) - 1, record).or_throw();
    }
    notify();
    theirs_ = shm::Control::open(self_->domain(), subscriber).or_throw();
  }
  /// The queues that the subscriber has created for it.
  [[nodiscard]] std::vector<shm::RingRecord> queues() {
    return theirs_.rings().value_or(std::vector<shm::RingRecord>{});
  }
  /// Attaches the queue from the publication with this number, from 1.
  void attach(std::uint64_t publication) {
    for (const shm::RingRecord& record : queues()) {
      if (record.publication != publication) continue;
      const auto queue =
          shm::DescriptorRing::open(self_->domain(), subscriber_, record.serial, self_->id())
              .or_throw();
      EXPECT_EQ(queue.header().refused.exchange(0), shm::kNoReply);
    }
    notify();
  }

 private:
  void notify() { self_->domain().notify(self_->socket(), subscriber_); }

  std::shared_ptr<shm::Participant> self_;
  std::uint64_t subscriber_;
  std::uint64_t serial_ = 0;
  shm::Control theirs_;
};

TEST_F(ShmAttach, a_publisher_is_reported_after_it_has_attached_its_queue) {
  TestSink waits(events_);
  TestSink attached(events_);
  auto subscriber = join("subscriber");
  (void)subscriber->open(spec("a"), &waits, nullptr).or_throw();
  (void)subscriber->open(spec("b"), &attached, nullptr).or_throw();
  {
    StalledPublisher publisher(folder_, subscriber->participant_id(), {"a", "b"});
    ASSERT_TRUE(eventually([&] { return publisher.queues().size() == 2; }));
    publisher.attach(2);
    ASSERT_TRUE(events_.wait([&] { return attached.publishers == 1; }));
    // The reports come in the order of the publications, so an early one of "a" would be here.
    EXPECT_EQ(events_.read([&] { return waits.publishers; }), 0);
    publisher.attach(1);
    ASSERT_TRUE(events_.wait([&] { return waits.publishers == 1; }));
  }
  ASSERT_TRUE(events_.wait([&] { return waits.publishers == 0 && attached.publishers == 0; }));
}

TEST_F(ShmAttach, a_publisher_that_leaves_before_it_attaches_is_never_reported) {
  TestSink sink(events_);
  auto subscriber = join("subscriber");
  (void)subscriber->open(spec("a"), &sink, nullptr).or_throw();
  {
    StalledPublisher publisher(folder_, subscriber->participant_id(), {"a"});
    ASSERT_TRUE(eventually([&] { return publisher.queues().size() == 1; }));
  }
  EXPECT_TRUE(eventually([&] { return shm::list("0", folder_.path()).or_throw().rings.empty(); }));
  subscriber->stop(0);
  EXPECT_EQ(sink.last_peer_id, 0U);
}

/// A subscription whose process stalls when it gets the report of a publisher.
class StalledSink final : public ReceiveSink {
 public:
  explicit StalledSink(Events& events) : events_(events) {}

  bool deliver(Envelope& message, ReadyList*) override {
    const std::lock_guard lock(events_.mutex);
    got.push_back(message.meta.sequence);
    events_.changed.notify_all();
    return true;
  }
  void dropped(std::string_view, Drop, std::uint64_t count) override {
    const std::lock_guard lock(events_.mutex);
    lost += count;
    events_.changed.notify_all();
  }
  void peer(std::string_view, std::string_view, std::uint64_t, bool) override {
    std::unique_lock lock(events_.mutex);
    stalled = true;
    events_.changed.notify_all();
    events_.changed.wait(lock, [this] { return goes_on; });
  }
  void refused(std::string_view, const Error&) override {}

  // All under events.mutex.
  std::vector<std::uint64_t> got;
  std::uint64_t lost = 0;
  bool stalled = false;
  bool goes_on = false;

 private:
  Events& events_;
};

TEST_F(ShmAttach, messages_outlive_their_process_after_its_publisher_was_closed) {
  TestSendEvents send_events(events_);
  StalledSink sink(events_);
  auto publisher = join("publisher");
  auto subscriber = join("subscriber");
  const PortId out = publisher->open(spec("scan"), nullptr, &send_events).or_throw();
  (void)subscriber->open(spec("scan"), &sink, nullptr).or_throw();
  ASSERT_TRUE(events_.wait([&] { return send_events.receivers == 1 && sink.stalled; }));
  for (std::uint64_t number = 1; number <= 3; ++number) publisher->send(out, sample(number));
  publisher->close(out);
  publisher.reset();
  {
    const std::lock_guard lock(events_.mutex);
    sink.goes_on = true;
    events_.changed.notify_all();
  }
  ASSERT_TRUE(events_.wait([&] { return sink.got.size() + sink.lost == 3; }));
  EXPECT_EQ(sink.got, (std::vector<std::uint64_t>{1, 2, 3}));
  // The subscriber removes the files.
  EXPECT_TRUE(eventually(
      [&] { return shm::list("0", folder_.path()).or_throw().participants.size() == 1; }));
}

}  // namespace
}  // namespace hyphos::transport::testing
